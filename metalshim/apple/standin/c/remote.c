// struct backend for a program: the device stands beside it, in a process that
// this library starts. Memory of buffers is shared; commands are written down here
// and go over at their commit; nothing waits for the other side but compilers and
// those who wait for a command buffer.

enum kind { A_LIBRARY, A_PIPELINE, A_BUFFER, A_QUEUE, A_FENCE, SOME_COMMANDS };

struct remote {
	enum kind kind;
	u32 generation; // of the process that made it
	u64 number;
	struct remote *next; // of memory in place, or of command buffers in flight
	// a buffer's:
	void *memory;
	u64 bytes;
	u8 mapped;   // the memory is ours alone
	u8 replaced; // the memory is the program's, put in place of what it had mapped
	int file;    // of what is replaced
	u32 flying; // of a queue: command buffers that are committed and have not run
	// a command buffer's:
	struct remote *queue; // which lives as long
	u8 *list;
	u64 used, room;
	id object;
	u32 status, finished;
	double times[4];
	char *why;
	char domain[64];
	i64 code;
};

// An encoder's handle is its command buffer's, marked.
static struct remote *of_handle(u64 handle) {
	struct remote *r = (struct remote *)(handle & ~1ul);
	if (r && r->generation != wire.generation)
		die("this process was forked from one that uses Metal, and uses objects it has inherited: a child makes a device of its own");
	return r;
}

static u64 named(u64 handle) { return handle ? of_handle(handle)->number : 0; }

static struct remote *new_remote(enum kind kind) {
	struct remote *r = calloc(1, sizeof *r);
	r->kind = kind;
	r->generation = wire.generation;
	r->number = next_number();
	return r;
}

static u64 handle_of(struct remote *r) { return (u64)r; }

#define PART(v) ((struct part){&(v), sizeof(v)})
static struct part text_part(struct text t) { return (struct part){(void *)t.p, t.n}; }

// ---- compilers

static _Thread_local u64 last_evidence;

// answer_of takes what compilers answer: whether it went well, what the cache said,
// a failure's code and domain, and text.
static u64 answer_of(struct content *c) {
	u64 good = take_word(c);
	last_evidence = take_word(c);
	i64 code = (i64)take_word(c);
	struct text domain = take_text(c), t = take_text(c);
	standin_reply(t.p, t.n, domain.p, domain.n, code);
	return good;
}

static void reply_lost(const char *domain, i64 code) { standin_reply(gone, sizeof gone - 1, domain, strlen(domain), code); }

static u64 remote_library(const struct source *s) {
	struct remote *r = new_remote(A_LIBRARY);
	u64 head[5] = {(u64)s->math, (u64)s->functions, s->version, s->macro_count, s->text.n}, room = 0, at = 0;
	for (u64 i = 0; i < 2 * s->macro_count; i++) room += 8 + s->macros[i].n;
	u8 *macros = malloc(room + 1);
	for (u64 i = 0; i < 2 * s->macro_count; i++) {
		memcpy(macros + at, &s->macros[i].n, 8);
		if (s->macros[i].n) memcpy(macros + at + 8, s->macros[i].p, s->macros[i].n);
		at += 8 + s->macros[i].n;
	}
	struct awaited w;
	int there = ask(&w, TO_COMPILE, r->number, (struct part[]){PART(head), text_part(s->text), {macros, room}}, 3);
	free(macros);
	if (!there) reply_lost("MTLLibraryErrorDomain", 3);
	struct content c = {w.bytes, w.count};
	if (there && answer_of(&c)) {
		free(w.bytes);
		return handle_of(r);
	}
	free(w.bytes);
	free(r);
	return 0;
}

// The answer to remote_library has left the names.
static u64 remote_names(u64 library) {
	(void)library;
	return last_evidence;
}

static u64 remote_pipeline(u64 library, const struct text *name, const struct constant *constants, u64 count, struct pipeline_facts *told) {
	struct remote *r = new_remote(A_PIPELINE);
	u64 head[3] = {named(library), count, name->n};
	struct awaited w;
	int there = ask(&w, TO_PIPELINE, r->number,
	                (struct part[]){PART(head), {(void *)constants, count * sizeof *constants}, text_part(*name)}, 3);
	if (!there) reply_lost("MTLPipelineErrorDomain", 1);
	struct content c = {w.bytes, w.count};
	u64 good = there && answer_of(&c);
	if (good) {
		told->max_threads = take_word(&c);
		told->width = take_word(&c);
		told->memory = take_word(&c);
		told->evidence = last_evidence;
	} else {
		free(r);
	}
	free(w.bytes);
	return good ? handle_of(r) : 0;
}

// ---- memory

// Private and shared: how the other side maps a file.
enum { MAP_AS_SHARED, MAP_AS_PRIVATE };

static u64 whole_pages(u64 n) {
	u64 page = (u64)getpagesize();
	return (n + page - 1) / page * page;
}

// Memory of the program that is a buffer's now, as it is.
static struct remote *in_place;
static u32 in_place_mutex;

// file_behind opens the file that the program has mapped at address, where one
// mapping has all of it and its pages are the file's own: what is written to memory
// that is private does not reach the file. It returns -1 where there is none.
static int file_behind(u64 address, u64 length, u64 *offset) {
	int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC), file = -1;
	if (maps < 0) return -1;
	u64 room = 1 << 16, used = 0;
	char *text = malloc(room);
	for (i64 n; (n = read(maps, text + used, room - used - 1)) > 0;)
		if ((used += (u64)n) == room - 1) text = realloc(text, room *= 2);
	close(maps);
	text[used] = 0;
	for (char *line = text, *end; *line; line = end) {
		for (end = line; *end && *end != '\n'; end++) {}
		if (*end) *end++ = 0;
		unsigned long from, to, at, inode;
		char mode[5];
		int path = 0;
		if (sscanf(line, "%lx-%lx %4s %lx %*s %lu %n", &from, &to, mode, &at, &inode, &path) != 5 || !path) continue;
		if (from > address || to < address + length) continue;
		if (inode && line[path] == '/' && (mode[3] == 's' || mode[1] == '-')) file = open(line + path, (mode[1] == 'w' ? O_RDWR : O_RDONLY) | O_CLOEXEC);
		*offset = at + (address - from);
		break;
	}
	free(text);
	return file;
}

static int new_file(u64 length) {
	int file = (int)syscall(SYS_memfd_create, "introgen-metal", 1 /* MFD_CLOEXEC */);
	if (file >= 0 && ftruncate(file, (i64)length)) {
		close(file);
		return -1;
	}
	return file;
}

static int send_buffer(struct remote *r, u64 mode, u64 as, int file, u64 offset) {
	u64 head[4] = {r->bytes, mode, as, offset};
	return post(TO_BUFFER, r->number, (struct part[]){PART(head)}, 1, file);
}

// take_in_place makes the program's own pages the buffer: the file that is mapped
// there, or a new file with their content, put in their place.
static int take_in_place(struct remote *r, void *address) {
	u64 offset = 0;
	int sent = 0, file = file_behind((u64)address, r->bytes, &offset);
	r->memory = address;
	if (file >= 0) {
		int writes = fcntl(file, 3 /* F_GETFL */) & O_RDWR;
		sent = send_buffer(r, 0, writes ? MAP_AS_SHARED : MAP_AS_PRIVATE, file, offset);
		close(file);
		return sent;
	}
	take(&in_place_mutex);
	for (struct remote *o = in_place; o && !sent; o = o->next)
		if (o->memory <= address && (u64)address + r->bytes <= (u64)o->memory + o->bytes) {
			sent = send_buffer(r, 0, MAP_AS_SHARED, o->file, (u64)address - (u64)o->memory);
			give(&in_place_mutex);
			return sent;
		}
	file = new_file(r->bytes);
	for (u64 at = 0; file >= 0 && at < r->bytes;) {
		i64 n = pwrite(file, (char *)address + at, r->bytes - at, (i64)at);
		if (n <= 0) {
			close(file);
			file = -1;
		} else {
			at += (u64)n;
		}
	}
	if (file >= 0 && mmap(address, r->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) == address) {
		sent = send_buffer(r, 0, MAP_AS_SHARED, file, 0);
		r->file = file;
		r->replaced = 1;
		r->next = in_place;
		in_place = r;
	}
	give(&in_place_mutex);
	return sent;
}

// give_back leaves the program its pages with what they hold, as memory of its own.
static void give_back(struct remote *r) {
	take(&in_place_mutex);
	for (struct remote **p = &in_place; *p; p = &(*p)->next)
		if (*p == r) {
			*p = r->next;
			break;
		}
	give(&in_place_mutex);
	mmap(r->memory, r->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, r->file, 0);
	close(r->file);
}

static u64 remote_buffer(u64 length, u64 mode, const void *from, u64 as_it_is, void **contents) {
	if (length > facts.allocated_limit || __atomic_load_n(&allocated, __ATOMIC_RELAXED) > facts.allocated_limit - length) return 0;
	struct remote *r = new_remote(A_BUFFER);
	r->bytes = whole_pages(length);
	int sent = 0;
	if (as_it_is) {
		sent = take_in_place(r, (void *)from);
	} else {
		int file = new_file(r->bytes);
		void *p = file < 0 ? (void *)-1 : mmap(NULL, r->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
		if (p != (void *)-1) {
			r->memory = p;
			r->mapped = 1;
			if (r->bytes >= 4 << 20) madvise(p, r->bytes, MADV_HUGEPAGE);
			if (from) memcpy(p, from, length);
			sent = send_buffer(r, mode == 2 ? 2 : 0, MAP_AS_SHARED, file, 0);
		}
		if (file >= 0) close(file);
	}
	*contents = r->memory;
	if (r->memory && (sent || is_lost())) return handle_of(r); // without a device a buffer is still memory
	if (r->mapped) munmap(r->memory, r->bytes);
	free(r);
	return 0;
}

static u64 simple(enum kind kind, u64 message) {
	struct remote *r = new_remote(kind);
	post(message, r->number, NULL, 0, -1);
	return handle_of(r);
}

static u64 remote_queue(void) { return simple(A_QUEUE, TO_QUEUE); }
static u64 remote_fence(void) { return simple(A_FENCE, TO_FENCE); }

static u64 remote_release(u64 handle) {
	if (handle & 1) return 0; // an encoder
	struct remote *r = (struct remote *)handle;
	int ours = r->generation == wire.generation;
	if (r->replaced) give_back(r);
	if (r->mapped) munmap(r->memory, r->bytes);
	free(r->list);
	free(r->why);
	if (ours && r->kind != SOME_COMMANDS) ended(r->number, r->kind == A_BUFFER && r->bytes >= 1 << 20);
	free(r);
	return 0;
}

// ---- files, which both sides could read

static u64 remote_read(const struct text *path) {
	int file = open(path->p, O_RDONLY | O_CLOEXEC);
	u64 used = 0, room = 1 << 16;
	char *bytes = malloc(room);
	i64 n = -1;
	while (file >= 0 && (n = read(file, bytes + used, room - used)) > 0)
		if ((used += (u64)n) == room) bytes = realloc(bytes, room *= 2);
	const char *why = n < 0 ? strerror(*__errno_location()) : "";
	if (n < 0) standin_reply(why, strlen(why), "", 0, 0);
	else standin_reply(bytes, used, "", 0, 0);
	if (file >= 0) close(file);
	free(bytes);
	return n >= 0;
}

static u64 remote_store(const struct text *path, const struct text *content) {
	int file = open(path->p, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	u64 at = 0;
	i64 n = file < 0 ? -1 : 0;
	while (n >= 0 && at < content->n) {
		n = write(file, content->p + at, content->n - at);
		at += n > 0 ? (u64)n : 0;
	}
	const char *why = n < 0 ? strerror(*__errno_location()) : "";
	standin_reply(why, strlen(why), "", 0, 0);
	if (file >= 0) close(file);
	return n >= 0;
}

static u64 remote_planted(u64 at, const struct text *name) {
	(void)at, (void)name;
	return 0;
}

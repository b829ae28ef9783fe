// The socket to the process that stands for the GPU: messages of 24 bytes and what
// follows them. Most need no answer, since the program's side chooses the numbers
// by which both sides know objects.

// Kinds of messages, as package beside has them.
enum {
	TO_COMPILE = 1, TO_PIPELINE, TO_BUFFER, TO_QUEUE, TO_FENCE, TO_COMMIT, TO_RELEASE, TO_STATUS,
	FROM_HELLO = 101, FROM_ANSWER, FROM_COMPLETED
};

// The version of what both sides send. It stands first in the hello: the library and
// the introgen beside it may come from different days.
enum { WIRE_VERSION = 1 };

struct message { u64 kind, number, bytes; };

// An answer that a thread waits for.
struct awaited {
	struct awaited *next;
	u64 number;
	u8 *bytes;
	u64 count;
	u32 over, lost;
};

static struct {
	u32 starting, sending, waiting, ending; // mutexes
	int socket;                     // meaningful where begun is set
	u64 file[2];                    // what the socket is
	u8 begun;
	u32 lost;                       // the device is gone
	u32 generation;                 // counts forks
	u64 last;                       // number that was given
	struct awaited *list;
	u64 *ended;                     // numbers to be released with the next message
	u64 ended_count, ended_room;
} wire;

// The thread that reads sends nothing: the other side may wait until it has read.
static _Thread_local int reads;

static u64 next_number(void) { return __atomic_add_fetch(&wire.last, 1, __ATOMIC_RELAXED); }

static void complete_all(const char *why); // remote.c
static void complete(u64 number, const u8 *bytes, u64 count);
static void have_ended_told(void);

// say writes one line to stderr.
static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *format, ...) {
	char line[1024];
	int n = snprintf(line, sizeof line, "introgen-metal: ");
	__builtin_va_list args;
	__builtin_va_start(args, format);
	n += vsnprintf(line + n, sizeof line - 1 - (usize)n, format, args);
	__builtin_va_end(args);
	if (n > (int)sizeof line - 2) n = sizeof line - 2;
	for (int i = 0; i < n; i++)
		if ((u8)line[i] < ' ') line[i] = ' ';
	line[n++] = '\n';
	if (write(2, line, (usize)n) < 0) return; // nobody reads it
}

static const char gone[] = "the device is gone: the process that stood for the GPU has ended, or the program has closed its socket";

// lose ends everything that waits for the device. Any thread may find it gone.
static void lose(const char *why) {
	if (__atomic_exchange_n(&wire.lost, 1, __ATOMIC_SEQ_CST)) return;
	say("%s", why);
	take(&wire.waiting);
	for (struct awaited *w = wire.list; w;) {
		struct awaited *next = w->next; // w ends with its wait
		w->lost = 1;
		done(&w->over);
		w = next;
	}
	wire.list = NULL;
	give(&wire.waiting);
	complete_all(why);
}

static int is_lost(void) { return (int)__atomic_load_n(&wire.lost, __ATOMIC_SEQ_CST); }

// write_all sends parts, with a descriptor beside the first byte where file is not
// negative. It is called with wire.sending held.
static int write_all(struct part *parts, usize count, int file) {
	u64 now[2];
	// A program that closes every descriptor closes this one too, and the number may
	// already be a file of its own.
	if (!file_of(wire.socket, now) || now[0] != wire.file[0] || now[1] != wire.file[1]) return 0;
	struct passed_file passed = {20, SOL_SOCKET, SCM_RIGHTS, file, 0};
	struct letter letter = {.parts = parts, .count = count};
	if (file >= 0) {
		letter.control = &passed;
		letter.control_bytes = sizeof passed;
	}
	while (letter.count) {
		i64 n = sendmsg(wire.socket, &letter, MSG_NOSIGNAL);
		if (n < 0 && *__errno_location() == EINTR) continue;
		if (n < 0) return 0;
		letter.control = NULL;
		letter.control_bytes = 0;
		for (; letter.count && (usize)n >= letter.parts->bytes; letter.parts++, letter.count--) n -= (i64)letter.parts->bytes;
		if (letter.count) {
			letter.parts->at = (char *)letter.parts->at + n;
			letter.parts->bytes -= (usize)n;
		}
	}
	return 1;
}

enum { MOST_PARTS = 8 };

// post sends a message whose content is parts, after what has ended. It returns 0
// where the device is gone.
static int post(u64 kind, u64 number, const struct part *parts, usize count, int file) {
	if (!wire.begun) die("this process was forked from one that uses Metal, and uses objects it has inherited: a child makes a device of its own");
	if (is_lost()) return 0;
	struct message ended = {TO_RELEASE, 0, 0}, message = {kind, number, 0};
	struct part all[MOST_PARTS + 3];
	usize n = 0;
	take(&wire.sending);
	take(&wire.ending);
	u64 *numbers = wire.ended;
	if (wire.ended_count) {
		ended.bytes = wire.ended_count * sizeof *numbers;
		all[n++] = (struct part){&ended, sizeof ended};
		all[n++] = (struct part){numbers, ended.bytes};
	}
	wire.ended = NULL;
	wire.ended_count = wire.ended_room = 0;
	give(&wire.ending);
	if (kind) all[n++] = (struct part){&message, sizeof message};
	for (usize i = 0; i < count; i++) {
		message.bytes += parts[i].bytes;
		if (parts[i].bytes) all[n++] = parts[i];
	}
	// A descriptor goes with a message of its own, so that the order of both is one.
	int sent = 1;
	if (file >= 0 && all[0].at == &ended) {
		sent = write_all(all, 2, -1);
		if (sent) sent = write_all(all + 2, n - 2, file);
	} else if (n) {
		sent = write_all(all, n, file);
	}
	give(&wire.sending);
	free(numbers);
	if (!sent) lose(gone);
	return sent;
}

enum { MANY_ENDED = 64 };

// ended notes that an object is not needed any more; large says that it should be
// known at once.
static void ended(u64 number, int large) {
	if (is_lost()) return;
	take(&wire.ending);
	if (wire.ended_count == wire.ended_room) {
		wire.ended_room = wire.ended_room ? 2 * wire.ended_room : MANY_ENDED;
		wire.ended = realloc(wire.ended, wire.ended_room * sizeof *wire.ended);
	}
	wire.ended[wire.ended_count++] = number;
	int now = large || wire.ended_count >= MANY_ENDED;
	give(&wire.ending);
	if (now && reads) have_ended_told();
	else if (now) post(0, 0, NULL, 0, -1);
}

static void expect(struct awaited *w, u64 number) {
	*w = (struct awaited){.number = number};
	take(&wire.waiting);
	w->next = wire.list;
	wire.list = w;
	give(&wire.waiting);
}

// ask sends a message and waits for its answer, which is the caller's to free. It
// returns 0 where the device is gone.
static int ask(struct awaited *w, u64 kind, u64 number, const struct part *parts, usize count) {
	expect(w, number);
	if (!post(kind, number, parts, count, -1)) {
		take(&wire.waiting);
		for (struct awaited **p = &wire.list; *p; p = &(*p)->next)
			if (*p == w) {
				*p = w->next;
				break;
			}
		give(&wire.waiting);
		return 0;
	}
	until_done(&w->over);
	return !w->lost;
}

static void answered(u64 number, u8 *bytes, u64 count) {
	take(&wire.waiting);
	for (struct awaited **p = &wire.list; *p; p = &(*p)->next)
		if ((*p)->number == number) {
			struct awaited *w = *p;
			*p = w->next;
			w->bytes = bytes;
			w->count = count;
			bytes = NULL;
			done(&w->over);
			break;
		}
	give(&wire.waiting);
	free(bytes);
}

// ---- the thread that reads

static struct { u8 bytes[64 << 10]; usize from, to; } inbox;

static int read_all(int socket, void *to, usize count) {
	for (u8 *at = to; count;) {
		if (inbox.from == inbox.to) {
			i64 n = recv(socket, inbox.bytes, sizeof inbox.bytes, 0);
			if (n < 0 && *__errno_location() == EINTR) continue;
			if (n <= 0) return 0;
			inbox.from = 0;
			inbox.to = (usize)n;
		}
		usize n = inbox.to - inbox.from < count ? inbox.to - inbox.from : count;
		memcpy(at, inbox.bytes + inbox.from, n);
		inbox.from += n;
		at += n;
		count -= n;
	}
	return 1;
}

static void *read_messages(void *unused) {
	(void)unused;
	reads = 1;
	int socket = wire.socket;
	struct message m;
	while (!is_lost() && read_all(socket, &m, sizeof m)) {
		u8 *bytes = malloc(m.bytes + 1);
		if (!bytes || !read_all(socket, bytes, m.bytes)) break;
		if (m.kind == FROM_COMPLETED) {
			complete(m.number, bytes, m.bytes);
			free(bytes);
		} else {
			answered(m.number, bytes, m.bytes);
		}
	}
	lose(gone);
	return NULL;
}

// thread starts one of the library's own threads, which gets none of the program's
// signals.
static void thread(void *(*run)(void *)) {
	signals all, before;
	memset(&all, 0xff, sizeof all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	usize t;
	if (pthread_create(&t, NULL, run, NULL)) die("no thread for the device");
	pthread_detach(t);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

// ---- what messages hold

// A reader of a message's content: 0 and empty text past its end.
struct content { const u8 *at; u64 left; };

static u64 take_word(struct content *c) {
	u64 v = 0;
	if (c->left < sizeof v) {
		c->left = 0;
		return 0;
	}
	memcpy(&v, c->at, sizeof v);
	c->at += sizeof v;
	c->left -= sizeof v;
	return v;
}

static struct text take_text(struct content *c) {
	u64 n = take_word(c);
	if (n > c->left) n = c->left;
	struct text t = {(const char *)c->at, n};
	c->at += n;
	c->left -= n;
	return t;
}

// The writer of the ring.

enum { CHUNK = 1 << 14, MOST_TEXT = 65535, SLOT_TEXT = 56, TRIES = 1000 };

// TEXT_SLOT marks the number of a slot that continues an event: after a crash
// its event's own slot may be missing.
#define TEXT_SLOT (1ull << 63)

#define REFUSED ((struct ring *)1)

static struct ring *the_ring; // null until the first event, REFUSED where there can be none
static u64 ring_room;         // slots since the beginning whose place in the file is there
static u8 ring_lock, making_lock;
static char ring_path[4200];
static const char *ring_folder; // null: this process is not recorded
static u8 forked;
static u32 threads;
static _Thread_local u32 thread_number; // from 1; 0: it has none yet

static void lock(u8 *word) {
	while (__atomic_test_and_set(word, __ATOMIC_ACQUIRE)) sched_yield();
}
static void unlock(u8 *word) { __atomic_clear(word, __ATOMIC_RELEASE); }

// grow has the file system give the ring more room. It says whether there is
// room for slots up to end.
static int grow(struct ring *r, u64 end) {
	lock(&ring_lock);
	u64 room = __atomic_load_n(&ring_room, __ATOMIC_RELAXED);
	if (end > room) {
		u64 slots = (end - room + CHUNK - 1) / CHUNK * CHUNK;
		if (slots > r->capacity - room) slots = r->capacity - room;
		// By its path: a program may close all files that it does not know.
		int fd = open(ring_path, O_RDWR | O_CLOEXEC);
		if (fd >= 0 && reserve_file(fd, sizeof *r + room * sizeof(struct slot), slots * sizeof(struct slot))) {
			room += slots;
			// A ring that is there as a whole is used again and again.
			__atomic_store_n(&ring_room, room == r->capacity ? ~0ull : room, __ATOMIC_RELEASE);
		}
		if (fd >= 0) close(fd);
	}
	unlock(&ring_lock);
	return end <= room || room == r->capacity;
}

// put writes an event to a ring.
static void put(struct ring *r, const u64 *room, u32 thread, u16 kind, u64 time, u64 object, u64 a, u64 b, u64 c, u64 d, struct text t) {
	u64 length = t.n < MOST_TEXT ? t.n : MOST_TEXT;
	u64 count = 1 + (length + SLOT_TEXT - 1) / SLOT_TEXT;
	u64 at = __atomic_load_n(&r->head, __ATOMIC_RELAXED);
	do {
		if (at + count > __atomic_load_n(&r->tail, __ATOMIC_ACQUIRE) + r->capacity ||
		    (at + count > __atomic_load_n(room, __ATOMIC_ACQUIRE) && !grow(r, at + count))) {
			__atomic_add_fetch(&r->lost, 1, __ATOMIC_RELAXED);
			return;
		}
	} while (!__atomic_compare_exchange_n(&r->head, &at, at + count, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	for (u64 i = 1; i < count; i++) {
		u64 from = (i - 1) * SLOT_TEXT, n = length - from < SLOT_TEXT ? length - from : SLOT_TEXT;
		struct slot *s = &r->slots[(at + i) & (r->capacity - 1)];
		memcpy(&s->words[1], t.p + from, n);
		__atomic_store_n(&s->words[0], (at + i + 1) | TEXT_SLOT, __ATOMIC_RELEASE);
	}
	// The event's own slot comes last: whoever sees it sees its text.
	struct event *e = (struct event *)&r->slots[at & (r->capacity - 1)];
	e->time = time;
	e->thread = thread;
	e->kind = kind;
	e->length = (u16)length;
	e->object = object;
	e->a = a;
	e->b = b;
	e->c = c;
	e->d = d;
	__atomic_store_n(&e->number, at + 1, __ATOMIC_RELEASE);
}

// cost measures what an event costs here, in picoseconds, on a ring of its own.
static u64 cost(void) {
	enum { SLOTS = 64, ROUNDS = 1024 };
	static _Alignas(struct ring) u8 scratch[sizeof(struct ring) + SLOTS * sizeof(struct slot)];
	static const u64 room = ~0ull;
	struct ring *r = (struct ring *)scratch;
	r->capacity = SLOTS;
	r->head = 0;
	r->tail = ~0ull / 2;
	u64 began = now();
	for (u32 i = 0; i < ROUNDS; i++) put(r, &room, 0, DISPATCH, now(), 1, 2, 3, 4, 5, (struct text){NULL, 0});
	return (now() - began) * 1000 / ROUNDS;
}

// create makes the file, whole, before it gets the name that readers look for.
static struct ring *create(void) {
	u64 capacity = fitting(ring_folder, sizeof(struct slot));
	if (!capacity) return REFUSED;
	int pid = getpid();
	char unfinished[sizeof ring_path];
	snprintf(unfinished, sizeof unfinished, "%s/%d.new", ring_folder, pid);
	unlink(unfinished);
	int fd = open(unfinished, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0) return REFUSED;
	u64 bytes = sizeof(struct ring) + capacity * sizeof(struct slot);
	struct ring *r = REFUSED;
#if defined(__APPLE__)
	u64 first = bytes;
	while (!reserve_file(fd, 0, first) && capacity >= FEWEST_SLOTS) {
		capacity /= 2;
		first = bytes = sizeof(struct ring) + capacity * sizeof(struct slot);
	}
	ring_room = ~0ull;
	if (capacity >= FEWEST_SLOTS && ftruncate(fd, (i64)bytes) == 0)
#else
	ring_room = 0;
	if (ftruncate(fd, (i64)bytes) == 0 && reserve_file(fd, 0, sizeof(struct ring)))
#endif
		r = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (r == (void *)-1) r = REFUSED;
	if (r != REFUSED) {
		*r = (struct ring){.version = RECORDER_VERSION, .capacity = capacity, .pid = (u64)pid, .parent = (u64)getppid(), .cost = cost()};
		r->began = now();
		r->monotonic = clock_ns(CLOCK_MONOTONIC);
#if !defined(__APPLE__)
		r->monotonic = r->began; // one clock
#endif
		__atomic_store_n(&r->magic, RING_MAGIC, __ATOMIC_RELEASE);
		int made = -1;
		for (u32 i = 1; made && i < TRIES; i++) {
			snprintf(ring_path, sizeof ring_path, i == 1 ? "%s/%d.ring" : "%s/%d-%u.ring", ring_folder, pid, i);
			made = link(unfinished, ring_path);
		}
		if (made) {
			munmap(r, bytes);
			r = REFUSED;
		}
	}
	unlink(unfinished);
	return r;
}

// first_ring makes the ring, with the event that tells of the process.
static struct ring *first_ring(u64 time) {
	lock(&making_lock);
	struct ring *r = __atomic_load_n(&the_ring, __ATOMIC_ACQUIRE);
	if (!r) {
		r = ring_folder ? create() : REFUSED;
		if (r != REFUSED) {
			static char path[4096];
			u64 n = program_path(path, sizeof path);
			thread_number = __atomic_add_fetch(&threads, 1, __ATOMIC_RELAXED);
			put(r, &ring_room, thread_number - 1, PROCESS, time, 0, r->parent, forked, 0, 0, (struct text){path, n});
		}
		__atomic_store_n(&the_ring, r, __ATOMIC_RELEASE);
	}
	unlock(&making_lock);
	return r;
}

// record_at writes an event with its time. It needs no memory, and waits for
// nobody but at the ring's very beginning.
static void record_at(u64 time, enum kind kind, u64 object, u64 a, u64 b, u64 c, u64 d, struct text t) {
	struct ring *r = __atomic_load_n(&the_ring, __ATOMIC_ACQUIRE);
	if (!r) r = first_ring(time);
	if (r == REFUSED) return;
	if (!thread_number) thread_number = __atomic_add_fetch(&threads, 1, __ATOMIC_RELAXED);
	put(r, &ring_room, thread_number - 1, (u16)kind, time, object, a, b, c, d, t);
}

static void record_text(enum kind kind, u64 object, u64 a, u64 b, u64 c, u64 d, struct text t) {
	record_at(now(), kind, object, a, b, c, d, t);
}

static void record(enum kind kind, u64 object, u64 a, u64 b, u64 c, u64 d) {
	record_at(now(), kind, object, a, b, c, d, (struct text){NULL, 0});
}

// leave_ring gives up the parent's ring, in a child.
static void leave_ring(void) {
	struct ring *r = the_ring;
	if (r && r != REFUSED) munmap(r, sizeof *r + r->capacity * sizeof(struct slot));
	the_ring = NULL;
	ring_lock = making_lock = 0;
	threads = thread_number = 0;
	forked = 1;
}

// open_ring takes the folder from the environment: "VERSION:FOLDER". It says
// whether this process is recorded, by a recorder of this version.
static int open_ring(void) {
	const char *word = getenv("INTROGEN_RECORD");
	char version[24];
	u64 n = (u64)snprintf(version, sizeof version, "%d:", RECORDER_VERSION);
	if (!word || strncmp(word, version, n) || strlen(word + n) > sizeof ring_path - 100 || word[n] != '/') return 0;
	static char folder[sizeof ring_path]; // the program may change its environment
	memcpy(folder, word + n, strlen(word + n) + 1);
	ring_folder = folder;
	return 1;
}

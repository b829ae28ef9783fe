// What macOS and Linux do each in their own way.

// A text is bytes with their number; they need not end in a zero.
struct text {
	const char *p;
	u64 n;
};

static inline struct text text(const char *s) { return (struct text){s, s ? strlen(s) : 0}; }

static u64 clock_ns(int clock) {
	struct timespec t = {0};
	clock_gettime(clock, &t);
	return (u64)t.sec * 1000000000 + (u64)t.nsec;
}

// now is the clock of the events: the one in which Metal gives a GPU's times.
static u64 now(void) {
#if defined(__APPLE__)
	return clock_ns(CLOCK_UPTIME_RAW);
#else
	return clock_ns(CLOCK_MONOTONIC);
#endif
}

// seconds is a time that Metal gives, in ns.
static u64 seconds(double s) { return s > 0 && s < 1e10 ? (u64)(s * 1e9) : 0; }

// program_path writes the path of the running program; its length, 0 where it
// is not known.
static u64 program_path(char *path, u64 room) {
#if defined(__APPLE__)
	u32 size = (u32)room;
	return _NSGetExecutablePath(path, &size) ? 0 : strlen(path);
#else
	i64 n = readlink("/proc/self/exe", path, room);
	return n > 0 ? (u64)n : 0;
#endif
}

// when_forked has the function called in every child of a fork.
static void when_forked(void (*in_child)(void)) {
#if defined(__APPLE__)
	pthread_atfork(NULL, NULL, in_child);
#else
	if (__register_atfork)
		__register_atfork(NULL, NULL, in_child, NULL);
	else if (pthread_atfork)
		pthread_atfork(NULL, NULL, in_child);
#endif
}

// fitting is the number of slots that the folder has room for, at most all of
// them: half of what is free, and no more than the process may write to a file.
// A page of a full disk that is written to would end the program, and so would a
// file that is too large.
static u64 fitting(const char *folder, u64 slot) {
	u64 slots = RING_SLOTS;
	struct rlimit limit = {0, 0};
	if (getrlimit(RLIMIT_FSIZE, &limit)) return 0;
	while (slots && sizeof(struct ring) + slots * slot > limit.now) slots /= 2;
#if !defined(__APPLE__)
	struct statfs s = {0};
	if (statfs(folder, &s)) return 0;
	while (slots && slots * slot > s.available * (u64)s.block / 2) slots /= 2;
#else
	(void)folder, (void)slot;
#endif
	return slots >= FEWEST_SLOTS ? slots : 0;
}

// reserve_file has the file system promise the bytes of a file from offset on.
// It says whether it did.
static int reserve_file(int fd, u64 offset, u64 bytes) {
#if defined(__APPLE__)
	struct { u32 flags; i32 mode; i64 offset, length, given; } store = {4, 3, 0, (i64)bytes, 0}; // F_ALLOCATEALL, F_PEOFPOSMODE
	(void)offset;
	return fcntl(fd, 42, &store) != -1; // F_PREALLOCATE
#else
	return posix_fallocate(fd, (i64)offset, (i64)bytes) == 0;
#endif
}

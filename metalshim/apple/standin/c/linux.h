// What the way to a device beside the program needs of Linux, declared here like
// the rest of the C library. System calls that older C libraries have no function
// for are made by number.
typedef struct { u64 words[16]; } signals; // sigset_t

struct part { // struct iovec
	void *at;
	usize bytes;
};

struct letter { // struct msghdr
	void *name;
	u32 name_bytes;
	struct part *parts;
	usize count;
	void *control;
	usize control_bytes;
	i32 flags;
};

struct passed_file { // a struct cmsghdr with one descriptor
	usize bytes;
	i32 level, type, file, pad;
};

struct symbol_info { // Dl_info
	const char *file;
	void *base;
	const char *name;
	void *address;
};

i64 syscall(i64, ...);
int socketpair(int, int, int, int *);
__INT64_TYPE__ sendmsg(int, const struct letter *, int);
__INT64_TYPE__ recv(int, void *, usize, int);
__INT64_TYPE__ read(int, void *, usize);
__INT64_TYPE__ pwrite(int, const void *, usize, i64);
int open(const char *, int, ...);
int close(int);
int shutdown(int, int);
int fcntl(int, int, ...);
int dup2(int, int);
int ftruncate(int, i64);
int munmap(void *, usize);
int madvise(void *, usize, int);
int clone(int (*)(void *), void *, int, void *, ...);
int execve(const char *, char *const *, char *const *);
i32 waitpid(i32, int *, int);
i32 setsid(void);
_Noreturn void _exit(int);
int pthread_sigmask(int, const signals *, signals *);
int *__errno_location(void);
char *strerror(int);
char *strstr(const char *, const char *);
char *getenv(const char *);
char *realpath(const char *, char *);
int sscanf(const char *, const char *, ...);
int dladdr(const void *, struct symbol_info *);
int __register_atfork(void (*)(void), void (*)(void), void (*)(void), void *) __attribute__((weak));
int pthread_atfork(void (*)(void), void (*)(void), void (*)(void)) __attribute__((weak));
extern char **environ;

// The same numbers on Linux for amd64 and arm64.
enum {
	AF_UNIX = 1, SOCK_STREAM = 1, SOCK_CLOEXEC = 02000000, SOL_SOCKET = 1, SCM_RIGHTS = 1, MSG_NOSIGNAL = 0x4000,
	O_RDONLY = 0, O_WRONLY = 1, O_RDWR = 2, O_CREAT = 0100, O_TRUNC = 01000, O_CLOEXEC = 02000000,
	F_GETFD = 1, F_SETFD = 2, F_DUPFD_CLOEXEC = 1030,
	MAP_SHARED = 1, MAP_FIXED = 0x10, MADV_HUGEPAGE = 14,
	CLONE_VM = 0x100, CLONE_VFORK = 0x4000, SIGCHLD = 17, WALL = 0x40000000,
	SIG_BLOCK = 0, SIG_SETMASK = 2, EINTR = 4, SC_PHYSICAL_PAGES = 85, SC_PAGE = 30,
};

#if defined(__x86_64__)
enum { SYS_fstat = 5, SYS_futex = 202, SYS_memfd_create = 319, SYS_close_range = 436 };
#else
enum { SYS_fstat = 80, SYS_futex = 98, SYS_memfd_create = 279, SYS_close_range = 436 };
#endif

// ---- locks and waits, on a word

static void sleep_while(u32 *word, u32 value) { syscall(SYS_futex, word, 128 /* FUTEX_WAIT_PRIVATE */, value, NULL, NULL, 0); }
static void wake_all(u32 *word) { syscall(SYS_futex, word, 129 /* FUTEX_WAKE_PRIVATE */, 0x7fffffff, NULL, NULL, 0); }

// A mutex is 0 where it is free, 1 where it is held, 2 where somebody may wait.
static void take(u32 *mutex) {
	u32 was = 0;
	if (__atomic_compare_exchange_n(mutex, &was, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) return;
	while (__atomic_exchange_n(mutex, 2, __ATOMIC_ACQUIRE)) sleep_while(mutex, 2);
}

static void give(u32 *mutex) {
	if (__atomic_exchange_n(mutex, 0, __ATOMIC_RELEASE) == 2) syscall(SYS_futex, mutex, 129, 1, NULL, NULL, 0);
}

// done marks a word as 1, for those who wait until it is.
static void done(u32 *word) {
	__atomic_store_n(word, 1, __ATOMIC_RELEASE);
	wake_all(word);
}

static void until_done(u32 *word) {
	while (!__atomic_load_n(word, __ATOMIC_ACQUIRE)) sleep_while(word, 0);
}

// file_of tells files apart: equal numbers, equal files. It returns 0 where the
// descriptor is not open.
static int file_of(int descriptor, u64 device_inode[2]) {
	u64 facts[32];
	if (syscall(SYS_fstat, descriptor, facts)) return 0;
	device_inode[0] = facts[0];
	device_inode[1] = facts[1];
	return 1;
}

// What the recorder needs of the C library, declared here so that it can be
// compiled for any target without that target's headers. The symbols are found
// in the process that loads it.
typedef __UINT8_TYPE__ u8;
typedef __UINT16_TYPE__ u16;
typedef __INT32_TYPE__ i32;
typedef __UINT32_TYPE__ u32;
typedef __INT64_TYPE__ i64;
typedef __UINT64_TYPE__ u64;
typedef __SIZE_TYPE__ usize;
#define NULL ((void *)0)
#define EXPORT __attribute__((visibility("default")))

void *malloc(usize);
void free(void *);
void *memcpy(void *, const void *, usize);
void *memset(void *, int, usize);
int strcmp(const char *, const char *);
int strncmp(const char *, const char *, usize);
usize strlen(const char *);
char *getenv(const char *);
int snprintf(char *, usize, const char *, ...) __attribute__((format(printf, 3, 4)));
int open(const char *, int, ...);
int close(int);
int ftruncate(int, i64);
int unlink(const char *);
int link(const char *, const char *);
int getpid(void);
int getppid(void);
int sched_yield(void);
void *mmap(void *, usize, int, int, int, i64);
int munmap(void *, usize);
void *dlsym(void *, const char *);

struct rlimit { u64 now, most; };
int getrlimit(int, struct rlimit *);

struct timespec { i64 sec, nsec; };
int clock_gettime(int, struct timespec *);

enum { PROT_READ = 1, PROT_WRITE = 2, MAP_SHARED = 1, O_RDWR = 2, RLIMIT_FSIZE = 1 };

#if defined(__APPLE__)
enum { O_CREAT = 0x200, O_EXCL = 0x800, O_CLOEXEC = 0x1000000, CLOCK_MONOTONIC = 6, CLOCK_UPTIME_RAW = 8 };
#define RTLD_DEFAULT ((void *)-2)
#define RTLD_NEXT ((void *)-1)
int pthread_atfork(void (*)(void), void (*)(void), void (*)(void));
int fcntl(int, int, ...);
int _NSGetExecutablePath(char *, u32 *);
#else
enum { O_CREAT = 0x40, O_EXCL = 0x80, O_CLOEXEC = 0x80000, CLOCK_MONOTONIC = 1 };
#define RTLD_DEFAULT ((void *)0)
#define RTLD_NEXT ((void *)-1)
// glibc keeps pthread_atfork in the static part of its library; musl has it.
__attribute__((weak)) int __register_atfork(void (*)(void), void (*)(void), void (*)(void), void *);
__attribute__((weak)) int pthread_atfork(void (*)(void), void (*)(void), void (*)(void));
int posix_fallocate(int, i64, i64);
i64 readlink(const char *, char *, usize);
struct statfs { i64 type, block; u64 blocks, free, available, rest[20]; };
int statfs(const char *, struct statfs *);
#endif

// What the stand-in needs of the C library, declared here so that it can be
// compiled for any target without that target's headers. The symbols are
// found in the process that loads it.
typedef __UINT8_TYPE__ u8;
typedef __INT32_TYPE__ i32;
typedef __UINT32_TYPE__ u32;
typedef __INT64_TYPE__ i64;
typedef __UINT64_TYPE__ u64;
typedef __SIZE_TYPE__ usize;
#define NULL ((void *)0)

// The stand-in is built in two ways from the same sources. That of the tests is
// strict: what Apple's libraries bear or find late ends the process. That of
// programs, which sdk writes, bears what Apple's bear.
#ifdef INTROGEN_SDK
enum { STRICT = 0 };
#else
enum { STRICT = 1 };
#endif

void *malloc(usize);
void *calloc(usize, usize);
void *realloc(void *, usize);
void free(void *);
void *memcpy(void *, const void *, usize);
void *memset(void *, int, usize);
int memcmp(const void *, const void *, usize);
int strcmp(const char *, const char *);
int strncmp(const char *, const char *, usize);
usize strlen(const char *);
char *strdup(const char *);
int snprintf(char *, usize, const char *, ...);
int vsnprintf(char *, usize, const char *, __builtin_va_list);
__INT64_TYPE__ write(int, const void *, usize);
_Noreturn void abort(void);
int sched_yield(void);
int usleep(unsigned);
int getpagesize(void);
i64 sysconf(int);
void *mmap(void *, usize, int, int, int, i64);
int pthread_create(usize *, const void *, void *(*)(void *), void *);
int pthread_join(usize, void **);
int pthread_detach(usize);
int pthread_key_create(u32 *, void (*)(void *));
int pthread_setspecific(u32, const void *);

// The same numbers on Linux for amd64 and arm64.
enum { PROT_READ = 1, PROT_WRITE = 2, MAP_PRIVATE = 2, MAP_ANONYMOUS = 0x20, MAP_NORESERVE = 0x4000 };

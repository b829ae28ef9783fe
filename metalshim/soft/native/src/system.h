// What the runtime needs of the C library and of the processor.
typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long u64;
typedef long i64;

struct timespec { i64 sec, nsec; };
struct sigset { u64 bits[16]; };
struct siginfo { int signo, error, code, pad; void* addr; };
constexpr int kSentToThread = -6; // SI_TKILL
struct sigaction_ { void (*handler)(int, siginfo*, void*); sigset mask; int flags; void (*restorer)(); };
struct stack_ { void* sp; int flags; u64 size; };
struct jump { u64 words[64]; };
union attr { char bytes[64]; u64 align; };
extern "C" {
long syscall(long, ...);
int clock_gettime(int, timespec*);
void* mmap(void*, u64, int, int, int, i64);
int munmap(void*, u64);
int usleep(u32);
int mprotect(void*, u64, int);
void* memcpy(void*, const void*, u64);
void* memset(void*, int, u64);
int pthread_create(u64*, const attr*, void* (*)(void*), void*);
int pthread_join(u64, void**);
int pthread_kill(u64, int);
int pthread_attr_init(attr*);
int pthread_attr_destroy(attr*);
int pthread_attr_setstacksize(attr*, u64);
int pthread_sigmask(int, const sigset*, sigset*);
int sigaction(int, const sigaction_*, sigaction_*) __asm__("sigaction");
int sigaltstack(const stack_*, stack_*);
int __sigsetjmp(jump*, int) __attribute__((returns_twice));
void siglongjmp(jump*, int) __attribute__((noreturn));
}

namespace {
constexpr int kMaxWorkers = 256, kMaxHelpers = 128, kStack = 2 << 20, kAltStack = 128 << 10;
constexpr int kSigill = 4, kSigtrap = 5, kSigbus = 7, kSigfpe = 8, kSigsegv = 11;
constexpr int kFaults[] = {kSigill, kSigtrap, kSigbus, kSigfpe, kSigsegv};
constexpr u64 kThreadgroupBlock = 128 << 10, kPage = 64 << 10, kMaxFrames = 1ul << 30;
constexpr i64 kLook = 3000000; // nanoseconds between two looks at simdgroups that may wait for others
constexpr u32 kDone = 65535, kStopped = 65534;
#if defined(__x86_64__)
constexpr long kFutex = 202, kGettid = 186;
inline void pause() { __builtin_ia32_pause(); }
// Denormals are flushed and read as zero, as Metal's float does.
inline void flush_denormals() { __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040); }
#elif defined(__aarch64__)
constexpr long kFutex = 98, kGettid = 178;
inline void pause() { __asm__ volatile("yield"); }
inline void flush_denormals() {
  u64 v;
  __asm__ volatile("mrs %0, fpcr" : "=r"(v));
  v |= 1ul << 24;
  __asm__ volatile("msr fpcr, %0" : : "r"(v));
}
#else
#error "the soft Metal driver runs on amd64 and arm64"
#endif

i64 now() {
  timespec t;
  clock_gettime(1, &t);
  return t.sec * 1000000000 + t.nsec;
}
template <class T> T load(const T* p) { return __atomic_load_n(p, __ATOMIC_SEQ_CST); }
template <class T> void store(T* p, T v) { __atomic_store_n(p, v, __ATOMIC_SEQ_CST); }
// futex_wait waits for nanoseconds at most, of which 0 is no limit.
void futex_wait(u32* p, u32 v, i64 nanoseconds = 0) {
  timespec t = {nanoseconds / 1000000000, nanoseconds % 1000000000};
  syscall(kFutex, p, 128, v, nanoseconds ? &t : (timespec*)0);
}
void futex_wake(u32* p) { syscall(kFutex, p, 129, 0x7fffffff); }
} // namespace

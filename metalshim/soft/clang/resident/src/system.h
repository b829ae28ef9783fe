// What the preload needs of the C library, on 64-bit Linux: compilers are found
// without the C library's headers.
typedef unsigned int u32;
typedef unsigned long u64;

struct span { void *base; u64 size; };
struct message { void *name; u64 name_size; struct span *spans; u64 span_count; void *control; u64 control_size; u64 flags; };
struct control { u64 size; int level, type; };
struct polled { int fd; short events, revents; };
struct sigset { u64 bits[16]; };
struct action { void (*handler)(int); struct sigset mask; int flags; void (*restorer)(void); };
struct limit { u64 soft, hard; };
struct timespec { long sec, nsec; };

enum {
	kRunEnded = 17, kKill = 9,                     // SIGCHLD, SIGKILL
	kBlock = 0, kSetMask = 2,                      // SIG_BLOCK, SIG_SETMASK
	kNoHang = 1,                                   // WNOHANG
	kDeathSignal = 1,                              // PR_SET_PDEATHSIG
	kFileSize = 1,                                 // RLIMIT_FSIZE
	kDuplicate = 1030,                             // F_DUPFD_CLOEXEC
	kSocket = 1, kRights = 1,                      // SOL_SOCKET, SCM_RIGHTS
	kNoSignal = 0x4000, kCloseOnExec = 0x40000000, // MSG_NOSIGNAL, MSG_CMSG_CLOEXEC
	kCutShort = 0x20 | 0x8,                        // MSG_TRUNC, MSG_CTRUNC
	kReadable = 1,                                 // POLLIN
#ifdef __x86_64__
	kSysRead = 0,
#else
	kSysRead = 63,
#endif
};

extern char **environ;
long syscall(long, ...);
char *getenv(const char *);
int unsetenv(const char *);
void *malloc(u64);
void *memcpy(void *, const void *, u64);
int fork(void);
int getppid(void);
int getpid(void);
int setpgid(int, int);
int kill(int, int);
int waitpid(int, int *, int);
int prctl(int, ...);
int setrlimit(int, const struct limit *);
int getrlimit(int, struct limit *);
int close(int);
int dup2(int, int);
int fcntl(int, int, ...);
int ppoll(struct polled *, u64, const struct timespec *, const struct sigset *);
long recvmsg(int, struct message *, int);
long send(int, const void *, u64, int);
int sigemptyset(struct sigset *);
int sigaddset(struct sigset *, int);
int sigdelset(struct sigset *, int);
int sigprocmask(int, const struct sigset *, struct sigset *);
int sigaction(int, const struct action *, struct action *) __asm__("sigaction");
void *dlsym(void *, const char *);
void _exit(int) __attribute__((noreturn));

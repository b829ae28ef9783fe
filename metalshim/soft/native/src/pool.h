// What the threads of a pool share, and what becomes of faults.

enum { kKernel = 0, kCopy = 1, kFill = 2 };
struct Command { // as in native.go
  u32 kind, value;  // value: what to fill with; of a kernel: whether its simdgroups may wait for each other
  kernel_fn fn;     // kernel
  u64 frame, tgs;   // bytes of a simdgroup's frame, of static threadgroup memory
  void* buf[31];    // arguments; copy: destination, source; fill: destination
  u64 bytes;        // copy and fill
  u32 tgm[31];      // bytes of [[threadgroup(n)]]
  u32 groups[3], per[3], threads[3];
};
enum { kOk = 0, kTimeout = 1, kFault = 2, kArithmetic = 3, kIllegal = 4, kMemory = 5 };
struct Result { // as in native.go
  u32 status, command;
  i64 entered, started, ended; // one clock, nanoseconds
  u64 address;                 // of a fault
};

namespace {
struct Pool;
struct alignas(128) Worker {
  Pool* pool;
  u32 index, tid;
  u64 thread;
  u64 progress; // threadgroups run
  u32 guarded;  // a kernel runs: a fault jumps to back
  jump back;
  int signal;
  u64 address;
  u8* frames;
  u64 frames_size;
  u8* block; // threadgroup memory
  // The shape whose positions stand in the frames' heads.
  u32 shape[3];
  u64 shape_stride;
  void* alt;
  Turns turns;
  u32 looked; // what left and ended of turns were at the last look
  Worker* of; // of a helper: whose turns it takes
  u32 calls;  // of a helper: changes when there is something to do
};
struct Pool {
  u32 workers, quit;
  u32 stop;           // told to kernels
  u32 status;         // of the command buffer that runs
  u64 address;
  alignas(128) u32 job;  // counts command buffers given
  alignas(128) u32 done; // counts command buffers run
  const Command* commands;
  u64 count;
  i64* times;
  Result* result;
  u64 at;    // the command that runs
  i64 since; // when it began
  alignas(128) u32 phase;  // odd while a dispatch is open to all workers
  u32 sleepers;
  alignas(128) u32 active; // workers inside of the open dispatch
  const Command* open;
  alignas(128) u64 next;   // threadgroup to be taken next
  u64 total, chunk;
  Worker worker[kMaxWorkers];
  u32 helpers;
  Worker helper[kMaxHelpers];
};

Pool* g_pools[64]; // all pools, for the signal handler
sigaction_ g_before[32];
u32 g_installed;

void on_fault(int signo, siginfo* info, void* context) {
  u32 tid = (u32)syscall(kGettid);
  for (Pool*& slot : g_pools) {
    Pool* p = load(&slot);
    if (!p) continue;
    u32 helpers = load(&p->helpers), all = p->workers + helpers;
    for (u32 i = 0; i < all; i++) {
      Worker& w = i < helpers ? p->helper[i] : p->worker[i - helpers];
      if (w.tid != tid) continue;
      // sm_stop's signal, come after the kernel's end, perhaps within the next.
      if (info->code == kSentToThread && (!w.guarded || !load(&p->stop))) return;
      if (!w.guarded) continue;
      w.guarded = 0;
      w.signal = signo;
      w.address = (u64)info->addr;
      siglongjmp(&w.back, 1);
    }
  }
  const sigaction_& b = g_before[signo];
  if (b.flags & 4 /* SA_SIGINFO */ || (u64)b.handler > 1) {
    b.handler(signo, info, context);
    return;
  }
  // Nobody was there before: the default action, at the next fault.
  sigaction_ standard;
  memset(&standard, 0, sizeof standard);
  sigaction(signo, &standard, 0);
}

void install() {
  if (__atomic_exchange_n(&g_installed, 1u, __ATOMIC_SEQ_CST)) return;
  for (int s : kFaults) {
    sigaction_ a;
    memset(&a, 0, sizeof a);
    memset(&a.mask, 0xff, sizeof a.mask);
    a.handler = on_fault;
    a.flags = 4 | 0x08000000; // SA_SIGINFO, SA_ONSTACK
    sigaction(s, &a, &g_before[s]);
  }
}

// block_signals leaves only the faults to this thread.
void block_signals() {
  sigset s;
  memset(&s, 0xff, sizeof s);
  for (int f : kFaults) s.bits[0] &= ~(1ul << (f - 1));
  pthread_sigmask(2 /* SIG_SETMASK */, &s, 0);
}

// guarded_map maps size bytes, a multiple of kPage, between two pages that
// cannot be accessed.
u8* guarded_map(u64 size) {
  u8* p = (u8*)mmap(0, size + 2 * kPage, 0, 0x22, -1, 0);
  if (p == (u8*)-1) return 0;
  if (mprotect(p + kPage, size, 3)) {
    munmap(p, size + 2 * kPage);
    return 0;
  }
  return p + kPage;
}
void guarded_unmap(u8* p, u64 size) {
  if (p) munmap(p - kPage, size + 2 * kPage);
}

void fail(Pool* p, u32 status, u64 address) {
  u32 ok = kOk;
  if (__atomic_compare_exchange_n(&p->status, &ok, status, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) p->address = address;
}

// failed says why a thread's kernel was left.
void failed(Worker& w) {
  u32 why = load(&w.pool->stop)   ? kTimeout
            : w.signal == kSigfpe ? kArithmetic
            : w.signal == kSigsegv || w.signal == kSigbus ? kFault
                                                          : kIllegal;
  fail(w.pool, why, w.address);
}

// end_helpers makes those leave their kernel that help worker of.
void end_helpers(Worker* of) {
  Pool* p = of->pool;
  for (u32 i = 0; i < load(&p->helpers); i++)
    if (Worker& h = p->helper[i]; h.of == of && load(&h.guarded)) pthread_kill(h.thread, kSigsegv);
}
} // namespace

// How several threads run one threadgroup. A worker runs the simdgroups of a
// threadgroup one after another, each to its next barrier. One that waits for
// another, by an atomic, would then wait for ever: other threads take the
// simdgroups behind it, and the system shares out the processors among them. Only
// kernels that may wait so are run like this.

// msl_tg is as in the standard library's kernel.h.
struct msl_tg {
  void* tgs;
  const volatile u32* stop;
  void* buf[31];
  void* tgm[31];
  u32 tgp[3], tgd[3], dtgd[3], ntg[3], grid[3];
  u32 nsg, dnsg;
};
typedef u32 (*kernel_fn)(const msl_tg*, u32 sg, u32 lanes, void* frame, u32 pc);

namespace {
struct Turns {
  u32 left;  // simdgroups that nobody has taken yet; the first of all is taken first
  u32 ended; // those that have come to their barrier or their end
  u32 count, threads;
  u32 stopped;
  u32 pc[32];
  u8* frames;
  u64 stride;
  kernel_fn fn;
  msl_tg g;
};

// take runs one simdgroup to its next barrier; false where none is left.
bool take(Turns& q) {
  u32 left = load(&q.left);
  do {
    if (!left) return false;
  } while (!__atomic_compare_exchange_n(&q.left, &left, left - 1, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
  u32 s = q.count - left, lanes = q.threads - s * 32;
  if (q.pc[s] != kDone) {
    q.pc[s] = q.fn(&q.g, s, lanes < 32 ? lanes : 32, q.frames + s * q.stride, q.pc[s]);
    if (q.pc[s] == kStopped) store(&q.stopped, 1u);
  }
  __atomic_fetch_add(&q.ended, 1u, __ATOMIC_SEQ_CST);
  return true;
}

// run_turns runs a threadgroup; false if the command buffer is to be given up.
bool run_turns(Turns& q) {
  q.stopped = 0;
  for (u32 s = 0; s < q.count; s++) q.pc[s] = 0;
  for (;;) {
    store(&q.ended, 0u);
    store(&q.left, q.count);
    while (take(q)) {}
    while (load(&q.ended) < q.count) pause();
    if (load(&q.stopped) || *q.g.stop) return false;
    u32 live = 0;
    for (u32 s = 0; s < q.count; s++) live += q.pc[s] != kDone;
    if (!live) return true;
  }
}

// abandon gives up a threadgroup of which one simdgroup has faulted. kill is
// called now and then until the threads that run others of it have left.
template <class F> void abandon(Turns& q, F kill) {
  u32 untaken = __atomic_exchange_n(&q.left, 0u, __ATOMIC_SEQ_CST);
  __atomic_fetch_add(&q.ended, untaken + 1, __ATOMIC_SEQ_CST);
  for (u32 i = 1; load(&q.ended) < q.count; i++) {
    usleep(1000);
    if (i % 128 == 0) kill();
  }
  q.count = 0;
}
} // namespace

// The threads that take simdgroups which would otherwise wait for ever for their turn.

namespace {
// assist is a helper: it takes simdgroups of the worker that it is given, and sleeps
// again when there have been none for a while.
void* assist(void* arg) {
  Worker& h = *(Worker*)arg;
  Pool* p = h.pool;
  block_signals();
  stack_ alt = {h.alt, 0, kAltStack};
  sigaltstack(&alt, 0);
  flush_denormals();
  store(&h.tid, (u32)syscall(kGettid));
  for (u32 seen = 0;;) {
    while (load(&h.calls) == seen) futex_wait(&h.calls, seen);
    seen = load(&h.calls);
    if (load(&p->quit)) return 0;
    Turns& q = h.of->turns;
    if (__sigsetjmp(&h.back, 0)) {
      block_signals(); // the handler's mask is still in force
      flush_denormals();
      failed(h);
      store(&p->stop, 1u); // others may wait for what this one would have done
      __atomic_fetch_add(&q.ended, 1u, __ATOMIC_SEQ_CST);
    }
    for (u32 idle = 0; idle < 100 && !load(&p->quit);) {
      __atomic_store_n(&h.guarded, 1u, __ATOMIC_SEQ_CST);
      bool took = take(q);
      __atomic_store_n(&h.guarded, 0u, __ATOMIC_SEQ_CST);
      if (took) idle = 0;
      else usleep(200), idle++;
    }
    store(&h.of, (Worker*)0);
  }
}

// call gives a worker one more helper; false where there is none.
bool call(Pool* p, Worker& w) {
  for (u32 i = 0; i < kMaxHelpers; i++) {
    Worker& h = p->helper[i];
    if (i < p->helpers) {
      if (load(&h.of)) continue;
    } else {
      h.pool = p, h.index = i;
      h.alt = mmap(0, kAltStack, 3, 0x22, -1, 0);
      attr a;
      pthread_attr_init(&a);
      pthread_attr_setstacksize(&a, kStack);
      bool ok = h.alt != (void*)-1 && pthread_create(&h.thread, &a, assist, &h) == 0;
      pthread_attr_destroy(&a);
      if (!ok) return false;
      store(&p->helpers, i + 1);
    }
    store(&h.of, &w);
    store(&h.calls, h.calls + 1);
    futex_wake(&h.calls);
    return true;
  }
  return false;
}

// look finds workers of which a simdgroup runs for long while others of its
// threadgroup have not begun, and gives each of those a thread.
void look(Pool* p) {
  for (u32 i = 0; i < p->workers; i++) {
    Worker& w = p->worker[i];
    u32 left = load(&w.turns.left), now = left << 16 | load(&w.turns.ended);
    if (left && now == w.looked)
      for (u32 k = 0; k < left && call(p, w); k++) {}
    w.looked = now;
  }
}
} // namespace

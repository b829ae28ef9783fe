// The runtime of the soft Metal driver: a pool of threads that runs the
// commands of a command buffer one after the other, the threadgroups of a
// dispatch in parallel. It is compiled on the user's machine by the same clang
// as the kernels, against no header: what it needs of the C library (glibc on
// Linux, amd64 or arm64) is declared in system.h, which stands before it.
//
// A kernel that touches memory outside of its buffers raises a signal on a
// thread of this pool. The handler jumps back into the pool, and the command
// buffer fails; signals on other threads go on to the handler that was there
// before, which is Go's.

namespace {
// positions writes the head of every frame: where the lanes stand. Lanes that
// do not exist stand where the last one does.
void positions(Worker& w, const u32* d, u32 nsg, u64 stride) {
  if (w.shape_stride == stride && w.shape[0] == d[0] && w.shape[1] == d[1] && w.shape[2] == d[2]) return;
  u32 n = d[0] * d[1] * d[2], x = 0, y = 0, z = 0;
  for (u32 s = 0; s < nsg; s++) {
    u32* f = (u32*)(w.frames + s * stride);
    u32 row = 1;
    for (u32 l = 0; l < 32; l++) {
      f[l] = x, f[32 + l] = y, f[64 + l] = z;
      row &= x == f[0] + l && y == f[32] && z == f[64];
      if (s * 32 + l + 1 < n && ++x == d[0]) {
        x = 0;
        if (++y == d[1]) y = 0, z++;
      }
    }
    f[96] = row;
  }
  w.shape[0] = d[0], w.shape[1] = d[1], w.shape[2] = d[2];
  w.shape_stride = stride;
}

// group runs one threadgroup; false if the command buffer is to be given up.
bool group(Worker& w, const Command& c, msl_tg& g, u64 t) {
  g.tgp[0] = (u32)(t % c.groups[0]);
  g.tgp[1] = (u32)(t / c.groups[0] % c.groups[1]);
  g.tgp[2] = (u32)(t / c.groups[0] / c.groups[1]);
  for (int i = 0; i < 3; i++) {
    u32 rest = c.threads[i] - g.tgp[i] * c.per[i];
    g.tgd[i] = rest < c.per[i] ? rest : c.per[i];
  }
  u32 n = g.tgd[0] * g.tgd[1] * g.tgd[2], nsg = (n + 31) / 32, live = 0, pc[32];
  g.nsg = nsg;
  positions(w, g.tgd, nsg, c.frame);
  if (c.value && nsg > 1) {
    Turns& q = w.turns;
    q.count = nsg, q.threads = n, q.frames = w.frames, q.stride = c.frame, q.fn = c.fn, q.g = g;
    return run_turns(q);
  }
  for (u32 s = 0; s < nsg; s++) {
    u32 lanes = n - s * 32;
    pc[s] = c.fn(&g, s, lanes < 32 ? lanes : 32, w.frames + s * c.frame, 0);
    if (pc[s] == kStopped) return false;
    live += pc[s] != kDone;
  }
  while (live) {
    live = 0;
    if (load(&w.pool->stop)) return false;
    for (u32 s = 0; s < nsg; s++) {
      if (pc[s] == kDone) continue;
      u32 lanes = n - s * 32;
      pc[s] = c.fn(&g, s, lanes < 32 ? lanes : 32, w.frames + s * c.frame, pc[s]);
      if (pc[s] == kStopped) return false;
      live += pc[s] != kDone;
    }
  }
  return true;
}

// share runs threadgroups of c until none is left.
void share(Worker& w, const Command& c) {
  Pool* p = w.pool;
  u32 most = (c.per[0] * c.per[1] * c.per[2] + 31) / 32;
  u64 need = (c.frame * most + kPage - 1) / kPage * kPage;
  if (need > w.frames_size) {
    guarded_unmap(w.frames, w.frames_size);
    w.frames = need > kMaxFrames ? 0 : guarded_map(need);
    w.frames_size = w.frames ? need : 0;
    w.shape_stride = 0;
    if (!w.frames) return fail(p, kMemory, 0);
  }
  msl_tg g;
  g.tgs = w.block;
  g.stop = &p->stop;
  u64 at = (c.tgs + 63) & ~63ul;
  for (int i = 0; i < 31; i++) {
    g.buf[i] = c.buf[i];
    g.tgm[i] = w.block + at;
    at += (c.tgm[i] + 63) & ~63u;
  }
  if (at > kThreadgroupBlock) return fail(p, kMemory, 0);
  for (int i = 0; i < 3; i++) g.dtgd[i] = c.per[i], g.ntg[i] = c.groups[i], g.grid[i] = c.threads[i];
  g.dnsg = most;
  if (__sigsetjmp(&w.back, 0)) {
    block_signals(); // the handler's mask is still in force
    flush_denormals();
    w.shape_stride = 0; // the kernel may have written anywhere in the frames
    failed(w);
    if (!w.turns.count) return;
    store(&w.pool->stop, 1u);
    return abandon(w.turns, [&] { end_helpers(&w); });
  }
  __atomic_store_n(&w.guarded, 1u, __ATOMIC_RELEASE);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  for (bool on = true; on;) {
    u64 t = __atomic_fetch_add(&p->next, p->chunk, __ATOMIC_RELAXED), end = t + p->chunk < p->total ? t + p->chunk : p->total;
    if (t >= p->total) break;
    for (; t < end && on; t++) {
      if (load(&p->status) || load(&p->stop)) {
        on = false;
        break;
      }
      if (!group(w, c, g, t)) on = false;
      __atomic_store_n(&w.progress, w.progress + 1, __ATOMIC_RELAXED);
    }
  }
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  __atomic_store_n(&w.guarded, 0u, __ATOMIC_RELEASE);
  w.turns.count = 0;
  if (load(&p->stop)) fail(p, kTimeout, 0);
}

void dispatch(Worker& leader, const Command& c) {
  Pool* p = leader.pool;
  p->total = (u64)c.groups[0] * c.groups[1] * c.groups[2];
  u64 chunk = p->total / (p->workers * 8);
  p->chunk = chunk < 1 ? 1 : chunk > 64 ? 64 : chunk;
  store(&p->next, 0ul);
  if (p->workers == 1 || p->total == 1) return share(leader, c);
  p->open = &c;
  store(&p->phase, p->phase + 1);
  if (load(&p->sleepers)) futex_wake(&p->phase);
  share(leader, c);
  store(&p->phase, p->phase + 1);
  // Nobody enters any more; those inside finish what they have taken.
  while (load(&p->active)) pause();
}

// transfer copies or fills. The memory may be of a mapped file that has shrunk.
void transfer(Worker& w, const Command& c) {
  Pool* p = w.pool;
  if (__sigsetjmp(&w.back, 0)) {
    block_signals(); // the handler's mask is still in force
    flush_denormals();
    return fail(p, load(&p->stop) ? kTimeout : kFault, w.address);
  }
  __atomic_store_n(&w.guarded, 1u, __ATOMIC_RELEASE);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  if (c.kind == kCopy) memcpy(c.buf[0], c.buf[1], c.bytes);
  else memset(c.buf[0], (int)c.value, c.bytes);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  __atomic_store_n(&w.guarded, 0u, __ATOMIC_RELEASE);
}

void run(Worker& leader) {
  Pool* p = leader.pool;
  Result& r = *p->result;
  r.started = now();
  i64 before = r.started;
  for (u64 i = 0; i < p->count; i++) {
    const Command& c = p->commands[i];
    r.command = (u32)i;
    if (load(&p->stop)) {
      fail(p, kTimeout, 0);
      break;
    }
    __atomic_store_n(&p->at, i, __ATOMIC_RELAXED);
    __atomic_store_n(&p->since, before, __ATOMIC_RELAXED);
    if (c.kind == kKernel) dispatch(leader, c);
    else transfer(leader, c);
    __atomic_store_n(&leader.progress, leader.progress + 1, __ATOMIC_RELAXED);
    i64 after = now();
    if (p->times) p->times[i] = after - before;
    before = after;
    if (load(&p->status)) break;
  }
  r.ended = before;
  r.status = load(&p->status);
  r.address = p->address;
}

// await returns when *word is no longer v: it looks for spin nanoseconds, then
// sleeps. sleepers, if given, counts those who may have to be woken.
void await(u32* word, u32 v, i64 spin, u32* sleepers) {
  i64 until = 0;
  for (u32 i = 0; load(word) == v; i++) {
    pause();
    if (i % 64) continue;
    i64 t = now();
    if (!until) until = t + spin;
    if (t < until) continue;
    if (sleepers) __atomic_fetch_add(sleepers, 1u, __ATOMIC_SEQ_CST);
    while (load(word) == v) futex_wait(word, v);
    if (sleepers) __atomic_fetch_sub(sleepers, 1u, __ATOMIC_SEQ_CST);
    return;
  }
}

void* work(void* arg) {
  Worker& w = *(Worker*)arg;
  Pool* p = w.pool;
  block_signals();
  stack_ alt = {w.alt, 0, kAltStack};
  sigaltstack(&alt, 0);
  flush_denormals();
  store(&w.tid, (u32)syscall(kGettid));
  if (w.index == 0) {
    for (u32 seen = 0;;) {
      await(&p->job, seen, 100000, 0);
      if (load(&p->quit)) return 0;
      seen = load(&p->job);
      run(w);
      store(&p->done, seen);
      futex_wake(&p->done);
    }
  }
  for (u32 seen = 0;;) {
    await(&p->phase, seen, 300000, &p->sleepers);
    if (load(&p->quit)) return 0;
    seen = load(&p->phase);
    if (!(seen & 1)) continue;
    __atomic_fetch_add(&p->active, 1u, __ATOMIC_SEQ_CST);
    if (load(&p->phase) == seen) share(w, *p->open);
    __atomic_fetch_sub(&p->active, 1u, __ATOMIC_SEQ_CST);
  }
}
} // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT void sm_destroy(Pool* p) {
  store(&p->quit, 1u);
  store(&p->job, p->job + 1);
  futex_wake(&p->job);
  store(&p->phase, p->phase + 2);
  futex_wake(&p->phase);
  for (u32 i = 0; i < p->workers; i++) pthread_join(p->worker[i].thread, 0);
  for (u32 i = 0; i < p->helpers; i++) {
    Worker& h = p->helper[i];
    store(&h.calls, h.calls + 1);
    futex_wake(&h.calls);
    pthread_join(h.thread, 0);
    munmap(h.alt, kAltStack);
  }
  for (Pool*& slot : g_pools)
    if (load(&slot) == p) store(&slot, (Pool*)0);
  for (u32 i = 0; i < p->workers; i++) {
    Worker& w = p->worker[i];
    guarded_unmap(w.frames, w.frames_size);
    guarded_unmap(w.block, kThreadgroupBlock);
    munmap(w.alt, kAltStack);
  }
  munmap(p, sizeof(Pool));
}

// sm_create starts the pool's threads; null if that fails.
EXPORT Pool* sm_create(u64 workers) {
  if (workers < 1 || workers > kMaxWorkers) return 0;
  Pool* p = (Pool*)mmap(0, sizeof(Pool), 3, 0x22, -1, 0);
  if (p == (Pool*)-1) return 0;
  bool placed = false;
  for (Pool*& slot : g_pools) {
    Pool* none = 0;
    if (__atomic_compare_exchange_n(&slot, &none, p, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
      placed = true;
      break;
    }
  }
  if (!placed) {
    munmap(p, sizeof(Pool));
    return 0;
  }
  install();
  attr a;
  pthread_attr_init(&a);
  pthread_attr_setstacksize(&a, kStack);
  bool ok = true;
  for (u32 i = 0; i < workers && ok; i++) {
    Worker& w = p->worker[i];
    w.pool = p, w.index = i;
    w.block = guarded_map(kThreadgroupBlock);
    w.alt = mmap(0, kAltStack, 3, 0x22, -1, 0);
    ok = w.block && w.alt != (void*)-1 && pthread_create(&w.thread, &a, work, &w) == 0;
    if (ok) __atomic_store_n(&p->workers, i + 1, __ATOMIC_SEQ_CST);
  }
  pthread_attr_destroy(&a);
  if (ok) return p;
  sm_destroy(p);
  return 0;
}

// sm_run runs commands and returns when they have run. One call at a time.
EXPORT void sm_run(Pool* p, const Command* commands, u64 count, i64* times, Result* result) {
  memset(result, 0, sizeof *result);
  result->entered = now();
  p->commands = commands, p->count = count, p->times = times, p->result = result;
  p->status = kOk, p->address = 0;
  p->at = 0, p->since = result->entered;
  store(&p->stop, 0u);
  u32 mine = p->job + 1;
  store(&p->job, mine);
  futex_wake(&p->job);
  bool joint = false;
  for (u64 i = 0; i < count; i++) joint |= commands[i].kind == kKernel && commands[i].value;
  for (u32 d; (d = load(&p->done)) != mine;) {
    if (!joint) {
      futex_wait(&p->done, d);
      continue;
    }
    futex_wait(&p->done, d, kLook);
    look(p);
  }
}

// sm_stop makes the command buffer that runs fail: politely, or by a signal
// to the threads whose kernel does not look at the flag.
EXPORT void sm_stop(Pool* p, u64 hard) {
  store(&p->stop, 1u);
  if (!hard) return;
  for (u32 i = 0; i < p->workers; i++)
    if (load(&p->worker[i].guarded)) pthread_kill(p->worker[i].thread, kSigsegv);
  for (u32 i = 0; i < load(&p->helpers); i++)
    if (load(&p->helper[i].guarded)) pthread_kill(p->helper[i].thread, kSigsegv);
}

// sm_progress grows while threadgroups and commands complete.
EXPORT u64 sm_progress(Pool* p) {
  u64 n = 0;
  for (u32 i = 0; i < p->workers; i++) n += __atomic_load_n(&p->worker[i].progress, __ATOMIC_RELAXED);
  return n;
}

// sm_at says which command runs, and how many nanoseconds it has. A command
// buffer must be running.
EXPORT u64 sm_at(Pool* p, i64* ran) {
  *ran = now() - __atomic_load_n(&p->since, __ATOMIC_RELAXED);
  return __atomic_load_n(&p->at, __ATOMIC_RELAXED);
}

// sm_layout lets the other side check that it means the same structures.
EXPORT u64 sm_layout(void) { return sizeof(Command) << 32 | sizeof(Result) << 16 | sizeof(msl_tg); }

// Kernels of 256 threads in one threadgroup; buffer 0 is the output, of int, buffer 1 words that are 0.
// Right: simdgroups wait for each other by atomics, in whatever order; each kernel states its own.
#include <metal_stdlib>
using namespace metal;
#define KERNEL(name) kernel void name(device int* out [[buffer(0)]], device atomic_uint* st [[buffer(1)]], uint l [[thread_index_in_threadgroup]], uint sg [[simdgroup_index_in_threadgroup]], uint lane [[thread_index_in_simdgroup]])
#define GET(a) atomic_load_explicit(a, memory_order_relaxed)
#define PUT(a, v) atomic_store_explicit(a, v, memory_order_relaxed)

// Each writes the turn at which it came, counted from 1.
KERNEL(ascending) { if (lane == 0) { while (GET(st) != sg) {} PUT(st, sg + 1); } out[l] = sg + 1; }
KERNEL(descending) {
  uint turn = 0;
  if (lane == 0) { while (GET(st) != 7 - sg) {} turn = 8 - sg; PUT(st, turn); }
  out[l] = simd_broadcast_first(turn);
}
// A token goes round ten times; the last to pass it on in round 10 is simdgroup 7.
KERNEL(ring) {
  uint at = 0;
  for (uint round = 0; round < 10; ++round)
    if (lane == 0) { while (GET(st) != round * 8 + (7 - sg)) {} at = round * 8 + (7 - sg); PUT(st, at + 1); }
  threadgroup_barrier(mem_flags::mem_device);
  out[l] = GET(st) + sg; // 80 + sg
}
// Simdgroup 0 waits for what the others have put into threadgroup memory.
KERNEL(producer) {
  threadgroup int data[256];
  threadgroup atomic_uint ready;
  if (l == 0) atomic_store_explicit(&ready, 0u, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  data[l] = 3 * l;
  simdgroup_barrier(mem_flags::mem_threadgroup);
  if (lane == 0) { atomic_fetch_add_explicit(&ready, 1u, memory_order_relaxed); while (GET(&ready) < 8) {} }
  simdgroup_barrier(mem_flags::mem_threadgroup);
  out[l] = data[255 - l];
}
// All add to a number under a lock that each takes twice, the first time only after the last has it.
KERNEL(lock) {
  if (lane == 0) {
    if (sg == 0) while (GET(st + 1) < 7) {}
    uint expected = 0;
    while (!atomic_compare_exchange_weak_explicit(st, &expected, 1u, memory_order_relaxed, memory_order_relaxed)) expected = 0;
    PUT(st + 1, GET(st + 1) + 1);
    PUT(st, 0u);
    while (GET(st + 1) < 8) {}
  }
  out[l] = GET(st + 1);
}
// Three rounds between barriers, each with waiting in it.
KERNEL(rounds) {
  for (uint round = 0; round < 3; ++round) {
    if (lane == 0) { while (GET(st) != round * 8 + 7 - sg) {} atomic_fetch_add_explicit(st + 1, sg + 1, memory_order_relaxed); PUT(st, round * 8 + 8 - sg); }
    threadgroup_barrier(mem_flags::mem_device);
  }
  out[l] = GET(st + 1);
}
__attribute__((noinline)) void wait_for(device atomic_uint* a, uint v) { while (GET(a) != v) {} }
KERNEL(called) { if (lane == 0) { wait_for(st, 7 - sg); PUT(st, 8 - sg); } out[l] = 8 - sg; }
KERNEL(by_volatile) {
  volatile device uint* v = (volatile device uint*)st;
  if (lane == 0) { while (*v != 7 - sg) {} *v = 8 - sg; }
  out[l] = 8 - sg;
}

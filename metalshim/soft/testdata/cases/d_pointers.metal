// Kernels of 64 threads; buffer 0 is the output, buffer 1 in[i] = i - 15.5, buffers 2 and 3 float arrays.
// Right: what is read through pointers that a structure holds in an array.
#include <metal_stdlib>
using namespace metal;
#define KERNEL(name) kernel void name(device float* out [[buffer(0)]], device const float* in [[buffer(1)]], device const float* a [[buffer(2)]], device const float* b [[buffer(3)]], uint i [[thread_position_in_grid]])
struct Pair { device const float* p[2]; };
struct Four { device const float* p[4]; uint n; };
struct Nest { Pair of[2]; float scale; };
Pair both(device const float* a, device const float* b) { Pair r; r.p[0] = a; r.p[1] = b; return r; }
__attribute__((noinline)) Pair apart(device const float* a, device const float* b) { Pair r; r.p[0] = b; r.p[1] = a; return r; }
__attribute__((noinline)) float read(Pair r, uint which, uint at) { return r.p[which][at]; }
__attribute__((noinline)) float read4(Four r, uint which, uint at) { return r.p[which][at] * r.n; }
KERNEL(picks) { Pair r = both(a, b); out[i] = r.p[i % 2][i]; }                    // a or b
KERNEL(picks4) { Four r = {{a, b, in, a + 1}, 3}; out[i] = r.p[i % 4][i] * r.n; }
KERNEL(swaps) { Pair r = both(a, b), s = apart(a, b); if (i % 3 == 0) r = s; out[i] = r.p[0][i]; } // b where i % 3 == 0, else a
KERNEL(passes) { out[i] = read(both(a, b), i % 2, i); }                            // a or b
KERNEL(passes4) { Four r = {{a, b, in, a + 1}, 3}; out[i] = read4(r, i % 4, i); }
KERNEL(nests) { Nest n = {{both(a, b), both(b, in)}, 2}; out[i] = n.scale * n.of[i / 2 % 2].p[i % 2][i]; }
KERNEL(loops) { Pair r = both(a, b); float s = 0; for (uint k = 0; k <= i; ++k) { s += r.p[k % 2][k]; device const float* t = r.p[0]; if (k % 5 == 4) { r.p[0] = r.p[1]; r.p[1] = t; } } out[i] = s; }

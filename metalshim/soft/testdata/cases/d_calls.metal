// Kernels of 64 threads; buffer 0 is the output, buffer 1 in[i] = i - 15.5.
// Right: what the functions say, though clang leaves them as calls. Each kernel states its own.
#include <metal_stdlib>
using namespace metal;
#define NOINLINE __attribute__((noinline))
#define KERNEL(name) kernel void name(device float* out [[buffer(0)]], device const float* in [[buffer(1)]], uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]])

struct Four { float v[4]; };
struct Mixed { float3 a; int n; half h; };
struct Big { uint limb[8]; };

NOINLINE float twice(float a) { return 2 * a; }
NOINLINE float deep(float a) { return twice(a) + 1; }
NOINLINE Four four(float a) { Four f; for (int k = 0; k < 4; ++k) f.v[k] = a * (k + 1); return f; }
NOINLINE float sum(Four f) { return f.v[0] + f.v[1] + f.v[2] + f.v[3]; }
NOINLINE Mixed mixed(float a, uint n) { Mixed m; m.a = float3(a, a + 1, a + 2); m.n = int(n); m.h = half(a); return m; }
NOINLINE float2 pair(float a) { return float2(a, -a); }
NOINLINE float4 quad(float4 a, float b) { return a * b; }
NOINLINE bool positive(float a) { return a > 0; }
NOINLINE void put(device float* at, float v) { *at = v; }
NOINLINE void change(thread float& v) { v = v * 3; }
NOINLINE float fill(thread float* a, uint n) { float s = 0; for (uint k = 0; k < n; ++k) { a[k] = float(k) + a[k]; s += a[k]; } return s; }
NOINLINE float uniform_only(float a) { return a + 0.5f; }
NOINLINE void count(device atomic_uint* at) { atomic_fetch_add_explicit(at, 1u, memory_order_relaxed); }
NOINLINE Big add(Big a, Big b) { ulong c = 0; for (int k = 0; k < 8; ++k) { c += ulong(a.limb[k]) + b.limb[k]; a.limb[k] = uint(c); c >>= 32; } return a; }
NOINLINE float shared(threadgroup float* s, uint at) { return s[at]; }
NOINLINE float waits(threadgroup float* s, float v, uint l) { s[l] = v; threadgroup_barrier(mem_flags::mem_threadgroup); return s[63 - l]; }
NOINLINE float over_lanes(float v) { return simd_sum(v); }
NOINLINE float through(float v) { return over_lanes(v) * 2; }

float even_steps(uint n);
float odd_steps(uint n) { return n == 0 ? 0 : 1 + even_steps(n - 1); }
float even_steps(uint n) { return n == 0 ? 100 : 1 + odd_steps(n - 1); }
ulong fibonacci(uint n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
uint ackermann(uint m, uint n) { return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1)); }

KERNEL(nested) { out[i] = deep(in[i]); }                      // 2 in + 1
KERNEL(masked) { float v = in[i]; if (v > 0) v = twice(v); out[i] = v; } // 2 in where positive
KERNEL(looped) { float v = 0; for (uint k = 0; k < l; ++k) v += twice(in[k]); out[i] = v; } // 2 of the sum before
KERNEL(structs) { out[i] = sum(four(in[i])); }                // 10 in
KERNEL(mixes) { Mixed m = mixed(in[i], i); out[i] = m.a.x + m.a.y + m.a.z + m.n + float(m.h); } // 4 in + 3 + i
KERNEL(pairs) { float2 p = pair(in[i]); out[i] = p.x - p.y; } // 2 in
KERNEL(quads) { float4 q = quad(float4(in[i], 1, 2, 3), 2.0f); out[i] = q.x + q.y + q.z + q.w; } // 2 in + 12
KERNEL(truths) { out[i] = positive(in[i]) ? 1 : 0; }
KERNEL(stores) { put(out + i, in[i]); }                       // in
KERNEL(references) { float v = in[i]; change(v); out[i] = v; } // 3 in
KERNEL(arrays) { float a[4] = {in[i], 1, 2, 3}; float s = fill(a, 4); out[i] = s + a[i % 4] * 0; } // in + 12
KERNEL(uniforms) { out[i] = uniform_only(in[0]); }            // in[0] + 0.5
KERNEL(counts) { count((device atomic_uint*)out); }           // out[0] is the integer 64
KERNEL(big) { Big a, b; for (int k = 0; k < 8; ++k) { a.limb[k] = ~0u; b.limb[k] = k == 0 ? i + 1 : 0; } a = add(a, b); out[i] = float(a.limb[0]) + float(a.limb[7]); } // i
KERNEL(threadgroups) { threadgroup float s[64]; s[l] = in[i]; threadgroup_barrier(mem_flags::mem_threadgroup); out[i] = shared(s, 63 - l); } // in reversed
KERNEL(barriers) { threadgroup float s[64]; out[i] = waits(s, in[i], l); } // in reversed
KERNEL(simds) { out[i] = through(in[i]); }                    // 2 of the simdgroup's sum
KERNEL(mutual) { out[i] = even_steps(i); }                    // i + 100 where even, i where odd
KERNEL(tree) { out[i] = float(fibonacci(i % 16)); }
KERNEL(twofold) { out[i] = float(ackermann(2, i % 8)); }      // 2 n + 3

// Kernels of 64 threads in one threadgroup; buffer 0 is the output, buffer 1 in[i] = i - 15.5.
// Right: out[i] = in[63-i], in every spelling: each variable is shared by the threadgroup.
#include <metal_stdlib>
using namespace metal;
#define SHARED(T, name, n) threadgroup T name[n]
#define GROUP threadgroup
struct Pair { float a, b; };
struct Made { float v; Made() thread : v(7) {} Made() threadgroup : v(7) {} Made(float x) : v(x) {} };
template <typename T, int N> struct Box { T e[N]; T last() const threadgroup { return e[N - 1]; } T last() const thread { return e[N - 1]; } };
#define REVERSE(name, DECLARE, STORE, LOAD) \
  kernel void name(device float* out [[buffer(0)]], device const float* in [[buffer(1)]], uint i [[thread_position_in_threadgroup]]) { \
    DECLARE; \
    threadgroup_barrier(mem_flags::mem_threadgroup); \
    STORE = in[i]; \
    threadgroup_barrier(mem_flags::mem_threadgroup); \
    out[i] = LOAD; \
  }
REVERSE(braces, threadgroup float sh[64] {}, sh[i], sh[63 - i])
REVERSE(zeros, threadgroup float sh[64] = {0}; threadgroup_barrier(mem_flags::mem_threadgroup), sh[i], sh[63 - i])
#define TWO threadgroup float x[2] = {1, 2}, sh[64] = {}
REVERSE(two_zeros, TWO, sh[i], sh[63 - i] + x[0] + x[1] - 3)
#define MIXED threadgroup float sh[64], x = 4.0
REVERSE(mixed, MIXED, sh[i], sh[63 - i] + x - 4)
REVERSE(aligned, alignas(16) threadgroup float sh[64], sh[i], sh[63 - i])
REVERSE(aligned_after, threadgroup alignas(16) float sh[64], sh[i], sh[63 - i])
REVERSE(attribute_first, __attribute__((aligned(32))) threadgroup float sh[64], sh[i], sh[63 - i])
REVERSE(attribute_last, threadgroup float sh[64] __attribute__((aligned(16))), sh[i], sh[63 - i])
REVERSE(attribute_list, [[maybe_unused]] threadgroup float sh[64], sh[i], sh[63 - i])
REVERSE(is_static, static threadgroup float sh[64], sh[i], sh[63 - i])
REVERSE(volatile_after, threadgroup volatile float sh[64], sh[i], sh[63 - i])
REVERSE(type_first, float threadgroup sh[64], sh[i], sh[63 - i])
REVERSE(type_first_two, unsigned int threadgroup a[64] = {}; as_type<float>(a[0]); float volatile threadgroup sh[64], sh[i], sh[63 - i])
REVERSE(in_macro, SHARED(float, sh, 64), sh[i], sh[63 - i])
REVERSE(other_macro, GROUP float sh[64], sh[i], sh[63 - i])
#define SEVERAL threadgroup float a[64]; threadgroup int n, m[2]; threadgroup float sh[64]
REVERSE(several, SEVERAL, sh[i], sh[63 - i])
REVERSE(structs, threadgroup Pair sh[64], sh[i].b, sh[63 - i].b)
REVERSE(struct_first, threadgroup struct Pair sh[64], sh[i].b, sh[63 - i].b)
REVERSE(constructed, threadgroup Made sh[64], sh[i].v, sh[63 - i].v)
#define BOX threadgroup Box<float, (64 > 2 ? 64 : 2)> sh
REVERSE(of_template, BOX, sh.e[i], sh.e[63 - i])
REVERSE(two_dimensions, threadgroup float sh[8][8], sh[i / 8][i % 8], sh[7 - i / 8][7 - i % 8])
REVERSE(vectors, threadgroup float4 sh[16], sh[i / 4][i % 4], sh[15 - i / 4][3 - i % 4])
REVERSE(qualified, threadgroup metal::float4 sh[16], sh[i / 4][i % 4], sh[15 - i / 4][3 - i % 4])
REVERSE(deduced, threadgroup decltype(in[0] + 1.0f) sh[64], sh[i], sh[63 - i])

float exchanged(float v, uint i) {
  threadgroup float sh[64];
  sh[i] = v;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  return sh[63 - i];
}
template <typename T, int N> inline T exchange(T v, uint i) {
  if (N > 1) {
    threadgroup T sh[N] = {};
    threadgroup_barrier(mem_flags::mem_threadgroup);
    sh[i] = v;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    return sh[N - 1 - i];
  }
  return v;
}
struct Tool { static float swap(float v, uint i) { threadgroup float sh[64]; sh[i] = v; threadgroup_barrier(mem_flags::mem_threadgroup); return sh[63 - i]; } };
kernel void in_function(device float* out [[buffer(0)]], device const float* in [[buffer(1)]], uint i [[thread_position_in_threadgroup]]) { out[i] = exchanged(in[i], i); }
kernel void in_template(device float* out [[buffer(0)]], device const float* in [[buffer(1)]], uint i [[thread_position_in_threadgroup]]) { out[i] = exchange<float, 64>(in[i], i); }
kernel void in_member(device float* out [[buffer(0)]], device const float* in [[buffer(1)]], uint i [[thread_position_in_threadgroup]]) { out[i] = Tool::swap(in[i], i); }
kernel void in_block(device float* out [[buffer(0)]], device const float* in [[buffer(1)]], uint i [[thread_position_in_threadgroup]]) {
  for (int j = 0; j < 2; j++) {
    { threadgroup float sh[64]; sh[i] = in[i]; threadgroup_barrier(mem_flags::mem_threadgroup); out[i] = sh[63 - i]; }
    switch (j) { case 1: threadgroup float other[64]; other[i] = out[i]; threadgroup_barrier(mem_flags::mem_threadgroup); out[i] = other[i]; }
  }
}
kernel void in_lambda(device float* out [[buffer(0)]], device const float* in [[buffer(1)]], uint i [[thread_position_in_threadgroup]]) {
  auto f = [&](float v) { threadgroup float sh[64]; sh[i] = v; threadgroup_barrier(mem_flags::mem_threadgroup); return sh[63 - i]; };
  out[i] = f(in[i]);
}
kernel void pointers(device float* out [[buffer(0)]], device const float* in [[buffer(1)]], uint i [[thread_position_in_threadgroup]]) {
  threadgroup float sh[64];
  threadgroup float* p = sh, *q = p + 63;
  threadgroup float (&r)[64] = sh;
  threadgroup float (*s)[64] = &sh;
  float threadgroup* const t = p;
  const threadgroup float* last = (const threadgroup float*)(q);
  threadgroup auto& u = sh[i];
  u = in[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = (p[63 - i] + r[63 - i] + (*s)[63 - i] + t[63 - i] + last[-int(i)]) / 5;
}

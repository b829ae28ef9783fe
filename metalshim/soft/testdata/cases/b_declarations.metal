// Kernels of 32 threads; buffer 0 is the output, buffer 1 in[i] = i - 15.5.
// Right: out[i] = in[i] for each.
#include <metal_stdlib>
using namespace metal;
#define ARGUMENTS device float* out [[buffer(0)]], device const float* in [[buffer(1)]]
#define COUNT 4
#define UNROLL _Pragma("unroll(COUNT)")
struct V { float4 p [[position]]; float2 uv [[user(locn0)]]; };
struct [[maybe_unused]] Arguments { float a; };
[[vertex]] V attributed(uint id [[vertex_id]]) { V v; v.p = float4(id); return v; }
vertex V vs(uint id [[vertex_id]], constant float4* p [[buffer(0)]]) { V v; v.p = p[id]; return v; }
fragment float4 fs(V v [[stage_in]], bool front [[front_facing]]) { return v.p; }
template <typename T> [[fragment]] vec<T, 4> shade(V v [[stage_in]]) { return vec<T, 4>(v.p); }
template [[host_name("shade_half")]] [[fragment]] vec<half, 4> shade<half>(V);
[[visible]] float twice(float a) { return 2 * a; }
[[kernel]] static void is_static(ARGUMENTS, uint i [[thread_position_in_grid]]) { out[i] = in[i]; }
static kernel void static_first(ARGUMENTS, uint i [[thread_position_in_grid]]) { out[i] = in[i]; }
extern "C" kernel void in_c(ARGUMENTS, uint i [[thread_position_in_grid]]) { out[i] = in[i]; }
kernel void declared(ARGUMENTS, uint i [[thread_position_in_grid]]);
kernel void declared(ARGUMENTS, uint i [[thread_position_in_grid]]) { out[i] = in[i]; }
namespace ns { struct S { float f; }; float same(float a) { return a; } kernel void inner(ARGUMENTS, uint i [[thread_position_in_grid]]) { S s{in[i]}; out[i] = same(s.f); } }
kernel void sqrt(ARGUMENTS, uint i [[thread_position_in_grid]]) { out[i] = in[i] < 0 ? -metal::sqrt(in[i] * in[i]) : sqrt(in[i] * in[i]); }
kernel void normalize(ARGUMENTS, uint i [[thread_position_in_grid]]) { out[i] = in[i]; }
kernel void dot(ARGUMENTS, uint i [[thread_position_in_grid]]) { out[i] = in[i]; }
kernel void positions(ARGUMENTS, ushort i [[thread_position_in_grid]], ushort3 g [[threads_per_grid]], uint2 s [[grid_size]], uint3 o [[grid_origin]],
    ushort2 t [[threads_per_threadgroup]], ushort l [[thread_index_in_simdgroup]], ushort q [[thread_index_in_quadgroup]], const ushort w [[threads_per_simdgroup]]) {
  bool right = g.x == 32 && s.x == 32 && s.y == 1 && o.x == 0 && t.x == 32 && l == i && q == i % 4 && w == 32;
  out[i] = right ? in[i] : 99;
}
kernel void unused([[maybe_unused]] device float* first [[buffer(0)]], device const float* in [[buffer(1)]], uint i [[thread_position_in_grid]], uint3 n [[maybe_unused, threads_per_grid]]) { first[i] = in[i]; }
kernel void coherent_all(coherent device float* out [[buffer(0)]], volatile coherent(device) device const float* in [[buffer(1)]], uint i [[thread_position_in_grid]]) { out[i] = in[i]; }
kernel void pragmas(ARGUMENTS, uint i [[thread_position_in_grid]]) {
  float s = 0;
#pragma unroll(COUNT) // of four
  for (int j = 0; j < 4; j++) s += in[i];
#pragma clang loop unroll_count(COUNT / 2)
  for (int j = 0; j < 4; j++) s += in[i];
  UNROLL for (int j = 0; j < 4; j++) s += in[i];
#pragma unroll
  for (int j = 0; j < 4; j++) s += in[i];
  out[i] = s / 16;
}
template <typename T, int N = 1> kernel void made(device T* out [[buffer(0)]], device const T* in [[buffer(1)]], uint i [[thread_position_in_grid]]) { out[i] = in[i] * N; }
template [[host_name("by_default")]] kernel void made<float>(device float*, device const float*, uint);
template [[host_name("by_parameters")]] kernel void made(device float* out, device const float* in, uint i);
template [[host_name("by_type")]] [[kernel]] decltype(made<float, 1>) made<float, 1>;
template <typename T> kernel void overloaded(device T* out [[buffer(0)]], device const T* in [[buffer(1)]], uint i [[thread_position_in_grid]]) { out[i] = in[i]; }
template <typename T> kernel void overloaded(device const T* in [[buffer(1)]], device T* out [[buffer(0)]], constant T& f [[buffer(2)]], uint i [[thread_position_in_grid]]) { out[i] = in[i] * f; }
template [[host_name("over_two")]] kernel void overloaded(device float*, device const float*, uint);
template [[host_name("over_three")]] kernel void overloaded<float>(device const float*, device float*, constant float&, uint);
[[host_name("plain_float")]] kernel void both(ARGUMENTS, uint i [[thread_position_in_grid]]) { out[i] = in[i]; }
[[host_name("plain_int")]] kernel void both(device const int* in [[buffer(1)]], device int* out [[buffer(0)]], uint i [[thread_position_in_grid]]) { out[i] = in[i]; }
template <typename T, int N> [[kernel, max_total_threads_per_threadgroup(N * 8)]] void bounded(device T* out [[buffer(0)]], constant T (&in)[N * 8] [[buffer(1)]], uint i [[thread_position_in_grid]]) { out[i] = in[i]; }
template [[host_name("bounded_4")]] [[kernel]] void bounded<float, 4>(device float*, constant float (&)[32], uint);
kernel void accessed(device float* out [[buffer(0), access(write)]], device const float* in [[buffer(1), access(read)]], uint i [[thread_position_in_grid]]) { out[i] = in[i]; }

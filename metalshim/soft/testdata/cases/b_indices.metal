// Kernels of 32 threads; buffer 0 is the output, buffer 1 in[i] = i - 15.5; constants 8, 9 … 16 are 3.
// Right: out[i] = 3 in[i] for each: an index is a constant expression.
#include <metal_stdlib>
using namespace metal;
#define BASE 4
enum Slot { Out, In = Out + 1, Last = (1 << 2) };
enum class Place : int { out = 0x0, in = 0b1, };
typedef enum { FirstOut = 00, FirstIn } Unnamed;
enum { Next = Last, AfterNext, Eight = AfterNext + 3 };
struct Holder { enum Kind { H0, H1 }; static constexpr constant int h8 = 8; };
constant constexpr int one = 1, eight = one << 3;
static constant int nine = eight + one;
constexpr uint ten { 10 };
namespace ns { constant constexpr int eleven = 11; }
constant int a [[function_constant(eight)]];
constant int b [[function_constant(nine)]];
constant int c [[ function_constant( ten ) ]];
constant int d [[function_constant(ns::eleven)]];
constant int e [[function_constant((BASE * 2) + Last)]];
constant int f [[function_constant(015)]];
[[function_constant(0xE)]] constant int g;
constant int32_t h [[function_constant(static_cast<int>(Place::in) ? 15 : 0)]];
constant int l [[maybe_unused]] [[function_constant(16)]];
namespace ns { constant int m [[function_constant(8u)]]; constant bool has = is_function_constant_defined(m); }
kernel void enumerators(device float* out [[buffer(Out)]], device const float* in [[buffer(In)]], uint i [[thread_position_in_grid]]) { out[i] = in[i] * a; }
kernel void scoped(device float* out [[buffer(int(Place::out))]], device const float* in [[buffer((int)Place::in)]], uint i [[thread_position_in_grid]]) { out[i] = in[i] * b; }
kernel void unnamed(device float* out [[buffer(FirstOut)]], device const float* in [[buffer(FirstIn)]], uint i [[thread_position_in_grid]]) { out[i] = in[i] * c; }
kernel void held(device float* out [[buffer(Holder::H0)]], device const float* in [[buffer(Holder::H1)]], uint i [[thread_position_in_grid]]) { out[i] = in[i] * d; }
kernel void constants(device float* out [[buffer(one - 1)]], device const float* in [[buffer(one)]], uint i [[thread_position_in_grid]]) { out[i] = in[i] * e; }
kernel void octal(device float* out [[buffer(00)]], device const float* in [[buffer(01)]], uint i [[thread_position_in_grid]]) { out[i] = in[i] * f; }
kernel void before(device float* out [[buffer((0))]], device const float* in [[buffer(0x1)]], uint i [[thread_position_in_grid]]) { out[i] = in[i] * g; }
kernel void chosen(device float* out [[buffer(0u)]], device const float* in [[buffer(1UL)]], uint i [[thread_position_in_grid]]) { out[i] = in[i] * h; }
kernel void attributes(device float* out [[buffer(sizeof(int) - 4)]], device const float* in [[buffer(true)]], uint i [[thread_position_in_grid]]) { out[i] = in[i] * l; }
kernel void spaced(device float* out [[buffer(0)]], device const float* in [[buffer(1)]], uint i [[thread_position_in_grid]]) { out[i] = in[i] * (ns::has && is_function_constant_defined(ns::m) ? ns::m : 0); }
[[max_total_threads_per_threadgroup(Eight * BASE)]] kernel void limited(device float* out [[buffer(0)]], device const float* in [[buffer(1)]], uint i [[thread_position_in_grid]]) { out[i] = in[i] * 3; }

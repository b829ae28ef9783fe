// <metal_pack> (Metal Shading Language Specification 6.14): packed and unpacked
// integers. Component 0 has the least significant bits. A normalized number is scaled to the
// range of its integer and rounded to the nearest even; a NaN becomes 0.
namespace metal {
namespace msl_p {
MSL_FN float level(float v, float low, float most) { return __builtin_rintf((v > low ? v < 1.0f ? v : 1.0f : v <= low ? low : 0.0f) * most); }
MSL_FN uint unorm(float v, int bits) { return (uint)level(v, 0.0f, (float)((1u << bits) - 1)); }
MSL_FN uint snorm(float v, int bits) { return (uint)(int)level(v, -1.0f, (float)((1u << (bits - 1)) - 1)) & (uint)((1ul << bits) - 1); }
MSL_FN float from_unorm(uint v, int bits) { return (float)(v & (uint)((1ul << bits) - 1)) / (float)((1u << bits) - 1); }
MSL_FN float from_snorm(uint v, int bits) {
  float f = (float)((int)(v << (32 - bits)) >> (32 - bits)) / (float)((1u << (bits - 1)) - 1);
  return f < -1.0f ? -1.0f : f;
}
// The transfer functions of sRGB.
MSL_FN float to_srgb(float v) { return v <= 0.0031308f ? 12.92f * v : 1.055f * __builtin_powf(v, 1.0f / 2.4f) - 0.055f; }
MSL_FN float from_srgb(float v) { return v <= 0.04045f ? v / 12.92f : __builtin_powf((v + 0.055f) / 1.055f, 2.4f); }
}
#define MSL_NORM(kind, bits) \
  MSL_FN uint pack_float_to_##kind##4x8(float4 v) { \
    return msl_p::kind(v[0], 8) | msl_p::kind(v[1], 8) << 8 | msl_p::kind(v[2], 8) << 16 | msl_p::kind(v[3], 8) << 24; \
  } \
  MSL_FN uint pack_float_to_##kind##2x16(float2 v) { return msl_p::kind(v[0], 16) | msl_p::kind(v[1], 16) << 16; } \
  MSL_FN uint pack_half_to_##kind##4x8(half4 v) { return pack_float_to_##kind##4x8(msl_v::convert<float4>(v)); } \
  MSL_FN uint pack_half_to_##kind##2x16(half2 v) { return pack_float_to_##kind##2x16(msl_v::convert<float2>(v)); } \
  MSL_FN float4 unpack_##kind##4x8_to_float(uint u) { \
    return float4{msl_p::from_##kind(u, 8), msl_p::from_##kind(u >> 8, 8), msl_p::from_##kind(u >> 16, 8), msl_p::from_##kind(u >> 24, 8)}; \
  } \
  MSL_FN float2 unpack_##kind##2x16_to_float(uint u) { return float2{msl_p::from_##kind(u, 16), msl_p::from_##kind(u >> 16, 16)}; } \
  MSL_FN half4 unpack_##kind##4x8_to_half(uint u) { return msl_v::convert<half4>(unpack_##kind##4x8_to_float(u)); } \
  MSL_FN half2 unpack_##kind##2x16_to_half(uint u) { return msl_v::convert<half2>(unpack_##kind##2x16_to_float(u)); }
MSL_NORM(unorm, 0)
MSL_NORM(snorm, 0)
MSL_FN uint pack_float_to_srgb_unorm4x8(float4 v) {
  for (int i = 0; i < 3; i++) v[i] = msl_p::to_srgb(v[i] > 0.0f ? v[i] < 1.0f ? v[i] : 1.0f : 0.0f);
  return pack_float_to_unorm4x8(v);
}
MSL_FN uint pack_half_to_srgb_unorm4x8(half4 v) { return pack_float_to_srgb_unorm4x8(msl_v::convert<float4>(v)); }
MSL_FN float4 unpack_unorm4x8_srgb_to_float(uint u) {
  float4 v = unpack_unorm4x8_to_float(u);
  for (int i = 0; i < 3; i++) v[i] = msl_p::from_srgb(v[i]);
  return v;
}
MSL_FN half4 unpack_unorm4x8_srgb_to_half(uint u) { return msl_v::convert<half4>(unpack_unorm4x8_srgb_to_float(u)); }
MSL_FN uint pack_float_to_unorm10a2(float4 v) { return msl_p::unorm(v[0], 10) | msl_p::unorm(v[1], 10) << 10 | msl_p::unorm(v[2], 10) << 20 | msl_p::unorm(v[3], 2) << 30; }
MSL_FN uint pack_half_to_unorm10a2(half4 v) { return pack_float_to_unorm10a2(msl_v::convert<float4>(v)); }
MSL_FN float4 unpack_unorm10a2_to_float(uint u) { return float4{msl_p::from_unorm(u, 10), msl_p::from_unorm(u >> 10, 10), msl_p::from_unorm(u >> 20, 10), msl_p::from_unorm(u >> 30, 2)}; }
MSL_FN half4 unpack_unorm10a2_to_half(uint u) { return msl_v::convert<half4>(unpack_unorm10a2_to_float(u)); }
} // namespace metal

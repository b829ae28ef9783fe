// Macros of the Metal standard library, and the versions that a source may
// ask for. They precede the source; everything else is declared afterwards,
// in front of the rewritten text.
#define __METAL__ 1
#ifndef __METAL_VERSION__
#define __METAL_VERSION__ 310
#endif
#define __HAVE_BFLOAT__ 1
// The platform, as Apple's compiler names it: code is compiled as for a Mac.
#define __METAL_MACOS__ 1
#define __AIR64__ 1
#define __AIR_VERSION__ 20600
#define TARGET_OS_MAC 1
#define TARGET_OS_OSX 1
#define TARGET_OS_IPHONE 0
#define TARGET_OS_IOS 0
#define TARGET_OS_TV 0
#define TARGET_OS_WATCH 0
#define TARGET_OS_VISION 0
#define TARGET_OS_MACCATALYST 0
#define TARGET_OS_SIMULATOR 0
#define TARGET_CPU_ARM64 1
#define METAL_FUNC inline __attribute__((always_inline))
#define METAL_ALIGN(n) alignas(n)
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define HUGE_VALF __builtin_inff()
#define MAXFLOAT __FLT_MAX__
#define FLT_MAX __FLT_MAX__
#define FLT_MIN __FLT_MIN__
#define FLT_EPSILON __FLT_EPSILON__
#define FLT_DIG 6
#define FLT_MANT_DIG 24
#define FLT_MAX_10_EXP 38
#define FLT_MAX_EXP 128
#define FLT_MIN_10_EXP (-37)
#define FLT_MIN_EXP (-125)
#define FLT_RADIX 2
#define HALF_MAX 65504.0h
#define HALF_MIN 0x1p-14h
#define HALF_EPSILON 0x1p-10h
#define HALF_DIG 3
#define HALF_MANT_DIG 11
#define HALF_MAX_10_EXP 4
#define HALF_MAX_EXP 16
#define HALF_MIN_10_EXP (-4)
#define HALF_MIN_EXP (-13)
#define HALF_RADIX 2
#define MAXHALF HALF_MAX
#define HUGE_VALH ((half)__builtin_inff())
#define BFLOAT_MAX 0x1.FEp+127bf
#define BFLOAT_MIN 0x1p-126bf
#define BFLOAT_EPSILON 0x1p-7bf
#define BFLOAT_DIG 2
#define BFLOAT_MANT_DIG 8
#define BFLOAT_MAX_EXP 128
#define BFLOAT_MIN_EXP (-125)
#define BFLOAT_RADIX 2
#define M_E_F 2.71828182845904523536028747135266250f
#define M_LOG2E_F 1.44269504088896340735992468100189214f
#define M_LOG10E_F 0.434294481903251827651128918916605082f
#define M_LN2_F 0.693147180559945309417232121458176568f
#define M_LN10_F 2.30258509299404568401799145468436421f
#define M_PI_F 3.14159265358979323846264338327950288f
#define M_PI_2_F 1.57079632679489661923132169163975144f
#define M_PI_4_F 0.785398163397448309615660845819875721f
#define M_1_PI_F 0.318309886183790671537767526745028724f
#define M_2_PI_F 0.636619772367581343075535053490057448f
#define M_2_SQRTPI_F 1.12837916709551257389615890312154517f
#define M_SQRT2_F 1.41421356237309504880168872420969808f
#define M_SQRT1_2_F 0.707106781186547524400844362104849039f
#define M_E_H 2.71828182845904523536028747135266250h
#define M_LOG2E_H 1.44269504088896340735992468100189214h
#define M_LOG10E_H 0.434294481903251827651128918916605082h
#define M_LN2_H 0.693147180559945309417232121458176568h
#define M_LN10_H 2.30258509299404568401799145468436421h
#define M_PI_H 3.14159265358979323846264338327950288h
#define M_PI_2_H 1.57079632679489661923132169163975144h
#define M_PI_4_H 0.785398163397448309615660845819875721h
#define M_1_PI_H 0.318309886183790671537767526745028724h
#define M_2_PI_H 0.636619772367581343075535053490057448h
#define M_2_SQRTPI_H 1.12837916709551257389615890312154517h
#define M_SQRT2_H 1.41421356237309504880168872420969808h
#define M_SQRT1_2_H 0.707106781186547524400844362104849039h
#define CHAR_BIT 8
#define SCHAR_MAX 127
#define SCHAR_MIN (-128)
#define CHAR_MAX SCHAR_MAX
#define CHAR_MIN SCHAR_MIN
#define UCHAR_MAX 255
#define SHRT_MAX 32767
#define SHRT_MIN (-32768)
#define USHRT_MAX 65535
#define INT_MAX 2147483647
#define INT_MIN (-2147483647 - 1)
#define UINT_MAX 4294967295u
#define LONG_MAX 9223372036854775807l
#define LONG_MIN (-9223372036854775807l - 1)
#define ULONG_MAX 18446744073709551615ul

// Apple's header names a mode of the mathematics with each of the compiler's functions,
// and headers in the field that add overloads for bfloat do the same. All modes share
// one text (math.h).
#define __METAL_FAST_MATH__ 0
#define __METAL_HALF_MATH__ 1
#define __METAL_NATIVE_MATH__ 2
#define __METAL_PRECISE_MATH__ 3
#define __METAL_MAYBE_FAST_MATH__ __METAL_FAST_MATH__
#define __metal_fabs(x, mode) ::metal::fabs(x)
#define __metal_acos(x, mode) ::metal::acos(x)
#define __metal_acosh(x, mode) ::metal::acosh(x)
#define __metal_asin(x, mode) ::metal::asin(x)
#define __metal_asinh(x, mode) ::metal::asinh(x)
#define __metal_atan(x, mode) ::metal::atan(x)
#define __metal_atanh(x, mode) ::metal::atanh(x)
#define __metal_ceil(x, mode) ::metal::ceil(x)
#define __metal_cos(x, mode) ::metal::cos(x)
#define __metal_cosh(x, mode) ::metal::cosh(x)
#define __metal_cospi(x, mode) ::metal::cospi(x)
#define __metal_exp(x, mode) ::metal::exp(x)
#define __metal_exp2(x, mode) ::metal::exp2(x)
#define __metal_exp10(x, mode) ::metal::exp10(x)
#define __metal_floor(x, mode) ::metal::floor(x)
#define __metal_fract(x, mode) ::metal::fract(x)
#define __metal_log(x, mode) ::metal::log(x)
#define __metal_log2(x, mode) ::metal::log2(x)
#define __metal_log10(x, mode) ::metal::log10(x)
#define __metal_rint(x, mode) ::metal::rint(x)
#define __metal_round(x, mode) ::metal::round(x)
#define __metal_rsqrt(x, mode) ::metal::rsqrt(x)
#define __metal_saturate(x, mode) ::metal::saturate(x)
#define __metal_sign(x, mode) ::metal::sign(x)
#define __metal_sin(x, mode) ::metal::sin(x)
#define __metal_sinh(x, mode) ::metal::sinh(x)
#define __metal_sinpi(x, mode) ::metal::sinpi(x)
#define __metal_sqrt(x, mode) ::metal::sqrt(x)
#define __metal_tan(x, mode) ::metal::tan(x)
#define __metal_tanh(x, mode) ::metal::tanh(x)
#define __metal_tanpi(x, mode) ::metal::tanpi(x)
#define __metal_trunc(x, mode) ::metal::trunc(x)
#define __metal_atan2(x, y, mode) ::metal::atan2(x, y)
#define __metal_divide(x, y, mode) ::metal::divide(x, y)
#define __metal_fmax(x, y, mode) ::metal::fmax(x, y)
#define __metal_fmin(x, y, mode) ::metal::fmin(x, y)
#define __metal_fmod(x, y, mode) ::metal::fmod(x, y)
#define __metal_ldexp(x, y, mode) ::metal::ldexp(x, y)
#define __metal_pow(x, y, mode) ::metal::pow(x, y)
#define __metal_powr(x, y, mode) ::metal::powr(x, y)
#define __metal_fmax3(x, y, z, mode) ::metal::fmax3(x, y, z)
#define __metal_fmin3(x, y, z, mode) ::metal::fmin3(x, y, z)
#define __metal_fmedian3(x, y, z, mode) ::metal::fmedian3(x, y, z)
#define __metal_fma(x, y, z) ::metal::fma(x, y, z)
#define __metal_frexp(x, e) ::metal::frexp(x, *(e))
#define __metal_nextafter(x, y) ::metal::nextafter(x, y)
#define __metal_copysign(x, y) ::metal::copysign(x, y)
#define __metal_get_simdgroup_size(type) 32
#define __metal_get_thread_index_in_simdgroup(type) ::msl_lane()
#define __metal_simd_max(x) ::metal::simd_max(x)
#define __metal_simd_min(x) ::metal::simd_min(x)
#define __metal_simd_sum(x) ::metal::simd_sum(x)
#define __metal_simd_product(x) ::metal::simd_product(x)
#define __metal_simd_xor(x) ::metal::msl_s::bits_xor(x)
#define __metal_simd_and(x) ::metal::msl_s::bits_and(x)
#define __metal_simd_or(x) ::metal::msl_s::bits_or(x)
#define __metal_simd_prefix_exclusive_sum(x) ::metal::simd_prefix_exclusive_sum(x)
#define __metal_simd_prefix_exclusive_product(x) ::metal::simd_prefix_exclusive_product(x)
#define __metal_simd_prefix_inclusive_sum(x) ::metal::simd_prefix_inclusive_sum(x)
#define __metal_simd_prefix_inclusive_product(x) ::metal::simd_prefix_inclusive_product(x)
#define __metal_simd_broadcast(x, lane) ::metal::simd_broadcast(x, lane)
#define __metal_simd_shuffle(x, lane) ::metal::simd_shuffle(x, lane)
#define __metal_simd_shuffle_down(x, lane) ::metal::simd_shuffle_down(x, lane)
#define __metal_simd_shuffle_up(x, lane) ::metal::simd_shuffle_up(x, lane)
#define __metal_simd_shuffle_xor(x, lane) ::metal::simd_shuffle_xor(x, lane)
#define __metal_simd_shuffle_rotate_down(x, lane) ::metal::simd_shuffle_rotate_down(x, lane)
#define __metal_simd_shuffle_rotate_up(x, lane) ::metal::simd_shuffle_rotate_up(x, lane)
#define __metal_simd_shuffle_and_fill_down(x, fill, delta, modulo) ::metal::simd_shuffle_and_fill_down(x, fill, delta, modulo)
#define __metal_simd_shuffle_and_fill_up(x, fill, delta, modulo) ::metal::simd_shuffle_and_fill_up(x, fill, delta, modulo)

// <metal_assert>: assertions are off unless a source asks for them, and the driver has
// nowhere to report one.
#define assert(condition) ((void)sizeof(!(condition)))

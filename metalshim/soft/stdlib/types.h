// Scalar, vector and packed types of the Metal Shading Language, and the
// traits of <metal_type_traits> and <metal_limits>. Own text after the Metal
// Shading Language Specification, chapter 2; no header of any C library is
// used.
#define MSL_FN inline __attribute__((always_inline))
#define MSL_LAMBDA __attribute__((always_inline))

typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long int64_t;
typedef unsigned long uint64_t;
typedef unsigned long size_t;
typedef long ptrdiff_t;
typedef unsigned long uintptr_t;
typedef long intptr_t;
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef _Float16 half;
typedef __bf16 bfloat;

#define MSL_VECTORS(T) \
  typedef T T##2 __attribute__((ext_vector_type(2))); \
  typedef T T##3 __attribute__((ext_vector_type(3))); \
  typedef T T##4 __attribute__((ext_vector_type(4)));
#define MSL_NUMBERS(DO) \
  DO(char) DO(uchar) DO(short) DO(ushort) DO(int) DO(uint) DO(long) DO(ulong) DO(half) DO(bfloat) DO(float)
MSL_NUMBERS(MSL_VECTORS)

// Vectors of bool are structures: clang's own have one bit for each element. They
// take the integers, 0 or -1, that a comparison of clang's vectors gives.
#define MSL_BOOL_COMMON(N) \
  constexpr MSL_FN bool& operator[](int i) { return (&x)[i]; } \
  constexpr MSL_FN const bool& operator[](int i) const { return (&x)[i]; } \
  bool##N() = default; \
  template <class V, class = decltype(V()[0])> MSL_FN bool##N(V v) { for (int i = 0; i < N; i++) (*this)[i] = v[i] != 0; } \
  friend MSL_FN bool##N operator!(bool##N a) { for (int i = 0; i < N; i++) a[i] = !a[i]; return a; } \
  friend MSL_FN bool##N operator~(bool##N a) { return !a; } \
  MSL_BOOL_OP(N, &&) MSL_BOOL_OP(N, ||) MSL_BOOL_OP(N, &) MSL_BOOL_OP(N, |) MSL_BOOL_OP(N, ^) MSL_BOOL_OP(N, ==) MSL_BOOL_OP(N, !=) \
  MSL_BOOL_SET(N, &) MSL_BOOL_SET(N, |) MSL_BOOL_SET(N, ^)
#define MSL_BOOL_OP(N, op) \
  friend MSL_FN bool##N operator op(bool##N a, bool##N b) { for (int i = 0; i < N; i++) a[i] = a[i] op b[i]; return a; }
#define MSL_BOOL_SET(N, op) \
  MSL_FN bool##N& operator op##=(bool##N b) { for (int i = 0; i < N; i++) (*this)[i] = (*this)[i] op b[i]; return *this; }
// Several components, which may be read.
#define MSL_BOOL_PART(N, name, ...) \
  MSL_FN bool##N msl_get_##name() const { return {__VA_ARGS__}; } \
  __declspec(property(get = msl_get_##name)) bool##N name;
struct alignas(2) bool2 {
  bool x, y;
  constexpr MSL_FN bool2(bool s) : x(s), y(s) {}
  constexpr MSL_FN bool2(bool a, bool b) : x(a), y(b) {}
  MSL_BOOL_COMMON(2)
  MSL_BOOL_PART(2, xy, x, y) MSL_BOOL_PART(2, yx, y, x)
};
struct alignas(4) bool3 {
  bool x, y, z;
  constexpr MSL_FN bool3(bool s) : x(s), y(s), z(s) {}
  constexpr MSL_FN bool3(bool a, bool b, bool c) : x(a), y(b), z(c) {}
  MSL_BOOL_COMMON(3)
  MSL_BOOL_PART(2, xy, x, y) MSL_BOOL_PART(2, yz, y, z) MSL_BOOL_PART(2, xz, x, z) MSL_BOOL_PART(3, xyz, x, y, z) MSL_BOOL_PART(3, zyx, z, y, x)
};
struct alignas(4) bool4 {
  bool x, y, z, w;
  constexpr MSL_FN bool4(bool s) : x(s), y(s), z(s), w(s) {}
  constexpr MSL_FN bool4(bool a, bool b, bool c, bool d) : x(a), y(b), z(c), w(d) {}
  MSL_BOOL_COMMON(4)
  MSL_BOOL_PART(2, xy, x, y) MSL_BOOL_PART(2, yz, y, z) MSL_BOOL_PART(2, zw, z, w) MSL_BOOL_PART(2, xz, x, z) MSL_BOOL_PART(2, yw, y, w)
  MSL_BOOL_PART(3, xyz, x, y, z) MSL_BOOL_PART(3, yzw, y, z, w)
};

namespace metal {
using ::bfloat;
using ::half;
using ::uchar;
using ::uint;
using ::ulong;
using ::ushort;
using ::size_t;
using ::ptrdiff_t;
#define MSL_USING(T) using ::T##2; using ::T##3; using ::T##4;
MSL_NUMBERS(MSL_USING)
MSL_USING(bool)
using ::int8_t; using ::uint8_t; using ::int16_t; using ::uint16_t;
using ::int32_t; using ::uint32_t; using ::int64_t; using ::uint64_t;

template <class T, int N> using vec = T __attribute__((ext_vector_type(N)));

// ---- type traits
template <class T, T v> struct integral_constant {
  static constexpr T value = v;
  using value_type = T;
  using type = integral_constant;
  constexpr operator T() const { return v; }
  constexpr T operator()() const { return v; }
};
template <bool b> using bool_constant = integral_constant<bool, b>;
using true_type = bool_constant<true>;
using false_type = bool_constant<false>;
template <bool, class T = void> struct enable_if {};
template <class T> struct enable_if<true, T> { typedef T type; };
template <bool b, class T = void> using enable_if_t = typename enable_if<b, T>::type;
template <bool b, class A, class B> struct conditional { typedef A type; };
template <class A, class B> struct conditional<false, A, B> { typedef B type; };
template <bool b, class A, class B> using conditional_t = typename conditional<b, A, B>::type;
template <class A, class B> struct is_same : false_type {};
template <class A> struct is_same<A, A> : true_type {};
template <class A, class B> constexpr bool is_same_v = is_same<A, B>::value;
template <class T> struct remove_const { typedef T type; };
template <class T> struct remove_const<const T> { typedef T type; };
template <class T> struct remove_volatile { typedef T type; };
template <class T> struct remove_volatile<volatile T> { typedef T type; };
template <class T> struct remove_cv { typedef typename remove_const<typename remove_volatile<T>::type>::type type; };
template <class T> struct remove_reference { typedef T type; };
template <class T> struct remove_reference<T&> { typedef T type; };
template <class T> struct remove_reference<T&&> { typedef T type; };
template <class T> struct remove_pointer { typedef T type; };
template <class T> struct remove_pointer<T*> { typedef T type; };
template <class T> struct add_const { typedef const T type; };
template <class T> using remove_const_t = typename remove_const<T>::type;
template <class T> using remove_volatile_t = typename remove_volatile<T>::type;
template <class T> using remove_cv_t = typename remove_cv<T>::type;
template <class T> using remove_reference_t = typename remove_reference<T>::type;
template <class T> using remove_pointer_t = typename remove_pointer<T>::type;
template <class T> using add_const_t = typename add_const<T>::type;
template <class T> constexpr bool is_floating_point_v =
    is_same_v<remove_cv_t<T>, float> || is_same_v<remove_cv_t<T>, half> || is_same_v<remove_cv_t<T>, bfloat>;
template <class T> struct is_floating_point : bool_constant<is_floating_point_v<T>> {};
template <class T> constexpr bool is_integral_v = __is_integral(T);
template <class T> struct is_integral : bool_constant<__is_integral(T)> {};
template <class T> constexpr bool is_arithmetic_v = is_integral_v<T> || is_floating_point_v<T>;
template <class T> struct is_arithmetic : bool_constant<is_arithmetic_v<T>> {};
template <class T> struct is_scalar : is_arithmetic<T> {};
template <class T> constexpr bool is_scalar_v = is_arithmetic_v<T>;
template <class T> constexpr bool is_signed_v = is_floating_point_v<T> || (is_integral_v<T> && __is_signed(T));
template <class T> struct is_signed : bool_constant<is_signed_v<T>> {};
template <class T> constexpr bool is_unsigned_v = __is_unsigned(T);
template <class T> struct is_unsigned : bool_constant<is_unsigned_v<T>> {};
template <class T> constexpr bool is_pointer_v = __is_pointer(T);
template <class T> struct is_pointer : bool_constant<__is_pointer(T)> {};
template <class T> constexpr bool is_enum_v = __is_enum(T);
template <class T> struct is_enum : bool_constant<__is_enum(T)> {};
template <class T> constexpr bool is_trivially_copyable_v = __is_trivially_copyable(T);
template <class A, class B> constexpr bool is_convertible_v = __is_convertible(A, B);
template <class A, class B> struct is_convertible : bool_constant<__is_convertible(A, B)> {};
template <class A, class B> constexpr bool is_base_of_v = __is_base_of(A, B);
template <class T> struct make_unsigned { typedef __make_unsigned(T) type; };
template <class T> struct make_signed { typedef __make_signed(T) type; };
template <class T> using make_unsigned_t = typename make_unsigned<T>::type;
template <class T> using make_signed_t = typename make_signed<T>::type;
template <class T> remove_reference_t<T>&& declval();

// ---- what a vector is made of: element type and count; count 0 is a scalar
namespace msl_v {
template <class T> struct of { typedef T element; static constexpr int count = 0; };
#define MSL_OF(T) \
  template <> struct of<T##2> { typedef T element; static constexpr int count = 2; }; \
  template <> struct of<T##3> { typedef T element; static constexpr int count = 3; }; \
  template <> struct of<T##4> { typedef T element; static constexpr int count = 4; };
MSL_NUMBERS(MSL_OF)
MSL_OF(bool)
template <class T> using bare = remove_cv_t<remove_reference_t<T>>;
template <class V> using el = typename of<bare<V>>::element;
template <class V> constexpr int count = of<bare<V>>::count;
template <class V> constexpr bool is = count<V> != 0;
template <class V, class E> struct with { typedef E type; };
}
template <class T> struct vec_elements { static constexpr int value = msl_v::is<T> ? msl_v::count<T> : 1; };
template <class T> struct is_vector : bool_constant<msl_v::is<T>> {};
template <class T> constexpr bool is_vector_v = msl_v::is<T>;

template <class T, int N> struct packed_vec; // in packed.h

// ---- limits
template <class T> struct _numeric_limits_impl {
  static constexpr bool is_specialized = true, is_integer = true, is_exact = true, has_infinity = false, is_signed = T(-1) < T(0);
  static constexpr int digits = sizeof(T) * 8 - is_signed, radix = 2;
  static constexpr T max() { return is_signed ? T((T(1) << (sizeof(T) * 8 - 2)) - 1 + (T(1) << (sizeof(T) * 8 - 2))) : T(-1); }
  static constexpr T min() { return is_signed ? T(-max() - 1) : T(0); }
  static constexpr T lowest() { return min(); }
  static constexpr bool has_quiet_NaN = false, has_signaling_NaN = false, is_iec559 = false, is_bounded = true, is_modulo = !is_signed;
  static constexpr int digits10 = digits * 30103 / 100000, max_digits10 = 0, min_exponent = 0, max_exponent = 0;
  static constexpr T infinity() { return T(0); }
  static constexpr T quiet_NaN() { return T(0); }
  static constexpr T signaling_NaN() { return T(0); }
  static constexpr T denorm_min() { return T(0); }
  static constexpr T epsilon() { return T(0); }
  static constexpr T round_error() { return T(0); }
};
template <> struct _numeric_limits_impl<bool> {
  static constexpr bool is_specialized = true, is_integer = true, is_exact = true, has_infinity = false, is_signed = false;
  static constexpr int digits = 1, digits10 = 0, radix = 2;
  static constexpr bool max() { return true; }
  static constexpr bool min() { return false; }
  static constexpr bool lowest() { return false; }
};
#define MSL_LIMITS(T, MAX, MIN, EPS, DIGITS, EXP_MIN, EXP_MAX) \
  template <> struct _numeric_limits_impl<T> { \
    static constexpr bool is_specialized = true, is_integer = false, is_exact = false, has_infinity = true, is_signed = true; \
    static constexpr bool has_quiet_NaN = true, has_signaling_NaN = true, is_iec559 = true, is_bounded = true, is_modulo = false; \
    static constexpr int digits = DIGITS, radix = 2, digits10 = (DIGITS - 1) * 30103 / 100000, max_digits10 = 2 + DIGITS * 30103 / 100000; \
    static constexpr int min_exponent = EXP_MIN, max_exponent = EXP_MAX; \
    static constexpr T max() { return T(MAX); } \
    static constexpr T lowest() { return T(-(MAX)); } \
    static constexpr T min() { return T(MIN); } \
    static constexpr T infinity() { return T(__builtin_inff()); } \
    static constexpr T quiet_NaN() { return T(__builtin_nanf("")); } \
    static constexpr T signaling_NaN() { return T(__builtin_nanf("")); } \
    static constexpr T denorm_min() { return T(MIN * EPS); } \
    static constexpr T epsilon() { return T(EPS); } \
    static constexpr T round_error() { return T(0.5f); } \
  };
MSL_LIMITS(float, __FLT_MAX__, __FLT_MIN__, __FLT_EPSILON__, 24, -125, 128)
MSL_LIMITS(half, 65504.0f, 0x1p-14f, 0x1p-10f, 11, -13, 16)
MSL_LIMITS(bfloat, 0x1.FEp+127f, 0x1p-126f, 0x1p-7f, 8, -125, 128)
template <class T> struct numeric_limits : _numeric_limits_impl<T> {};
template <class T> struct numeric_limits<const T> : numeric_limits<T> {};
template <class T> struct numeric_limits<volatile T> : numeric_limits<T> {};
} // namespace metal

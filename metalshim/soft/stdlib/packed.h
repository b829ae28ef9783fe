// Packed vectors: aligned like their elements (Metal Shading Language Specification
// 2.2.3). They read as vectors; their components can be read and written.
namespace metal {
#define MSL_PACKED_OP(op) \
  friend MSL_FN constexpr vec<T, N> operator op(packed_vec a, packed_vec b) { return (vec<T, N>)a op (vec<T, N>)b; } \
  friend MSL_FN constexpr vec<T, N> operator op(packed_vec a, vec<T, N> b) { return (vec<T, N>)a op b; } \
  friend MSL_FN constexpr vec<T, N> operator op(vec<T, N> a, packed_vec b) { return a op (vec<T, N>)b; } \
  friend MSL_FN constexpr vec<T, N> operator op(packed_vec a, T b) { return (vec<T, N>)a op b; } \
  friend MSL_FN constexpr vec<T, N> operator op(T a, packed_vec b) { return a op (vec<T, N>)b; }
// Integers have further ones. They are templates, since a friend must compile for all types.
#define MSL_PACKED_INT(op) \
  template <class U, enable_if_t<is_integral_v<T> && (is_same_v<U, packed_vec> || is_same_v<U, vec<T, N>> || is_integral_v<U>), int> = 0> \
  friend MSL_FN constexpr vec<T, N> operator op(packed_vec a, U b) { return (vec<T, N>)a op msl_v::convert<vec<T, N>>(msl_v::plain(b)); }
#define MSL_PACKED_COMPARE(op) \
  friend MSL_FN auto operator op(packed_vec a, packed_vec b) { return (vec<T, N>)a op (vec<T, N>)b; } \
  friend MSL_FN auto operator op(packed_vec a, vec<T, N> b) { return (vec<T, N>)a op b; } \
  friend MSL_FN auto operator op(vec<T, N> a, packed_vec b) { return a op (vec<T, N>)b; } \
  friend MSL_FN auto operator op(packed_vec a, T b) { return (vec<T, N>)a op b; }
#define MSL_PACKED_SET(op) \
  template <class U> MSL_FN packed_vec& operator op##=(U u) { return *this = packed_vec((vec<T, N>)*this op u); }
#define MSL_PACKED_COMMON \
  packed_vec() = default; \
  MSL_FN constexpr T& operator[](int i) { return (&x)[i]; } \
  MSL_FN constexpr const T& operator[](int i) const { return (&x)[i]; } \
  friend MSL_FN constexpr vec<T, N> operator-(packed_vec a) { return -(vec<T, N>)a; } \
  friend MSL_FN constexpr vec<T, N> operator+(packed_vec a) { return a; } \
  MSL_PACKED_OP(+) MSL_PACKED_OP(-) MSL_PACKED_OP(*) MSL_PACKED_OP(/) \
  MSL_PACKED_COMPARE(==) MSL_PACKED_COMPARE(!=) MSL_PACKED_COMPARE(<) MSL_PACKED_COMPARE(>) MSL_PACKED_COMPARE(<=) MSL_PACKED_COMPARE(>=) \
  MSL_PACKED_SET(+) MSL_PACKED_SET(-) MSL_PACKED_SET(*) MSL_PACKED_SET(/) MSL_PACKED_SET(%) \
  MSL_PACKED_SET(&) MSL_PACKED_SET(|) MSL_PACKED_SET(^) MSL_PACKED_SET(<<) MSL_PACKED_SET(>>)
// Several components are a property: reading and writing call functions.
#define MSL_PART2(name, a, b) \
  MSL_FN constexpr vec<T, 2> msl_get_##name() const { return vec<T, 2>{a, b}; } \
  MSL_FN void msl_put_##name(vec<T, 2> v) { a = v[0]; b = v[1]; } \
  __declspec(property(get = msl_get_##name, put = msl_put_##name)) vec<T, 2> name;
#define MSL_PART3(name, a, b, c) \
  MSL_FN constexpr vec<T, 3> msl_get_##name() const { return vec<T, 3>{a, b, c}; } \
  MSL_FN void msl_put_##name(vec<T, 3> v) { a = v[0]; b = v[1]; c = v[2]; } \
  __declspec(property(get = msl_get_##name, put = msl_put_##name)) vec<T, 3> name;
#define MSL_PART4(name, a, b, c, d) \
  MSL_FN constexpr vec<T, 4> msl_get_##name() const { return vec<T, 4>{a, b, c, d}; } \
  MSL_FN void msl_put_##name(vec<T, 4> v) { a = v[0]; b = v[1]; c = v[2]; d = v[3]; } \
  __declspec(property(get = msl_get_##name, put = msl_put_##name)) vec<T, 4> name;
#define MSL_NAMED2(a, b, p, q) MSL_PART2(a##b, a, b) MSL_PART2(p##q, a, b)
#define MSL_NAMED3(a, b, c, p, q, r) MSL_PART3(a##b##c, a, b, c) MSL_PART3(p##q##r, a, b, c)
#define MSL_NAMED4(a, b, c, d, p, q, r, s) MSL_PART4(a##b##c##d, a, b, c, d) MSL_PART4(p##q##r##s, a, b, c, d)
#define MSL_PARTS2 MSL_NAMED2(x, y, r, g) MSL_NAMED2(y, x, g, r)
#define MSL_PARTS3 MSL_PARTS2 \
  MSL_NAMED2(x, z, r, b) MSL_NAMED2(z, x, b, r) MSL_NAMED2(y, z, g, b) MSL_NAMED2(z, y, b, g) \
  MSL_NAMED3(x, y, z, r, g, b) MSL_NAMED3(x, z, y, r, b, g) MSL_NAMED3(y, x, z, g, r, b) \
  MSL_NAMED3(y, z, x, g, b, r) MSL_NAMED3(z, x, y, b, r, g) MSL_NAMED3(z, y, x, b, g, r)
#define MSL_PARTS4 MSL_PARTS3 \
  MSL_NAMED2(x, w, r, a) MSL_NAMED2(w, x, a, r) MSL_NAMED2(y, w, g, a) MSL_NAMED2(w, y, a, g) MSL_NAMED2(z, w, b, a) MSL_NAMED2(w, z, a, b) \
  MSL_NAMED3(y, z, w, g, b, a) MSL_NAMED3(x, z, w, r, b, a) MSL_NAMED3(x, y, w, r, g, a) MSL_NAMED3(w, z, y, a, b, g) MSL_NAMED3(w, x, y, a, r, g) \
  MSL_NAMED4(x, y, z, w, r, g, b, a) MSL_NAMED4(z, y, x, w, b, g, r, a) MSL_NAMED4(w, z, y, x, a, b, g, r) MSL_NAMED4(w, x, y, z, a, r, g, b) MSL_NAMED4(y, z, w, x, g, b, a, r)
// A component's other name.
#define MSL_ALSO(name, a) \
  MSL_FN constexpr T msl_get_##name() const { return a; } \
  MSL_FN void msl_put_##name(T v) { a = v; } \
  __declspec(property(get = msl_get_##name, put = msl_put_##name)) T name;

template <class T> struct packed_vec<T, 2> {
  static constexpr int N = 2;
  T x, y;
  MSL_FN constexpr packed_vec(vec<T, 2> v) : x(msl_v::at<0>(v)), y(msl_v::at<1>(v)) {}
  template <class U, enable_if_t<msl_v::is<U> && msl_v::count<U> == 2 && !is_same_v<U, vec<T, 2>>, int> = 0> MSL_FN constexpr explicit packed_vec(U v) : packed_vec(msl_v::convert<vec<T, 2>>(v)) {}
  MSL_FN constexpr explicit packed_vec(T v) : x(v), y(v) {}
  MSL_FN constexpr packed_vec(T a, T b) : x(a), y(b) {}
  MSL_FN constexpr operator vec<T, 2>() const { return vec<T, 2>{x, y}; }
  MSL_PACKED_COMMON MSL_PARTS2 MSL_ALSO(r, x) MSL_ALSO(g, y)
};
template <class T> struct packed_vec<T, 3> {
  static constexpr int N = 3;
  T x, y, z;
  MSL_FN constexpr packed_vec(vec<T, 3> v) : x(msl_v::at<0>(v)), y(msl_v::at<1>(v)), z(msl_v::at<2>(v)) {}
  template <class U, enable_if_t<msl_v::is<U> && msl_v::count<U> == 3 && !is_same_v<U, vec<T, 3>>, int> = 0> MSL_FN constexpr explicit packed_vec(U v) : packed_vec(msl_v::convert<vec<T, 3>>(v)) {}
  MSL_FN constexpr explicit packed_vec(T v) : x(v), y(v), z(v) {}
  MSL_FN constexpr packed_vec(T a, T b, T c) : x(a), y(b), z(c) {}
  template <class A, class B, enable_if_t<msl_v::total<A, B> == 3, int> = 0> MSL_FN constexpr packed_vec(A a, B b) : packed_vec(msl_mk<vec<T, 3>>(a, b)) {}
  MSL_FN constexpr operator vec<T, 3>() const { return vec<T, 3>{x, y, z}; }
  MSL_PACKED_COMMON MSL_PARTS3 MSL_ALSO(r, x) MSL_ALSO(g, y) MSL_ALSO(b, z)
};
template <class T> struct packed_vec<T, 4> {
  static constexpr int N = 4;
  T x, y, z, w;
  MSL_FN constexpr packed_vec(vec<T, 4> v) : x(msl_v::at<0>(v)), y(msl_v::at<1>(v)), z(msl_v::at<2>(v)), w(msl_v::at<3>(v)) {}
  template <class U, enable_if_t<msl_v::is<U> && msl_v::count<U> == 4 && !is_same_v<U, vec<T, 4>>, int> = 0> MSL_FN constexpr explicit packed_vec(U v) : packed_vec(msl_v::convert<vec<T, 4>>(v)) {}
  MSL_FN constexpr explicit packed_vec(T v) : x(v), y(v), z(v), w(v) {}
  MSL_FN constexpr packed_vec(T a, T b, T c, T d) : x(a), y(b), z(c), w(d) {}
  template <class A, class B, class... R, enable_if_t<sizeof...(R) < 2 && msl_v::total<A, B, R...> == 4, int> = 0> MSL_FN constexpr packed_vec(A a, B b, R... rest) : packed_vec(msl_mk<vec<T, 4>>(a, b, rest...)) {}
  MSL_FN constexpr operator vec<T, 4>() const { return vec<T, 4>{x, y, z, w}; }
  MSL_PACKED_COMMON MSL_PARTS4 MSL_ALSO(r, x) MSL_ALSO(g, y) MSL_ALSO(b, z) MSL_ALSO(a, w)
};
#define MSL_PACKED(T) \
  typedef packed_vec<T, 2> packed_##T##2; typedef packed_vec<T, 3> packed_##T##3; typedef packed_vec<T, 4> packed_##T##4;
MSL_NUMBERS(MSL_PACKED)
} // namespace metal

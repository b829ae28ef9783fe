// <metal_matrix>: C columns of R rows, stored by columns.
namespace metal {
template <class T, int C, int R> struct matrix {
  vec<T, R> columns[C];
  matrix() = default;
  MSL_FN constexpr explicit matrix(T d) : columns{} { // d on the diagonal
    for (int c = 0; c < C; c++) columns[c] = diagonal(d, c);
  }
  template <class... V, class = enable_if_t<sizeof...(V) == C - 1 && (msl_v::is<V> && ...)>> MSL_FN constexpr matrix(vec<T, R> first, V... rest) : columns{first, msl_v::convert<vec<T, R>>(rest)...} {}
  template <class... S, class = enable_if_t<sizeof...(S) + 2 == C * R && (C > 1)>, class = void> MSL_FN constexpr matrix(T a, T b, S... rest) : columns{} {
    const T all[] = {a, b, T(rest)...};
    for (int c = 0; c < C; c++) {
      const T* e = all + c * R;
      if constexpr (R == 2) columns[c] = vec<T, R>{e[0], e[1]};
      else if constexpr (R == 3) columns[c] = vec<T, R>{e[0], e[1], e[2]};
      else columns[c] = vec<T, R>{e[0], e[1], e[2], e[3]};
    }
  }
  static MSL_FN constexpr vec<T, R> diagonal(T d, int c) {
    const T o = T(0);
    if constexpr (R == 2) return vec<T, R>{c == 0 ? d : o, c == 1 ? d : o};
    else if constexpr (R == 3) return vec<T, R>{c == 0 ? d : o, c == 1 ? d : o, c == 2 ? d : o};
    else return vec<T, R>{c == 0 ? d : o, c == 1 ? d : o, c == 2 ? d : o, c == 3 ? d : o};
  }
  template <class U> MSL_FN constexpr explicit matrix(const matrix<U, C, R>& o) : columns{} {
    for (int c = 0; c < C; c++) columns[c] = msl_v::convert<vec<T, R>>(o.columns[c]);
  }
  template <class U> MSL_FN constexpr matrix& operator=(const matrix<U, C, R>& o) {
    for (int c = 0; c < C; c++) columns[c] = msl_v::convert<vec<T, R>>(o.columns[c]);
    return *this;
  }
  MSL_FN constexpr vec<T, R>& operator[](int c) { return columns[c]; }
  MSL_FN constexpr const vec<T, R>& operator[](int c) const { return columns[c]; }
  MSL_FN constexpr matrix& operator+=(const matrix& o) { return *this = *this + o; }
  MSL_FN constexpr matrix& operator-=(const matrix& o) { return *this = *this - o; }
  MSL_FN constexpr matrix& operator*=(T s) { return *this = *this * s; }
  MSL_FN constexpr bool operator==(const matrix& o) const {
    bool same = true;
    for (int c = 0; c < C; c++)
      for (int r = 0; r < R; r++) same = same && columns[c][r] == o.columns[c][r];
    return same;
  }
  MSL_FN constexpr bool operator!=(const matrix& o) const { return !(*this == o); }
};
#define MSL_MATRICES(T) \
  typedef matrix<T, 2, 2> T##2x2; typedef matrix<T, 2, 3> T##2x3; typedef matrix<T, 2, 4> T##2x4; \
  typedef matrix<T, 3, 2> T##3x2; typedef matrix<T, 3, 3> T##3x3; typedef matrix<T, 3, 4> T##3x4; \
  typedef matrix<T, 4, 2> T##4x2; typedef matrix<T, 4, 3> T##4x3; typedef matrix<T, 4, 4> T##4x4;
MSL_MATRICES(float)
MSL_MATRICES(half)
MSL_MATRICES(bfloat)

#define MSL_MATRIX_EACH(op) \
  template <class T, int C, int R> MSL_FN constexpr matrix<T, C, R> operator op(const matrix<T, C, R>& a, const matrix<T, C, R>& b) { \
    matrix<T, C, R> m = {}; \
    for (int c = 0; c < C; c++) m.columns[c] = a.columns[c] op b.columns[c]; \
    return m; \
  }
MSL_MATRIX_EACH(+)
MSL_MATRIX_EACH(-)
template <class T, int C, int R> MSL_FN constexpr matrix<T, C, R> operator-(const matrix<T, C, R>& a) { return a * T(-1); }
template <class T, int C, int R> MSL_FN constexpr matrix<T, C, R> operator*(const matrix<T, C, R>& a, T s) {
  matrix<T, C, R> m = {};
  for (int c = 0; c < C; c++) m.columns[c] = a.columns[c] * s;
  return m;
}
template <class T, int C, int R> MSL_FN constexpr matrix<T, C, R> operator*(T s, const matrix<T, C, R>& a) { return a * s; }
template <class T, int C, int R> MSL_FN constexpr vec<T, R> operator*(const matrix<T, C, R>& m, vec<T, C> v) {
  vec<T, R> r = m.columns[0] * (T)v[0];
  for (int c = 1; c < C; c++) r += m.columns[c] * (T)v[c];
  return r;
}
template <class T, int C, int R> MSL_FN constexpr vec<T, C> operator*(vec<T, R> v, const matrix<T, C, R>& m) {
  vec<T, C> r;
  for (int c = 0; c < C; c++) r[c] = dot(v, m.columns[c]);
  return r;
}
template <class T, int K, int R, int C> MSL_FN constexpr matrix<T, C, R> operator*(const matrix<T, K, R>& a, const matrix<T, C, K>& b) {
  matrix<T, C, R> m = {};
  for (int c = 0; c < C; c++) m.columns[c] = a * b.columns[c];
  return m;
}
template <class T, int C, int R> MSL_FN constexpr matrix<T, R, C> transpose(const matrix<T, C, R>& a) {
  matrix<T, R, C> m;
  for (int c = 0; c < C; c++)
    for (int r = 0; r < R; r++) m.columns[r][c] = a.columns[c][r];
  return m;
}
template <class T> MSL_FN constexpr T determinant(const matrix<T, 2, 2>& m) { return m[0][0] * m[1][1] - m[1][0] * m[0][1]; }
template <class T> MSL_FN constexpr T determinant(const matrix<T, 3, 3>& m) { return dot(m[0], cross(m[1], m[2])); }
template <class T> MSL_FN constexpr T determinant(const matrix<T, 4, 4>& m) {
  T d = 0;
  for (int c = 0; c < 4; c++) {
    vec<T, 3> k[3];
    for (int j = 0, n = 0; j < 4; j++)
      if (j != c) k[n++] = m[j].yzw;
    T minor = dot(k[0], cross(k[1], k[2]));
    d += (c & 1 ? -m[c][0] : m[c][0]) * minor;
  }
  return d;
}
} // namespace metal

// Cross-lane operations of a simdgroup, for the lane pass: what each msl_sy_*
// does to 32 lanes at once. Arguments and results are arrays of 32 elements;
// bit i of m says that lane i takes part. Results are written for those lanes
// only. This is plain code on purpose: it is what faster forms are checked
// against. Names beginning with msl_sg_ are the pass's.

typedef unsigned int msl_sg_u32;
typedef unsigned long msl_sg_u64;
typedef unsigned short msl_sg_u16;
typedef int msl_sg_i32;

#define MSL_SG extern "C" __attribute__((used, visibility("hidden"))) inline
#define MSL_SG_ARGS const void *a, const void *b, const void *c, void *r, msl_sg_u32 m
#define MSL_SG_EACH(i) for (msl_sg_u32 i = 0; i < 32; i++) if (m >> i & 1)

// Reductions, inclusive and exclusive prefixes, in a fixed order: a reduction
// joins each half of the lanes with the other half, then each quarter, and so on;
// a prefix takes in what stands 1, 2, 4, 8 and 16 lanes before. A lane that takes
// no part holds NONE, which leaves the other operand as it is.
#define MSL_SG_REDUCE(name, T, NONE, EX) \
  MSL_SG void msl_sg_##name(MSL_SG_ARGS) { \
    T v[32]; \
    for (msl_sg_u32 i = 0; i < 32; i++) v[i] = m >> i & 1 ? ((const T *)a)[i] : T(NONE); \
    for (msl_sg_u32 n = 16; n > 0; n /= 2) \
      for (msl_sg_u32 i = 0; i < n; i++) { T x = v[i], y = v[i + n]; v[i] = EX; } \
    MSL_SG_EACH(i) ((T *)r)[i] = v[0]; }
#define MSL_SG_SCAN(T, FIRST, EX) \
    T v[32]; \
    for (msl_sg_u32 i = 0; i < 32; i++) v[i] = m >> i & 1 ? ((const T *)a)[i] : T(FIRST); \
    for (msl_sg_u32 n = 1; n < 32; n *= 2) \
      for (msl_sg_u32 i = 32; i-- > 0;) { T x = i < n ? T(FIRST) : v[i - n], y = v[i]; v[i] = EX; }
#define MSL_SG_PREFIX(name, T, FIRST, EX) \
  MSL_SG void msl_sg_##name(MSL_SG_ARGS) { \
    MSL_SG_SCAN(T, FIRST, EX) \
    MSL_SG_EACH(i) ((T *)r)[i] = v[i]; }
#define MSL_SG_BEFORE(name, T, FIRST, EX) \
  MSL_SG void msl_sg_##name(MSL_SG_ARGS) { \
    MSL_SG_SCAN(T, FIRST, EX) \
    MSL_SG_EACH(i) ((T *)r)[i] = i ? v[i - 1] : T(FIRST); }

MSL_SG_REDUCE(fadd, float, -0.0f, x + y)
MSL_SG_REDUCE(fmul, float, 1.0f, x * y)
MSL_SG_REDUCE(fmax, float, __builtin_nanf(""), x < y || x != x ? y : x)
MSL_SG_REDUCE(fmin, float, __builtin_nanf(""), y < x || x != x ? y : x)
MSL_SG_REDUCE(iadd, msl_sg_u32, 0, x + y)
MSL_SG_REDUCE(imul, msl_sg_u32, 1, x * y)
MSL_SG_REDUCE(and, msl_sg_u32, ~0u, x & y)
MSL_SG_REDUCE(or, msl_sg_u32, 0, x | y)
MSL_SG_REDUCE(xor, msl_sg_u32, 0, x ^ y)
MSL_SG_REDUCE(smax, msl_sg_i32, -2147483647 - 1, x < y ? y : x)
MSL_SG_REDUCE(smin, msl_sg_i32, 2147483647, y < x ? y : x)
MSL_SG_REDUCE(umax, msl_sg_u32, 0, x < y ? y : x)
MSL_SG_REDUCE(umin, msl_sg_u32, ~0u, y < x ? y : x)
MSL_SG_PREFIX(fpadd, float, 0, x + y)
MSL_SG_PREFIX(fpmul, float, 1, x * y)
MSL_SG_PREFIX(ipadd, msl_sg_u32, 0, x + y)
MSL_SG_PREFIX(ipmul, msl_sg_u32, 1, x * y)
MSL_SG_BEFORE(fxadd, float, 0, x + y)
MSL_SG_BEFORE(fxmul, float, 1, x * y)
MSL_SG_BEFORE(ixadd, msl_sg_u32, 0, x + y)
MSL_SG_BEFORE(ixmul, msl_sg_u32, 1, x * y)

// Shuffles. A source that takes no part gives the lane its own value.
#define MSL_SG_SHUFFLE(name, T) \
  MSL_SG void msl_sg_##name(MSL_SG_ARGS) { \
    T v[32]; const msl_sg_u32 *q = (const msl_sg_u32 *)b; \
    MSL_SG_EACH(i) v[i] = ((const T *)a)[q[i] < 32 && (m >> q[i] & 1) ? q[i] : i]; \
    MSL_SG_EACH(i) ((T *)r)[i] = v[i]; }
#define MSL_SG_FROM(name, T, SRC) \
  MSL_SG void msl_sg_##name(MSL_SG_ARGS) { \
    if (!m) return; \
    msl_sg_u32 first = __builtin_ctz(m), q = SRC; \
    T v = ((const T *)a)[q < 32 && (m >> q & 1) ? q : first]; \
    MSL_SG_EACH(i) ((T *)r)[i] = v; }

MSL_SG_SHUFFLE(sh, msl_sg_u32)
MSL_SG_SHUFFLE(shl, msl_sg_u64)
MSL_SG_FROM(bc, msl_sg_u32, ((const msl_sg_u32 *)b)[first])
MSL_SG_FROM(bcl, msl_sg_u64, ((const msl_sg_u32 *)b)[first])
MSL_SG_FROM(first, msl_sg_u32, first)
MSL_SG_FROM(firstl, msl_sg_u64, first)

MSL_SG void msl_sg_ballot(MSL_SG_ARGS) {
  msl_sg_u32 x = 0;
  MSL_SG_EACH(i) x |= (msl_sg_u32)(((const msl_sg_u32 *)a)[i] != 0) << i;
  MSL_SG_EACH(i) ((msl_sg_u32 *)r)[i] = x;
}
MSL_SG void msl_sg_active(MSL_SG_ARGS) { MSL_SG_EACH(i) ((msl_sg_u32 *)r)[i] = m; }

// 8x8 matrices: lane l holds row ((l>>2)&4)+((l>>1)&3), columns ((l>>1)&4)+((l&1)<<1)
// and the next, packed into one integer with the first column low.
#define MSL_SG_ROW(l) ((((l) >> 2) & 4) + (((l) >> 1) & 3))
#define MSL_SG_COL(l) ((((l) >> 1) & 4) + (((l) & 1) << 1))

MSL_SG void msl_sg_mma(MSL_SG_ARGS) {
  float A[8][8], B[8][8], C[8][8];
  for (msl_sg_u32 l = 0; l < 32; l++)
    for (msl_sg_u32 e = 0; e < 2; e++) {
      msl_sg_u32 i = MSL_SG_ROW(l), j = MSL_SG_COL(l) + e;
      A[i][j] = ((const float *)a)[2 * l + e];
      B[i][j] = ((const float *)b)[2 * l + e];
      C[i][j] = ((const float *)c)[2 * l + e];
    }
  MSL_SG_EACH(l)
    for (msl_sg_u32 e = 0; e < 2; e++) {
      msl_sg_u32 i = MSL_SG_ROW(l), j = MSL_SG_COL(l) + e;
      float s = C[i][j];
      for (msl_sg_u32 k = 0; k < 8; k++) s = __builtin_fmaf(A[i][k], B[k][j], s);
      ((float *)r)[2 * l + e] = s;
    }
}

// Matrix loads and stores: address and row stride are the first lane's.
#define MSL_SG_LOAD(name, T, R, C) \
  MSL_SG void msl_sg_##name(MSL_SG_ARGS) { \
    if (!m) return; \
    msl_sg_u32 first = __builtin_ctz(m); \
    const T *p = ((const T *const *)a)[first]; msl_sg_u64 ld = ((const msl_sg_u64 *)b)[first]; \
    MSL_SG_EACH(l) for (msl_sg_u32 e = 0; e < 2; e++) { \
      msl_sg_u32 i = MSL_SG_ROW(l), j = MSL_SG_COL(l) + e; ((T *)r)[2 * l + e] = p[R * ld + C]; } }
#define MSL_SG_STORE(name, T, R, C) \
  MSL_SG void msl_sg_##name(MSL_SG_ARGS) { \
    if (!m) return; \
    msl_sg_u32 first = __builtin_ctz(m); \
    T *p = ((T *const *)b)[first]; msl_sg_u64 ld = ((const msl_sg_u64 *)c)[first]; \
    MSL_SG_EACH(l) for (msl_sg_u32 e = 0; e < 2; e++) { \
      msl_sg_u32 i = MSL_SG_ROW(l), j = MSL_SG_COL(l) + e; p[R * ld + C] = ((const T *)a)[2 * l + e]; } }
MSL_SG_LOAD(mld32, msl_sg_u32, i, j)
MSL_SG_LOAD(mld16, msl_sg_u16, i, j)
MSL_SG_LOAD(mldt32, msl_sg_u32, j, i)
MSL_SG_LOAD(mldt16, msl_sg_u16, j, i)
MSL_SG_STORE(mst32, msl_sg_u32, i, j)
MSL_SG_STORE(mst16, msl_sg_u16, i, j)
MSL_SG_STORE(mstt32, msl_sg_u32, j, i)
MSL_SG_STORE(mstt16, msl_sg_u16, j, i)

// What happens at a resume point: an operation with its arguments and result
// at these offsets in the frame, nothing (op null), or a threadgroup barrier.
struct msl_sg_cut { void (*op)(MSL_SG_ARGS); msl_sg_u64 a, b, c, r, barrier; };
typedef msl_sg_u32 msl_sg_lane(const void *g, msl_sg_u32 lane, msl_sg_u32 sg, void *frame, msl_sg_u32 pc);

// Runs a simdgroup in masked form: each lane by itself up to its next resume
// point, then the lanes at the earliest one together. Returns as msl_sgk does.
MSL_SG msl_sg_u32 msl_sg_drive(const void *g, msl_sg_u32 sg, msl_sg_u32 n, char *frame, msl_sg_u32 pc,
                               msl_sg_lane *run, const msl_sg_cut *cuts) {
  msl_sg_u32 *pcs = (msl_sg_u32 *)(frame + 448);
  if (pc == 0)
    for (msl_sg_u32 i = 0; i < 32; i++) pcs[i] = i < n ? 0 : 65535;
  for (;;) {
    for (msl_sg_u32 i = 0; i < 32; i++)
      if (pcs[i] == pc) {
        msl_sg_u32 to = run(g, i, sg, frame, pc);
        if (to == 65534) return to;
        pcs[i] = to;
      }
    msl_sg_u32 next = 65535, wait = 65535;
    for (msl_sg_u32 i = 0; i < 32; i++) {
      if (pcs[i] == 65535) continue;
      msl_sg_u32 *w = cuts[pcs[i]].barrier ? &wait : &next;
      if (pcs[i] < *w) *w = pcs[i];
    }
    if (next == 65535) return wait;
    msl_sg_u32 m = 0;
    for (msl_sg_u32 i = 0; i < 32; i++) m |= (msl_sg_u32)(pcs[i] == next) << i;
    const msl_sg_cut *k = &cuts[next];
    if (k->op) k->op(frame + k->a, frame + k->b, frame + k->c, frame + k->r, m);
    pc = next;
  }
}

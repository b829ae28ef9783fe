// What a one-lane test kernel is written against: the contract of package
// lanes and nothing more.
typedef unsigned int uint;
typedef unsigned long ulong;
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef float float2 __attribute__((ext_vector_type(2)));
typedef float float4 __attribute__((ext_vector_type(4)));
typedef float float8 __attribute__((ext_vector_type(8)));
typedef signed char char8 __attribute__((ext_vector_type(8)));

struct msl_tg {
  void *tgs;
  const volatile uint *stop;
  void *buf[31];
  void *tgm[31];
  uint tgp[3], tgd[3], ntg[3], grid[3], nsg;
};

#define SY extern "C" __attribute__((convergent, nomerge, nothrow))
SY float msl_sy_fadd(float); SY float msl_sy_fmul(float); SY float msl_sy_fmax(float); SY float msl_sy_fmin(float);
SY uint msl_sy_iadd(uint); SY uint msl_sy_imul(uint); SY uint msl_sy_and(uint); SY uint msl_sy_or(uint); SY uint msl_sy_xor(uint);
SY int msl_sy_smax(int); SY int msl_sy_smin(int); SY uint msl_sy_umax(uint); SY uint msl_sy_umin(uint);
SY float msl_sy_fpadd(float); SY float msl_sy_fpmul(float); SY float msl_sy_fxadd(float); SY float msl_sy_fxmul(float);
SY uint msl_sy_ipadd(uint); SY uint msl_sy_ipmul(uint); SY uint msl_sy_ixadd(uint); SY uint msl_sy_ixmul(uint);
SY uint msl_sy_sh(uint, uint); SY ulong msl_sy_shl(ulong, uint); SY uint msl_sy_bc(uint, uint); SY ulong msl_sy_bcl(ulong, uint);
SY uint msl_sy_first(uint); SY ulong msl_sy_firstl(ulong); SY uint msl_sy_ballot(uint); SY uint msl_sy_active(void);
SY void msl_sy_tgbar(void); SY void msl_sy_sgbar(void);
SY ulong msl_sy_mma(ulong, ulong, ulong);
SY ulong msl_sy_mld32(const void *, ulong); SY uint msl_sy_mld16(const void *, ulong);
SY ulong msl_sy_mldt32(const void *, ulong); SY uint msl_sy_mldt16(const void *, ulong);
SY void msl_sy_mst32(ulong, void *, ulong); SY void msl_sy_mst16(uint, void *, ulong);
SY void msl_sy_mstt32(ulong, void *, ulong); SY void msl_sy_mstt16(uint, void *, ulong);
extern "C" __attribute__((const, nothrow)) uint msl_lane(void);

#define KERNEL extern "C" __attribute__((visibility("default"))) void msl_entry(const msl_tg *g, uint lane, uint sg, uint x, uint y, uint z)
#define IN(T, n) ((const T *)g->buf[n])
#define OUT(T, n) ((T *)g->buf[n])
#define THREADGROUP static thread_local

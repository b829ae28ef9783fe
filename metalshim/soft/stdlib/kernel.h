// The frame of a kernel: what a threadgroup knows, and how one thread of it
// finds its arguments. The layout of msl_tg is that of the driver's runtime.
struct msl_tg {
  void* tgs;                 // static threadgroup memory
  const volatile uint* stop; // not 0: give up
  void* buf[31];             // [[buffer(n)]]
  void* tgm[31];             // [[threadgroup(n)]]
  uint tgp[3];               // threadgroup_position_in_grid
  uint tgd[3];               // threads_per_threadgroup of this threadgroup
  uint dtgd[3];              // dispatch_threads_per_threadgroup
  uint ntg[3];               // threadgroups_per_grid
  uint grid[3];              // threads_per_grid
  uint nsg, dnsg;            // simdgroups in this threadgroup, and in a full one
};
namespace msl_k {
enum { BUF, TGM, TPIG, TGPIG, TPITG, TPTG, DTPTG, TGPG, TPG, TIITG, TIISG, SGIITG, SGPTG, DSGPTG, TPSG, TIIQG, QGIITG, QGPTG, ORIGIN };
template <int Kind, int Index> struct A {};
struct where { const msl_tg* g; uint lane, sg, x, y, z; };

// to makes the parameter's type, scalar or vector, of up to three numbers.
template <class P> MSL_FN P to(uint x, uint y, uint z) {
  if constexpr (!metal::msl_v::is<P>) return (P)x;
  else {
    typedef metal::msl_v::el<P> E;
    P r = {};
    r[0] = (E)x;
    r[1] = (E)y;
    if constexpr (metal::msl_v::count<P> > 2) r[2] = (E)z;
    return r;
  }
}
template <class P, int Kind, int Index> struct arg {
  MSL_FN arg(const where&) {}
  MSL_FN P get(const where& w) {
    const msl_tg* g = w.g;
    if constexpr (Kind == TPIG) return to<P>(g->tgp[0] * g->dtgd[0] + w.x, g->tgp[1] * g->dtgd[1] + w.y, g->tgp[2] * g->dtgd[2] + w.z);
    else if constexpr (Kind == TGPIG) return to<P>(g->tgp[0], g->tgp[1], g->tgp[2]);
    else if constexpr (Kind == TPITG) return to<P>(w.x, w.y, w.z);
    else if constexpr (Kind == TPTG) return to<P>(g->tgd[0], g->tgd[1], g->tgd[2]);
    else if constexpr (Kind == DTPTG) return to<P>(g->dtgd[0], g->dtgd[1], g->dtgd[2]);
    else if constexpr (Kind == TGPG) return to<P>(g->ntg[0], g->ntg[1], g->ntg[2]);
    else if constexpr (Kind == TPG) return to<P>(g->grid[0], g->grid[1], g->grid[2]);
    else if constexpr (Kind == ORIGIN) return to<P>(0, 0, 0);
    else if constexpr (Kind == TIITG) return (P)(w.sg * 32 + w.lane);
    else if constexpr (Kind == TIISG) return (P)w.lane;
    else if constexpr (Kind == SGIITG) return (P)w.sg;
    else if constexpr (Kind == SGPTG) return (P)g->nsg;
    else if constexpr (Kind == DSGPTG) return (P)g->dnsg;
    else if constexpr (Kind == TPSG) return (P)32;
    else if constexpr (Kind == TIIQG) return (P)(w.lane & 3);
    else if constexpr (Kind == QGIITG) return (P)(w.sg * 8 + w.lane / 4);
    else if constexpr (Kind == QGPTG) return (P)((g->tgd[0] * g->tgd[1] * g->tgd[2] + 3) / 4);
    else static_assert(Kind == TPIG, "a buffer must be a pointer or a reference");
  }
};
template <class P, int Index> struct arg<P*, BUF, Index> {
  P* p;
  MSL_FN arg(const where& w) : p((P*)w.g->buf[Index]) {}
  MSL_FN P* get(const where&) { return p; }
};
template <class P, int Index> struct arg<P*, TGM, Index> {
  P* p;
  MSL_FN arg(const where& w) : p((P*)w.g->tgm[Index]) {}
  MSL_FN P* get(const where&) { return p; }
};
template <class P, int Index> struct arg<P&, TGM, Index> {
  P* p;
  MSL_FN arg(const where& w) : p((P*)w.g->tgm[Index]) {}
  MSL_FN P& get(const where&) { return *p; }
};
template <class P, int Index> struct arg<P&, BUF, Index> {
  P* p;
  MSL_FN arg(const where& w) : p((P*)w.g->buf[Index]) {}
  MSL_FN P& get(const where&) { return *p; }
};
// Small constants are copied once, so that nothing that is stored later can
// change them.
template <class P, bool small> struct constant_arg;
template <class P> struct constant_arg<P, true> {
  union { P v; };
  MSL_FN constant_arg(const void* p) { __builtin_memcpy(&v, p, sizeof(P)); }
  MSL_FN const P& get() { return v; }
};
template <class P> struct constant_arg<P, false> {
  const P* v;
  MSL_FN constant_arg(const void* p) : v((const P*)p) {}
  MSL_FN const P& get() { return *v; }
};
template <class P, int Index> struct arg<const P&, BUF, Index> {
  constant_arg<P, sizeof(P) <= 256 && __is_trivially_copyable(P)> c;
  MSL_FN arg(const where& w) : c(w.g->buf[Index]) {}
  MSL_FN const P& get(const where&) { return c.get(); }
};
template <auto F, class Type, class... As> struct thunk;
template <auto F, class R, class... P, int... Kind, int... Index> struct thunk<F, R (*)(P...), A<Kind, Index>...> {
  template <class... Args> static MSL_FN void one(const where& w, Args... a) { F(a.get(w)...); }
  static MSL_FN void run(const where& w) { one(w, arg<P, Kind, Index>(w)...); }
};
template <auto F, class... As> MSL_FN void call(const msl_tg* g, uint lane, uint sg, uint x, uint y, uint z) {
  thunk<F, decltype(F), As...>::run(where{g, lane, sg, x, y, z});
}

// What tells max_total_threads_per_threadgroup of a template that has overloads, or
// whose arguments follow from its parameters: a function of the same parameters
// returns it.
template <unsigned N> struct limit { static constexpr unsigned value = N; };
template <class T> T&& some();
template <class R, class... P> constexpr unsigned limit_of(R (*)(P...)) { return R::value; }
template <class F> struct limit_for;
template <class... P> struct limit_for<void(P...)> {
  template <class F> static constexpr unsigned value(F f) { return decltype(f(some<P>()...))::value; }
};
}

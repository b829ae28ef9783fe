package lanes

import "strings"

// roundToBfloat is what a processor without bfloat instructions needs: clang
// calls these functions of its runtime library, which is not linked. Both round
// to the nearest, to even when between, and keep what is no number.
const roundToBfloat = `define hidden bfloat @__truncsfbf2(float %x) #9900 {
  %u = bitcast float %x to i32
  %h = lshr i32 %u, 16
  %l = and i32 %h, 1
  %r = add i32 %l, 32767
  %s = add i32 %u, %r
  %t = lshr i32 %s, 16
  %q = or i32 %h, 64
  %n = fcmp uno float %x, 0.0
  %v = select i1 %n, i32 %q, i32 %t
  %w = trunc i32 %v to i16
  %b = bitcast i16 %w to bfloat
  ret bfloat %b
}
define hidden bfloat @__truncdfbf2(double %x) #9900 {
  %f = fptrunc double %x to float
  %b = call bfloat @__truncsfbf2(float %f)
  ret bfloat %b
}
@llvm.compiler.used = appending global [2 x ptr] [ptr @__truncsfbf2, ptr @__truncdfbf2], section "llvm.metadata"
`

// nativeBfloat says whether the target rounds to bfloat by an instruction.
func (f *function) nativeBfloat() bool {
	return strings.Contains(f.attrs, "+avx512bf16") || strings.Contains(f.attrs, "+bf16")
}

// bfloatSupport returns what text needs of roundToBfloat.
func (f *function) bfloatSupport(text string) string {
	if f.nativeBfloat() || !strings.Contains(text, "bfloat") {
		return ""
	}
	return roundToBfloat
}

// roundLanes rounds floats to bfloat, by integer instructions when the target
// has no better ones.
func (e *vectorEmitter) roundLanes(v string) string {
	if e.f.nativeBfloat() {
		return e.let("fptrunc <32 x float> %s to <32 x bfloat>", v)
	}
	const t = "<32 x i32>"
	u := e.let("bitcast <32 x float> %s to %s", v, t)
	h := e.let("lshr %s %s, splat (i32 16)", t, u)
	r := e.let("add %s %s, splat (i32 32767)", t, e.let("and %s %s, splat (i32 1)", t, h))
	s := e.let("lshr %s %s, splat (i32 16)", t, e.let("add %s %s, %s", t, u, r))
	q := e.let("or %s %s, splat (i32 64)", t, h)
	n := e.let("fcmp uno <32 x float> %s, zeroinitializer", v)
	w := e.let("select %s %s, %s %s, %s %s", maskType, n, t, q, t, s)
	return e.let("bitcast <32 x i16> %s to <32 x bfloat>", e.let("trunc %s %s to <32 x i16>", t, w))
}

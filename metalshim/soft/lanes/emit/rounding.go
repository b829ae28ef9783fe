package emit

import (
	"fmt"
	"strings"
)

// Conversions of 16-bit floats that clang calls functions of its runtime library
// for, where the processor has no instruction; that library is not linked. All
// round to the nearest, to even when between, and keep what is no number. None
// uses an instruction on floats that could flush a denormal number.
const (
	roundToBfloat = `define hidden bfloat @__truncsfbf2(float %x) #9900 {
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
`
	// A half is a float whose exponent counts from another zero; below 2^-14 it
	// counts units of 2^-24. A double goes by a float that was rounded to odd,
	// so that the second rounding sees what the first one lost.
	convertHalf = `define hidden float @__extendhfsf2(half %x) #9900 {
  %h = bitcast half %x to i16
  %u = zext i16 %h to i32
  %s = and i32 %u, 32768
  %sign = shl i32 %s, 16
  %a = and i32 %u, 32767
  %m = shl i32 %a, 13
  %normal = add i32 %m, 939524096
  %inf = or i32 %m, 2139095040
  %nan = or i32 %inf, 4194304
  %count = sitofp i32 %a to float
  %unit = fmul float %count, 0x3E70000000000000
  %small = bitcast float %unit to i32
  %is.small = icmp ult i32 %a, 1024
  %is.inf = icmp eq i32 %a, 31744
  %is.nan = icmp ugt i32 %a, 31744
  %r1 = select i1 %is.small, i32 %small, i32 %normal
  %r2 = select i1 %is.inf, i32 %inf, i32 %r1
  %r3 = select i1 %is.nan, i32 %nan, i32 %r2
  %r = or i32 %r3, %sign
  %f = bitcast i32 %r to float
  ret float %f
}
define hidden half @__truncsfhf2(float %x) #9900 {
  %u = bitcast float %x to i32
  %s = lshr i32 %u, 16
  %sign = and i32 %s, 32768
  %a = and i32 %u, 2147483647
  %m = lshr i32 %a, 13
  %odd = and i32 %m, 1
  %bias = add i32 %odd, -939520001
  %up = add i32 %a, %bias
  %normal = lshr i32 %up, 13
  %e = lshr i32 %a, 23
  %d = sub i32 126, %e
  %far = icmp ugt i32 %d, 25
  %shift = select i1 %far, i32 25, i32 %d
  %frac = and i32 %a, 8388607
  %full = or i32 %frac, 8388608
  %whole = lshr i32 %full, %shift
  %back = shl i32 %whole, %shift
  %rest = sub i32 %full, %back
  %below = sub i32 %shift, 1
  %middle = shl i32 1, %below
  %more = icmp ugt i32 %rest, %middle
  %tie = icmp eq i32 %rest, %middle
  %bit = trunc i32 %whole to i1
  %tied = and i1 %tie, %bit
  %add = or i1 %more, %tied
  %one = zext i1 %add to i32
  %small = add i32 %whole, %one
  %payload = and i32 %m, 1023
  %nan = or i32 %payload, 32256
  %is.small = icmp ult i32 %a, 947912704
  %is.inf = icmp uge i32 %a, 1199566848
  %is.nan = icmp ugt i32 %a, 2139095040
  %r1 = select i1 %is.small, i32 %small, i32 %normal
  %r2 = select i1 %is.inf, i32 31744, i32 %r1
  %r3 = select i1 %is.nan, i32 %nan, i32 %r2
  %r = or i32 %r3, %sign
  %w = trunc i32 %r to i16
  %h = bitcast i16 %w to half
  ret half %h
}
define hidden half @__truncdfhf2(double %x) #9900 {
  %near = fptrunc double %x to float
  %again = fpext float %near to double
  %xb = bitcast double %x to i64
  %gb = bitcast double %again to i64
  %xa = and i64 %xb, 9223372036854775807
  %ga = and i64 %gb, 9223372036854775807
  %same = icmp eq i64 %xa, %ga
  %over = icmp ugt i64 %ga, %xa
  %none = fcmp uno double %x, 0.0
  %n = bitcast float %near to i32
  %back = sext i1 %over to i32
  %down = add i32 %n, %back
  %odd = or i32 %down, 1
  %keep = or i1 %same, %none
  %r = select i1 %keep, i32 %n, i32 %odd
  %f = bitcast i32 %r to float
  %h = call half @__truncsfhf2(float %f)
  ret half %h
}
`
)

// conversions returns what text may need of them. They are kept though nothing
// names them before the code generator does.
func conversions(text string) string {
	var b strings.Builder
	var names []string
	if strings.Contains(text, "bfloat") {
		b.WriteString(roundToBfloat)
		names = append(names, "ptr @__truncsfbf2", "ptr @__truncdfbf2")
	}
	if strings.Contains(text, "half") {
		b.WriteString(convertHalf)
		names = append(names, "ptr @__extendhfsf2", "ptr @__truncsfhf2", "ptr @__truncdfhf2")
	}
	if len(names) == 0 {
		return ""
	}
	fmt.Fprintf(&b, "@llvm.compiler.used = appending global [%d x ptr] [%s], section \"llvm.metadata\"\n", len(names), strings.Join(names, ", "))
	return b.String()
}

// roundLanes rounds floats to bfloat by integer instructions: those for bfloat
// that some processors have treat denormal numbers in another way.
func (e *vectorEmitter) roundLanes(v string) string {
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

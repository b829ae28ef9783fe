package analysis

import (
	"math/bits"
	"strconv"

	"github.com/introgen/introgen/metalshim/soft/lanes/ir"
)

// ShapeKind says how a value differs from lane to lane.
type ShapeKind uint8

const (
	unknown ShapeKind = iota // not looked at yet; fits everything
	Offset                   // a scalar base plus a constant of each lane
	Pseudo                   // varying, but an address made of it is offset from the first active lane's
	Varying                  // anything
)

// LaneConsts are one number for each lane.
type LaneConsts [32]int64

// Shape describes a value over the lanes. With kind Offset, lane i has base +
// C[i] (modulo the type's width), where base is a scalar of the same type; C is
// nil where all are zero: a uniform value. A Pseudo value has C too: for any two
// active lanes i and j that use it in one address, value(i) - value(j) = C[i] -
// C[j].
type Shape struct {
	Kind  ShapeKind
	C     *LaneConsts
	Const bool   // the base is the number K
	K     int64  // sign-extended
	hi    uint64 // the base, taken unsigned, is at most this
	exact bool   // base + C[i], taken unsigned, does not wrap in any lane
	zeros int    // so many low bits of the base are zero
}

const anyValue = ^uint64(0)

var (
	shapeVarying = Shape{Kind: Varying}
	shapeUniform = Shape{Kind: Offset, hi: anyValue, exact: true}
)

// Uniform says whether the value is the same in all lanes.
func (s Shape) Uniform() bool { return s.Kind == Offset && s.C == nil }

func constShape(k int64, width int) Shape {
	return Shape{Kind: Offset, Const: true, K: Signed(k, width), hi: unsigned(k, width), exact: true, zeros: lowZeros(k)}
}

func lowZeros(k int64) int { return bits.TrailingZeros64(uint64(k)) }

// lanesShape is the shape of a value known in every lane. Lane 0's is the base,
// so that values that run in step have the same lane numbers.
func lanesShape(c LaneConsts, width int) Shape {
	first := Signed(c[0], width)
	same := true
	for i := range c {
		c[i] = Signed(c[i], width) - first
		same = same && c[i] == 0
	}
	if same {
		return constShape(first, width)
	}
	r := Shape{Kind: Offset, Const: true, K: first, C: &c, hi: unsigned(first, width), zeros: lowZeros(first)}
	r.exact = r.fits(width)
	return r
}

// At returns a value that is known in every lane, sign-extended.
func (s Shape) At(lane int) int64 {
	if s.C == nil {
		return s.K
	}
	return s.K + s.C[lane]
}

// Signed is a number of so many bits with its sign.
func Signed(v int64, width int) int64 {
	if width >= 64 {
		return v
	}
	return v << (64 - width) >> (64 - width)
}

func unsigned(v int64, width int) uint64 {
	if width >= 64 {
		return uint64(v)
	}
	return uint64(v) & (1<<width - 1)
}

// meet returns the shape of a value that is a or b, the same one in all lanes.
func meet(a, b Shape) Shape {
	switch {
	case a.Kind == unknown:
		return b
	case b.Kind == unknown:
		return a
	case a.Kind != Offset || b.Kind != Offset || !sameConsts(a.C, b.C):
		return shapeVarying
	}
	if a.Const && b.Const && a.K == b.K {
		return a
	}
	return Shape{Kind: Offset, C: a.C, hi: max(a.hi, b.hi), exact: a.exact && b.exact, zeros: min(a.zeros, b.zeros)}
}

func sameConsts(a, b *LaneConsts) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// widen returns the shape after was that both was and now allow. A bound that
// still grows is given up, so that the analysis ends.
func (was Shape) widen(now Shape) Shape {
	switch {
	case was.Kind == unknown || now.Kind > was.Kind:
		return now
	case now.Kind < was.Kind || was.Kind == Varying:
		return was
	case !sameConsts(was.C, now.C):
		return shapeVarying
	}
	r := now
	if now.hi > was.hi {
		r.hi = anyValue
	}
	if !was.Const || now.K != was.K {
		r.Const, r.K = false, 0
	}
	r.exact = was.exact && now.exact
	r.hi = max(r.hi, was.hi)
	r.zeros = min(was.zeros, now.zeros)
	return r
}

func (a Shape) equal(b Shape) bool {
	return a.Kind == b.Kind && sameConsts(a.C, b.C) && a.Const == b.Const && a.K == b.K && a.hi == b.hi && a.exact == b.exact && a.zeros == b.zeros
}

// combine returns the lane numbers f(a[i], b[i]), nil when all are zero.
func combine(a, b *LaneConsts, width int, f func(x, y int64) int64) *LaneConsts {
	if a == nil && b == nil {
		return nil
	}
	var r LaneConsts
	zero := true
	for i := range r {
		var x, y int64
		if a != nil {
			x = a[i]
		}
		if b != nil {
			y = b[i]
		}
		r[i] = Signed(f(x, y), width)
		zero = zero && r[i] == 0
	}
	if zero {
		return nil
	}
	return &r
}

// Span returns the least and greatest of the lane numbers.
func (c *LaneConsts) Span() (lo, hi int64) {
	if c == nil {
		return 0, 0
	}
	lo, hi = c[0], c[0]
	for _, v := range c {
		lo, hi = min(lo, v), max(hi, v)
	}
	return lo, hi
}

// Linear returns k when lane i's number is first + i*k.
func (c *LaneConsts) Linear() (k int64, ok bool) {
	if c == nil {
		return 0, true
	}
	k = c[1] - c[0]
	for i := range c {
		if c[i] != c[0]+int64(i)*k {
			return 0, false
		}
	}
	return k, true
}

// sum is the shape of a + b, or of a - b when minus is set.
func sum(a, b Shape, width int, minus, noWrap bool) Shape {
	op := func(x, y int64) int64 { return x + y }
	if minus {
		op = func(x, y int64) int64 { return x - y }
	}
	if a.Kind == Varying || b.Kind == Varying {
		return shapeVarying
	}
	r := Shape{Kind: max(a.Kind, b.Kind), C: combine(a.C, b.C, width, op), hi: anyValue}
	if r.Kind == Pseudo {
		return r
	}
	if a.Const && b.Const {
		r.Const, r.K = true, Signed(op(a.K, b.K), width)
		if r.C == nil {
			return constShape(r.K, width)
		}
	}
	if !minus {
		if h, carry := bits.Add64(a.hi, b.hi, 0); carry == 0 && h <= unsigned(-1, width) {
			r.hi = h
		}
	}
	r.exact = r.C == nil || noWrap && !minus || r.fits(width)
	r.zeros = min(a.zeros, b.zeros)
	return r
}

// fits says whether the bound on the base shows that no lane wraps.
func (s Shape) fits(width int) bool {
	lo, hi := s.C.Span()
	if s.Const {
		return s.K+lo >= 0 && (width > 62 || s.K+hi < 1<<width)
	}
	return lo >= 0 && s.hi < 1<<62 && (width > 62 || s.hi+uint64(hi) < 1<<width)
}

// scaled is the shape of a * k.
func scaled(a Shape, k int64, width int, noWrap bool) Shape {
	if a.Kind == Varying {
		return shapeVarying
	}
	if k == 0 {
		return constShape(0, width)
	}
	r := Shape{Kind: a.Kind, C: combine(a.C, nil, width, func(x, _ int64) int64 { return x * k }), hi: anyValue}
	if a.Kind == Pseudo {
		return r
	}
	if a.Const {
		r.Const, r.K = true, Signed(a.K*k, width)
		if r.C == nil {
			return constShape(r.K, width)
		}
	}
	if k > 0 {
		if over, h := bits.Mul64(a.hi, uint64(k)); over == 0 && h <= unsigned(-1, width) {
			r.hi = h
		}
	}
	r.exact = r.C == nil || noWrap && a.exact || r.fits(width)
	r.zeros = min(a.zeros+lowZeros(k), width)
	return r
}

// bitwise computes and, or, xor and shifts right with a constant when the base
// and the lanes' numbers use different bits: lanes then only touch the low ones.
func bitwise(op string, a Shape, k int64, width int) (Shape, bool) {
	lo, hi := a.C.Span()
	if lo < 0 || a.zeros >= 62 || hi >= 1<<a.zeros {
		return Shape{}, false
	}
	r := Shape{Kind: Offset, hi: anyValue, exact: true}
	low := k & (1<<a.zeros - 1)
	switch op {
	case "and":
		r.C = combine(a.C, nil, width, func(x, _ int64) int64 { return x & low })
		r.hi, r.zeros = min(a.hi, unsigned(k, width)), a.zeros
	case "or":
		r.C = combine(a.C, nil, width, func(x, _ int64) int64 { return (x | low) - low })
	case "xor":
		r.C = combine(a.C, nil, width, func(x, _ int64) int64 { return (x ^ low) - low })
		r.exact = r.C == nil
	case "lshr", "ashr":
		if k < 0 || k >= int64(width) || op == "ashr" && a.hi >= 1<<(width-1) {
			return Shape{}, false
		}
		r.C = combine(a.C, nil, width, func(x, _ int64) int64 { return x >> k })
		r.hi, r.zeros = min(a.hi, unsigned(-1, width))>>uint64(k), max(a.zeros-int(k), 0)
	default:
		return Shape{}, false
	}
	return r, true
}

// Known says whether every lane's value is a number.
func (s Shape) Known() bool { return s.Kind == Offset && s.Const }

// fold computes an integer operation on values known in every lane.
func fold(op string, a, b Shape, width int) (Shape, bool) {
	var r LaneConsts
	for i := range r {
		x, y := a.At(i), b.At(i)
		ux, uy := unsigned(x, width), unsigned(y, width)
		switch op {
		case "add":
			r[i] = x + y
		case "sub":
			r[i] = x - y
		case "mul":
			r[i] = x * y
		case "and":
			r[i] = x & y
		case "or":
			r[i] = x | y
		case "xor":
			r[i] = x ^ y
		case "shl", "lshr", "ashr":
			if uy >= uint64(width) {
				return Shape{}, false
			}
			switch op {
			case "shl":
				r[i] = x << uy
			case "lshr":
				r[i] = int64(ux >> uy)
			default:
				r[i] = Signed(x, width) >> uy
			}
		case "udiv", "urem":
			if uy == 0 {
				return Shape{}, false
			}
			r[i] = int64(ux / uy)
			if op == "urem" {
				r[i] = int64(ux % uy)
			}
		case "sdiv", "srem":
			if y == 0 || y == -1 {
				return Shape{}, false
			}
			r[i] = Signed(x, width) / Signed(y, width)
			if op == "srem" {
				r[i] = Signed(x, width) % Signed(y, width)
			}
		default:
			return Shape{}, false
		}
	}
	return lanesShape(r, width), true
}

// constantShape is the shape of a constant operand.
func constantShape(a *ir.Operand) Shape {
	if a.Type.Kind == ir.Int && a.Type.Bits <= 64 {
		switch a.Text {
		case "true":
			return constShape(1, a.Type.Bits)
		case "false", "zeroinitializer":
			return constShape(0, a.Type.Bits)
		}
		if k, err := strconv.ParseInt(a.Text, 10, 64); err == nil {
			return constShape(k, a.Type.Bits)
		}
	}
	return shapeUniform
}

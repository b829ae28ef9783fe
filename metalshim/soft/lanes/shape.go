package lanes

import (
	"math/bits"
	"strconv"
)

// shapeKind says how a value differs from lane to lane.
type shapeKind uint8

const (
	unknown shapeKind = iota // not looked at yet; fits everything
	offset                   // a scalar base plus a constant of each lane
	pseudo                   // varying, but an address made of it is offset from the first active lane's
	varying                  // anything
)

// laneConsts are one number for each lane.
type laneConsts [32]int64

// shape describes a value over the lanes. With kind offset, lane i has base +
// c[i] (modulo the type's width), where base is a scalar of the same type;
// c == nil means all zero: a uniform value. A pseudo value has c too: for any
// two active lanes i and j that use it in one address, value(i) - value(j) =
// c[i] - c[j].
type shape struct {
	kind  shapeKind
	c     *laneConsts
	konst bool   // the base is the number k
	k     int64  // sign-extended
	hi    uint64 // the base, taken unsigned, is at most this
	exact bool   // base + c[i], taken unsigned, does not wrap in any lane
	zeros int    // so many low bits of the base are zero
}

const anyValue = ^uint64(0)

var (
	shapeVarying = shape{kind: varying}
	shapeUniform = shape{kind: offset, hi: anyValue, exact: true}
)

func (s shape) uniform() bool { return s.kind == offset && s.c == nil }

func constShape(k int64, width int) shape {
	return shape{kind: offset, konst: true, k: signed(k, width), hi: unsigned(k, width), exact: true, zeros: lowZeros(k)}
}

func lowZeros(k int64) int { return bits.TrailingZeros64(uint64(k)) }

// lanesShape is the shape of a value known in every lane. Lane 0's is the base,
// so that values that run in step have the same lane numbers.
func lanesShape(c laneConsts, width int) shape {
	first := signed(c[0], width)
	same := true
	for i := range c {
		c[i] = signed(c[i], width) - first
		same = same && c[i] == 0
	}
	if same {
		return constShape(first, width)
	}
	r := shape{kind: offset, konst: true, k: first, c: &c, hi: unsigned(first, width), zeros: lowZeros(first)}
	r.exact = r.fits(width)
	return r
}

// at returns a value that is known in every lane, sign-extended.
func (s shape) at(lane int) int64 {
	if s.c == nil {
		return s.k
	}
	return s.k + s.c[lane]
}

func signed(v int64, width int) int64 {
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
func meet(a, b shape) shape {
	switch {
	case a.kind == unknown:
		return b
	case b.kind == unknown:
		return a
	case a.kind != offset || b.kind != offset || !sameConsts(a.c, b.c):
		return shapeVarying
	}
	if a.konst && b.konst && a.k == b.k {
		return a
	}
	return shape{kind: offset, c: a.c, hi: max(a.hi, b.hi), exact: a.exact && b.exact, zeros: min(a.zeros, b.zeros)}
}

func sameConsts(a, b *laneConsts) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// widen returns the shape after was that both was and now allow. A bound that
// still grows is given up, so that the analysis ends.
func (was shape) widen(now shape) shape {
	switch {
	case was.kind == unknown || now.kind > was.kind:
		return now
	case now.kind < was.kind || was.kind == varying:
		return was
	case !sameConsts(was.c, now.c):
		return shapeVarying
	}
	r := now
	if now.hi > was.hi {
		r.hi = anyValue
	}
	if !was.konst || now.k != was.k {
		r.konst, r.k = false, 0
	}
	r.exact = was.exact && now.exact
	r.hi = max(r.hi, was.hi)
	r.zeros = min(was.zeros, now.zeros)
	return r
}

func (a shape) equal(b shape) bool {
	return a.kind == b.kind && sameConsts(a.c, b.c) && a.konst == b.konst && a.k == b.k && a.hi == b.hi && a.exact == b.exact && a.zeros == b.zeros
}

// combine returns the lane numbers f(a[i], b[i]), nil when all are zero.
func combine(a, b *laneConsts, width int, f func(x, y int64) int64) *laneConsts {
	if a == nil && b == nil {
		return nil
	}
	var r laneConsts
	zero := true
	for i := range r {
		var x, y int64
		if a != nil {
			x = a[i]
		}
		if b != nil {
			y = b[i]
		}
		r[i] = signed(f(x, y), width)
		zero = zero && r[i] == 0
	}
	if zero {
		return nil
	}
	return &r
}

// span returns the least and greatest of the lane numbers.
func (c *laneConsts) span() (lo, hi int64) {
	if c == nil {
		return 0, 0
	}
	lo, hi = c[0], c[0]
	for _, v := range c {
		lo, hi = min(lo, v), max(hi, v)
	}
	return lo, hi
}

// linear returns k when lane i's number is first + i*k.
func (c *laneConsts) linear() (k int64, ok bool) {
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
func sum(a, b shape, width int, minus, noWrap bool) shape {
	op := func(x, y int64) int64 { return x + y }
	if minus {
		op = func(x, y int64) int64 { return x - y }
	}
	if a.kind == varying || b.kind == varying {
		return shapeVarying
	}
	r := shape{kind: max(a.kind, b.kind), c: combine(a.c, b.c, width, op), hi: anyValue}
	if r.kind == pseudo {
		return r
	}
	if a.konst && b.konst {
		r.konst, r.k = true, signed(op(a.k, b.k), width)
		if r.c == nil {
			return constShape(r.k, width)
		}
	}
	if !minus {
		if h, carry := bits.Add64(a.hi, b.hi, 0); carry == 0 && h <= unsigned(-1, width) {
			r.hi = h
		}
	}
	r.exact = r.c == nil || noWrap && !minus || r.fits(width)
	r.zeros = min(a.zeros, b.zeros)
	return r
}

// fits says whether the bound on the base shows that no lane wraps.
func (s shape) fits(width int) bool {
	lo, hi := s.c.span()
	if s.konst {
		return s.k+lo >= 0 && (width > 62 || s.k+hi < 1<<width)
	}
	return lo >= 0 && s.hi < 1<<62 && (width > 62 || s.hi+uint64(hi) < 1<<width)
}

// scaled is the shape of a * k.
func scaled(a shape, k int64, width int, noWrap bool) shape {
	if a.kind == varying {
		return shapeVarying
	}
	if k == 0 {
		return constShape(0, width)
	}
	r := shape{kind: a.kind, c: combine(a.c, nil, width, func(x, _ int64) int64 { return x * k }), hi: anyValue}
	if a.kind == pseudo {
		return r
	}
	if a.konst {
		r.konst, r.k = true, signed(a.k*k, width)
		if r.c == nil {
			return constShape(r.k, width)
		}
	}
	if k > 0 {
		if over, h := bits.Mul64(a.hi, uint64(k)); over == 0 && h <= unsigned(-1, width) {
			r.hi = h
		}
	}
	r.exact = r.c == nil || noWrap && a.exact || r.fits(width)
	r.zeros = min(a.zeros+lowZeros(k), width)
	return r
}

// bitwise computes and, or, xor and shifts right with a constant when the base
// and the lanes' numbers use different bits: lanes then only touch the low ones.
func bitwise(op string, a shape, k int64, width int) (shape, bool) {
	lo, hi := a.c.span()
	if lo < 0 || a.zeros >= 62 || hi >= 1<<a.zeros {
		return shape{}, false
	}
	r := shape{kind: offset, hi: anyValue, exact: true}
	low := k & (1<<a.zeros - 1)
	switch op {
	case "and":
		r.c = combine(a.c, nil, width, func(x, _ int64) int64 { return x & low })
		r.hi, r.zeros = min(a.hi, unsigned(k, width)), a.zeros
	case "or":
		r.c = combine(a.c, nil, width, func(x, _ int64) int64 { return (x | low) - low })
	case "xor":
		r.c = combine(a.c, nil, width, func(x, _ int64) int64 { return (x ^ low) - low })
		r.exact = r.c == nil
	case "lshr", "ashr":
		if k < 0 || k >= int64(width) || op == "ashr" && a.hi >= 1<<(width-1) {
			return shape{}, false
		}
		r.c = combine(a.c, nil, width, func(x, _ int64) int64 { return x >> k })
		r.hi, r.zeros = min(a.hi, unsigned(-1, width))>>uint64(k), max(a.zeros-int(k), 0)
	default:
		return shape{}, false
	}
	return r, true
}

// known says whether every lane's value is a number.
func (s shape) known() bool { return s.kind == offset && s.konst }

// fold computes an integer operation on values known in every lane.
func fold(op string, a, b shape, width int) (shape, bool) {
	var r laneConsts
	for i := range r {
		x, y := a.at(i), b.at(i)
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
				return shape{}, false
			}
			switch op {
			case "shl":
				r[i] = x << uy
			case "lshr":
				r[i] = int64(ux >> uy)
			default:
				r[i] = signed(x, width) >> uy
			}
		case "udiv", "urem":
			if uy == 0 {
				return shape{}, false
			}
			r[i] = int64(ux / uy)
			if op == "urem" {
				r[i] = int64(ux % uy)
			}
		case "sdiv", "srem":
			if y == 0 || y == -1 {
				return shape{}, false
			}
			r[i] = signed(x, width) / signed(y, width)
			if op == "srem" {
				r[i] = signed(x, width) % signed(y, width)
			}
		default:
			return shape{}, false
		}
	}
	return lanesShape(r, width), true
}

// constantShape is the shape of a constant operand.
func constantShape(a *operand) shape {
	if a.typ.kind == kInt && a.typ.bits <= 64 {
		switch a.text {
		case "true":
			return constShape(1, a.typ.bits)
		case "false", "zeroinitializer":
			return constShape(0, a.typ.bits)
		}
		if k, err := strconv.ParseInt(a.text, 10, 64); err == nil {
			return constShape(k, a.typ.bits)
		}
	}
	return shapeUniform
}

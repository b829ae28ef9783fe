package jinja

import (
	"math"
	"math/bits"
	"strings"
)

// binary is an operator of arithmetic, as Python has it.
func (r *run) binary(op string, a, b any) any {
	r.defined(a, b)
	if s, ok := text(a); ok && op == "%" {
		return like(a, r.printf(s, b))
	}
	if v, ok := r.joined(op, a, b); ok {
		return v
	}
	i, x, aWhole, ok1 := number(a)
	j, y, bWhole, ok2 := number(b)
	if !ok1 || !ok2 {
		r.fail("unsupported operand type(s) for %s: '%s' and '%s'", op, typeName(a), typeName(b))
	}
	if (op == "/" || op == "//" || op == "%") && y == 0 {
		r.fail("division by zero")
	}
	if aWhole && bWhole && op != "/" && !(op == "**" && j < 0) {
		return r.whole(op, i, j)
	}
	switch op {
	case "+":
		return x + y
	case "-":
		return x - y
	case "*":
		return x * y
	case "/":
		return x / y
	case "//":
		return math.Floor(x / y)
	case "%":
		m := math.Mod(x, y)
		if m != 0 && (m < 0) != (y < 0) {
			m += y
		}
		return m
	}
	return math.Pow(x, y)
}

// joined is + and * of texts and lists.
func (r *run) joined(op string, a, b any) (any, bool) {
	switch op {
	case "+":
		if s, ok := text(a); ok {
			if t, ok := text(b); ok {
				return r.plus(a, b, s, t), true
			}
		}
		p, ok1 := a.(*Seq)
		q, ok2 := b.(*Seq)
		if ok1 && ok2 && p.kind == q.kind && p.kind <= tuple {
			r.grow(16 * (len(p.items) + len(q.items)))
			return &Seq{kind: p.kind, items: append(append([]any(nil), p.items...), q.items...)}, true
		}
	case "*":
		if _, _, _, ok := number(a); ok {
			a, b = b, a
		}
		n, _, whole, ok := number(b)
		if !ok || !whole {
			return nil, false
		}
		if s, ok := text(a); ok {
			return like(a, strings.Repeat(s, r.times(n, len(s)))), true
		}
		if q, ok := a.(*Seq); ok && q.kind <= tuple {
			out := &Seq{kind: q.kind}
			for range r.times(n, 16*len(q.items)) {
				out.items = append(out.items, q.items...)
			}
			return out, true
		}
	}
	return nil, false
}

// plus joins two texts; where one is marked, the other is escaped.
func (r *run) plus(a, b any, s, t string) any {
	_, m1 := a.(markup)
	_, m2 := b.(markup)
	if !m1 && !m2 {
		r.grow(len(s) + len(t))
		return s + t
	}
	if !m1 {
		s = escape(s)
	}
	if !m2 {
		t = escape(t)
	}
	r.grow(len(s) + len(t))
	return markup(s + t)
}

// times is how often n bytes are to be repeated, at least never.
func (r *run) times(count int64, n int) int {
	if count <= 0 || n == 0 {
		return 0
	}
	if count > int64(r.Limits.Bytes/n) {
		r.grow(-1)
	}
	r.grow(int(count) * n)
	return int(count)
}

// whole is arithmetic of whole numbers. Python's have no bounds; here, one beyond
// 64 bits is an error.
func (r *run) whole(op string, i, j int64) any {
	var out int64
	fits := true
	switch op {
	case "+":
		out = i + j
		fits = (out > i) == (j > 0)
	case "-":
		out = i - j
		fits = (out < i) == (j > 0)
	case "*":
		out, fits = product(i, j)
	case "//", "%":
		if i == math.MinInt64 && j == -1 {
			fits = op == "%"
			break
		}
		q, m := i/j, i%j
		if m != 0 && (m < 0) != (j < 0) {
			q, m = q-1, m+j
		}
		if out = q; op == "%" {
			out = m
		}
	case "**":
		out = 1
		for n := j; n > 0 && fits && !(i == 0 || i == 1); n-- {
			if i == -1 {
				n %= 2
				if n == 0 {
					break
				}
			}
			out, fits = product(out, i)
		}
		if j > 0 && (i == 0 || i == 1) {
			out = i
		}
	}
	if !fits {
		r.fail("a number is beyond 64 bits")
	}
	return out
}

func product(i, j int64) (int64, bool) {
	if i == 0 || j == 0 {
		return 0, true
	}
	hi, lo := bits.Mul64(magnitude(i), magnitude(j))
	if negative := (i < 0) != (j < 0); hi == 0 && negative && lo <= 1<<63 {
		return -int64(lo), true
	} else if hi == 0 && !negative && lo < 1<<63 {
		return int64(lo), true
	}
	return 0, false
}

func magnitude(i int64) uint64 {
	if i < 0 {
		return -uint64(i)
	}
	return uint64(i)
}

// compared is a comparison's answer.
func (r *run) compared(op string, a, b any) bool {
	switch op {
	case "==":
		return r.equal(a, b)
	case "!=":
		return !r.equal(a, b)
	case "in":
		return r.contains(b, a)
	case "not in":
		return !r.contains(b, a)
	case "<":
		return r.order(op, a, b) < 0
	case "<=":
		return r.order(op, a, b) <= 0
	case ">":
		return r.order(op, b, a) < 0
	}
	return r.order(op, b, a) <= 0
}

func (r *run) equal(a, b any) bool {
	defer r.deeper(maxNested)()
	r.step(1)
	if s, ok := text(a); ok {
		t, ok := text(b)
		r.work(min(len(s), len(t)))
		return ok && s == t
	}
	if i, x, aWhole, ok := number(a); ok {
		j, y, bWhole, ok := number(b)
		if aWhole && bWhole {
			return ok && i == j
		}
		return ok && x == y
	}
	switch a := a.(type) {
	case nil:
		return b == nil
	case *undefined:
		r.strict(a)
		_, ok := b.(*undefined)
		return ok
	case *Seq:
		b, ok := b.(*Seq)
		if !ok || a.kind != b.kind || a.kind == generator || a.kind == valuesView {
			return ok && a == b
		}
		if len(a.items) != len(b.items) {
			return false
		}
		for i := range a.items {
			if !r.equal(a.items[i], b.items[i]) {
				return false
			}
		}
		return true
	case *Dict:
		b, ok := b.(*Dict)
		if !ok || len(a.keys) != len(b.keys) {
			return false
		}
		for i, k := range a.keys {
			v, ok := r.find(b, k)
			if !ok || !r.equal(a.values[i], v) {
				return false
			}
		}
		return true
	}
	return a == b
}

// order is below, at or above 0 as a is below, at or above b; where neither holds,
// as of NaN, it is 1.
func (r *run) order(op string, a, b any) int {
	defer r.deeper(maxNested)()
	r.step(1)
	r.defined(a, b)
	if s, ok := text(a); ok {
		if t, ok := text(b); ok {
			r.work(min(len(s), len(t)))
			return strings.Compare(s, t)
		}
	}
	i, x, aWhole, ok1 := number(a)
	j, y, bWhole, ok2 := number(b)
	if ok1 && ok2 {
		switch {
		case aWhole && bWhole && i < j, !(aWhole && bWhole) && x < y:
			return -1
		case aWhole && bWhole && i == j, !(aWhole && bWhole) && x == y:
			return 0
		}
		return 1
	}
	p, ok1 := a.(*Seq)
	q, ok2 := b.(*Seq)
	if ok1 && ok2 && p.kind == q.kind && p.kind <= tuple {
		for k := range min(len(p.items), len(q.items)) {
			if !r.equal(p.items[k], q.items[k]) {
				return r.order(op, p.items[k], q.items[k])
			}
		}
		return len(p.items) - len(q.items)
	}
	if op == ">" || op == ">=" {
		a, b = b, a
	}
	r.fail("'%s' not supported between instances of '%s' and '%s'", op, typeName(a), typeName(b))
	return 0
}

// contains is whether v is in the container.
func (r *run) contains(container, v any) bool {
	switch c := container.(type) {
	case string, markup:
		s, _ := text(c)
		part, ok := text(v)
		if !ok {
			r.defined(v)
			r.fail("'in <string>' requires string as left operand, not %s", typeName(v))
		}
		r.work(len(s))
		return strings.Contains(s, part)
	case *Dict:
		_, ok := r.find(c, v)
		return ok
	}
	for _, one := range r.iterate(container) {
		if r.equal(one, v) {
			return true
		}
	}
	return false
}

// noIndex is thrown where a slice's bound is no number, which jinja2 takes for an
// item that is not there.
type noIndex struct{}

// slice is v[from:to:step].
func (r *run) slice(v any, cut *slicing, s *scope) (out any) {
	r.defined(v)
	defer func() {
		switch p := recover().(type) {
		case nil:
		case noIndex:
			out = missing(v, nil)
		default:
			panic(p)
		}
	}()
	var runes []rune
	seq, _ := v.(*Seq)
	n := 0
	if t, ok := text(v); ok {
		r.grow(4 * len(t))
		runes = []rune(t)
		n = len(runes)
	} else if seq != nil && seq.indexed() {
		n = len(seq.items)
	} else {
		return missing(v, nil)
	}
	step := r.bound(cut.step, s, 1)
	if step == 0 {
		r.fail("slice step cannot be zero")
	}
	from, to := r.bounds(cut, s, int64(n), step)
	var at []int
	for i := from; step > 0 && i < to || step < 0 && i > to; i += step {
		at = append(at, int(i))
		if step > 0 && i > math.MaxInt64-step || step < 0 && i < math.MinInt64-step {
			break
		}
	}
	r.grow(16 * len(at))
	if seq == nil {
		kept := make([]rune, len(at))
		for k, i := range at {
			kept[k] = runes[i]
		}
		return like(v, string(kept))
	}
	made := &Seq{kind: seq.kind}
	for _, i := range at {
		made.items = append(made.items, seq.items[i])
	}
	if seq.kind == ranged {
		made.span = [3]int64{seq.span[0] + from*seq.span[2], seq.span[0] + to*seq.span[2], seq.span[2] * step}
	}
	return made
}

// bounds are the first index and the one that is not reached, as Python's
// slice.indices gives them.
func (r *run) bounds(cut *slicing, s *scope, n, step int64) (from, to int64) {
	low, high := int64(0), n
	if step < 0 {
		low, high = -1, n-1
	}
	clip := func(e expression, otherwise int64) int64 {
		i := r.bound(e, s, math.MinInt64)
		switch {
		case i == math.MinInt64:
			return otherwise
		case i < 0:
			i += n
		}
		return max(low, min(i, high))
	}
	if step > 0 {
		return clip(cut.from, low), clip(cut.to, high)
	}
	return clip(cut.from, high), clip(cut.to, low)
}

func (r *run) bound(e expression, s *scope, otherwise int64) int64 {
	if e == nil {
		return otherwise
	}
	v := r.value(e, s)
	if v == nil {
		return otherwise
	}
	i, _, whole, ok := number(v)
	if !ok || !whole {
		panic(noIndex{})
	}
	if i == math.MinInt64 {
		return i + 1
	}
	return i
}

package plot

import (
	"cmp"
	"math"
	"slices"
	"strconv"
)

// Values beyond these have no place in a drawing: what a scale makes of them
// would overflow.
const (
	most  = 1e18
	least = 1e-15
)

// usable says whether a value can be drawn.
func usable(v float64) bool { return !math.IsNaN(v) && math.Abs(v) <= most }

// logAbove is by how much the largest value exceeds the smallest where a
// logarithmic scale serves better.
const logAbove = 30

// scale maps values to pixels.
type scale struct {
	lo, hi   float64
	from, to float64 // where lo and hi lie
	log      bool
	whole    bool // of numbers of things, which have no parts
}

// at is where a value lies; what is beyond an end of the scale lies at it.
func (s scale) at(v float64) float64 {
	part := 0.0
	if s.log {
		part = math.Log(max(v, s.lo)/s.lo) / math.Log(s.hi/s.lo)
	} else {
		part = (v - s.lo) / (s.hi - s.lo)
	}
	return s.from + min(max(part, 0), 1)*(s.to-s.from)
}

// tick is a mark of an axis; one without a text is a line only.
type tick struct {
	value float64
	text  string
}

// linear is a scale whose ends are ticks or lie outside of them.
func linear(lo, hi, from, to float64) scale {
	if hi < lo {
		lo, hi = hi, lo
	}
	if hi-lo < least || hi-lo < 1e-9*math.Abs(hi) {
		pad := max(math.Abs(hi)*0.1, least*10)
		if hi == 0 {
			pad = 1
		}
		lo, hi = lo-pad, hi+pad
	}
	return scale{lo: lo, hi: hi, from: from, to: to}
}

// fromZero is a linear scale of what is measured from nothing on.
func fromZero(hi, from, to float64) scale {
	if !(hi > least) {
		hi = 1
	}
	return scale{hi: hi, from: from, to: to}
}

// logarithmic is a scale of values above 0, with some room at both ends.
func logarithmic(lo, hi, from, to float64) scale {
	lo = max(lo, least)
	hi = max(hi, lo)
	room := math.Pow(hi/lo, 0.04)
	if hi/lo < 1.5 {
		room = 1.5
	}
	return scale{lo: lo / room, hi: hi * room, from: from, to: to, log: true}
}

// step is 1, 2 or 5 times a power of ten, so that about so many fit.
func step(span float64, count int) float64 {
	raw := span / float64(max(count, 1))
	power := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, m := range []float64{1, 2, 5, 10} {
		if m*power >= raw*0.999 {
			return m * power
		}
	}
	return 10 * power
}

// ticks are about so many, and at the most twice as many.
func (s scale) ticks(count int) []tick {
	if s.log {
		return s.logTicks(count)
	}
	d := step(s.hi-s.lo, count)
	if s.whole {
		d = max(d, 1)
	}
	var out []tick
	for i := math.Ceil(s.lo/d - 1e-9); i*d <= s.hi+d*1e-9 && len(out) < 2*count+2; i++ {
		out = append(out, tick{i * d, tickText(i*d, d)})
	}
	return out
}

// logTicks are powers of ten, with 2 and 5 times them where few powers lie on the
// scale; those that are too near each other have no text.
func (s scale) logTicks(count int) []tick {
	decades := math.Log10(s.hi / s.lo)
	factors := []float64{1}
	if decades < float64(count)/2.5 {
		factors = []float64{1, 2, 5}
	}
	if decades < 0.7 {
		l := scale{lo: s.lo, hi: s.hi}
		return l.ticks(count)
	}
	every := max(1, int(math.Round(decades/float64(max(count, 1)))))
	var out []tick
	for e := int(math.Floor(math.Log10(s.lo))); float64(e) <= math.Log10(s.hi)+1e-9; e++ {
		for _, f := range factors {
			v := f * math.Pow(10, float64(e))
			if v < s.lo*(1-1e-9) || v > s.hi*(1+1e-9) {
				continue
			}
			t := tick{value: v}
			if e%every == 0 {
				t.text = tickText(v, v)
			}
			out = append(out, t)
		}
	}
	return out
}

// tickText writes a tick with as many decimals as its distance to the next has.
func tickText(v, distance float64) string {
	if math.Abs(v) < distance*1e-6 {
		return "0"
	}
	unit, suffix := 1.0, ""
	switch a := max(math.Abs(v), distance); {
	case a >= 1e16 || a < 1e-6:
		return strconv.FormatFloat(v, 'g', 3, 64)
	case a >= 1e12:
		unit, suffix = 1e12, " T"
	case a >= 1e9:
		unit, suffix = 1e9, " G"
	case a >= 1e6:
		unit, suffix = 1e6, " M"
	}
	decimals := 0
	if d := distance / unit; d < 1 {
		decimals = int(math.Ceil(-math.Log10(d) - 1e-9))
	}
	return strconv.FormatFloat(v/unit, 'f', min(decimals, 9), 64) + suffix
}

// spread moves positions so that none is nearer to another than gap, as little as
// can be, within from and to; where they cannot all have room they share it. What
// is too near makes a cluster around its middle, which may then be too near to
// another.
func spread(at []float64, gap, from, to float64) []float64 {
	order := make([]int, len(at))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(at[a], at[b]) })
	if n := len(at); n > 1 && gap*float64(n-1) > to-from {
		gap = (to - from) / float64(n-1)
	}
	type cluster struct {
		middle float64
		n      int
	}
	var all []cluster
	half := func(c cluster) float64 { return gap * float64(c.n-1) / 2 }
	inside := func(c cluster) cluster {
		c.middle = min(max(c.middle, from+half(c)), to-half(c))
		return c
	}
	for _, i := range order {
		c := inside(cluster{at[i], 1})
		for len(all) > 0 {
			last := all[len(all)-1]
			if c.middle-half(c)-last.middle-half(last) >= gap*(1-1e-9) {
				break
			}
			n := last.n + c.n
			c = inside(cluster{(last.middle*float64(last.n) + c.middle*float64(c.n)) / float64(n), n})
			all = all[:len(all)-1]
		}
		all = append(all, c)
	}
	out := make([]float64, len(at))
	k := 0
	for _, c := range all {
		for i := range c.n {
			out[order[k]] = c.middle - half(c) + gap*float64(i)
			k++
		}
	}
	return out
}

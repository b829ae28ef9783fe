package plot

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/table"
)

// mostPoints bounds how many points of intervals, or of a curve, are drawn.
const mostPoints = 100

// Curve draws values over what was set, each with its interval, and where fit is
// not nil the curve of what was fitted. Both axes are logarithmic where they span
// more than 30 times.
func Curve(o Options, points []Point, fit func(x float64) float64) Figure {
	kept := slices.DeleteFunc(slices.Clone(points), func(p Point) bool { return !p.drawn() || !usable(p.X) })
	more := max(0, len(kept)-mostPoints)
	kept = kept[:len(kept)-more]
	slices.SortStableFunc(kept, func(a, b Point) int { return int(sign(a.X - b.X)) })
	c := draw(o, len(kept), table.Column{Name: "set to", Left: true}, table.Column{Name: "value"}, table.Column{Name: "from"}, table.Column{Name: "to"})
	unknown := 0
	for _, p := range points {
		if p.Known && (!usable(p.Value) || !usable(p.X)) {
			unknown++
		}
	}
	c.skipped(unknown)
	c.tooMany(more, "points")
	if len(kept) == 0 {
		return c.empty("no samples")
	}
	lo, hi, positive := span(kept)
	height := 260.0
	if c.narrow() {
		height = 210
	}
	const top = 34.0
	s := fromZero(hi*1.06, top+height, top)
	if positive && hi/lo > logAbove {
		s = logarithmic(lo, hi, top+height, top)
	} else if lo < 0 {
		s = linear(lo, hi, top+height, top)
	}
	left, right := labelled(s, height), c.width()-margin-10
	first, last := kept[0].X, kept[len(kept)-1].X
	x := linear(first, last, left+16, right-16)
	if first > 0 && last/first > logAbove {
		x = logarithmic(first, last, left, right)
	}
	c.up(s, left, right+10, o.Y)
	bottom := c.acrossAt(x, settings(kept, x), top, top+height, o.X)
	if fit != nil {
		c.fitted(fit, x.at(first), x.at(last), x, s)
		c.note("%s", cmp.Or(o.Fit, "The dashed line is what was fitted."))
	}
	c.curve(kept, x, s, left)
	return c.figure(bottom)
}

func sign(v float64) float64 {
	switch {
	case v < 0:
		return -1
	case v > 0:
		return 1
	}
	return 0
}

// mostSettings is how many points have a tick each: what was set is read there,
// and no number between two of them was.
const mostSettings = 10

func settings(points []Point, x scale) []tick {
	var out []tick
	for _, p := range points {
		if n := len(out); n == 0 || out[n-1].value != p.X {
			out = append(out, tick{p.X, figures.Count(p.X)})
		}
	}
	if len(out) > mostSettings {
		return x.ticks(6)
	}
	return out
}

// curve draws the points, and their values above them where these have room right
// of the axis at left.
func (c *canvas) curve(points []Point, x, y scale, left float64) {
	var taken []box
	for _, p := range points {
		k := p.Kind
		if k == "" {
			k = Series1
		}
		px, py := x.at(p.X), y.at(p.Value)
		top, low := py-6, py+6
		c.mark(k, c.tip("", Point{Label: named(p), Value: p.Value, Lo: p.Lo, Hi: p.Hi, Known: true, Tip: p.Tip}))
		lo, hi := "", ""
		if p.ranged() {
			lo, hi = c.o.Text(p.Lo), c.o.Text(p.Hi)
			from, to := y.at(p.Lo), y.at(p.Hi)
			top, low = min(top, to), max(low, from)
			c.line("plot-whisker", px, from, px, to)
			c.line("plot-whisker", px-4, from, px+4, from)
			c.line("plot-whisker", px-4, to, px+4, to)
		}
		c.sign(k, px, py, true)
		c.end()
		c.data.Add(table.Texts(named(p), c.o.Text(p.Value), lo, hi)...)
		taken = append(taken, box{px - 6, top, px + 6, low})
	}
	for i, p := range points {
		text := c.o.Text(p.Value)
		wide := measure(text, tickSize)
		b := taken[i]
		for _, at := range []box{{0, b.y1 - 17, wide, b.y1 - 4}, {0, b.y2 + 4, wide, b.y2 + 17}} {
			mid := min(max((b.x1+b.x2)/2, left+wide/2+2), c.width()-wide/2-2)
			at.x1, at.x2 = mid-wide/2, mid+wide/2
			if at.y1 < y.to-14 || at.y2 > y.from-1 || slices.ContainsFunc(taken, at.meets) {
				continue
			}
			taken = append(taken, at)
			c.text(mid, at.y2-2, "middle", "plot-tick plot-halo", text)
			break
		}
	}
}

// named is what a point of a curve is called.
func named(p Point) string {
	if p.Label != "" {
		return line(p.Label)
	}
	return tickText(p.X, max(math.Abs(p.X), least))
}

// fitParts is of how many straight parts a curve is made.
const fitParts = 120

// fitted draws the curve of a function from one pixel to another, as far as it
// stays on the drawing.
func (c *canvas) fitted(f func(float64) float64, from, to float64, x, y scale) {
	var d strings.Builder
	pen := "M"
	for i := range fitParts + 1 {
		px := from + (to-from)*float64(i)/fitParts
		v := f(x.value(px))
		if !usable(v) || v < y.lo || v > y.hi {
			pen = "M"
			continue
		}
		fmt.Fprintf(&d, "%s%s %s", pen, number(px), number(y.at(v)))
		pen = "L"
	}
	if d.Len() > 0 {
		fmt.Fprintf(&c.b, `<path class="plot-fit" d="%s"/>`, d.String())
	}
}

// value is what lies at a pixel.
func (s scale) value(px float64) float64 {
	part := (px - s.from) / (s.to - s.from)
	if s.log {
		return s.lo * math.Pow(s.hi/s.lo, part)
	}
	return s.lo + part*(s.hi-s.lo)
}

// box is room that something takes.
type box struct{ x1, y1, x2, y2 float64 }

func (b box) meets(o box) bool { return b.x1 < o.x2 && o.x1 < b.x2 && b.y1 < o.y2 && o.y1 < b.y2 }

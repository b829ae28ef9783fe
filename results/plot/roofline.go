package plot

import (
	"fmt"
	"math"
	"slices"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/table"
)

// RoofPoint is a kernel: what it computes for each byte that it moves, and a
// second. Share is its part of the time of all kernels, from 0 to 1, and makes its
// sign larger; InCache says that its data fit the cache, so that the limit of the
// memory is none to it, and leaves its sign open.
type RoofPoint struct {
	Label     string
	Intensity float64 // operations a byte
	Ops       float64 // operations a second
	Share     float64
	InCache   bool
	Tip       string
}

func (p RoofPoint) drawn() bool {
	return usable(p.Intensity) && usable(p.Ops) && p.Intensity > least && p.Ops > least
}

// mostKernels bounds how many kernels are drawn.
const mostKernels = 200

// Roofline draws kernels against what the machine can do at the most: memory is in
// bytes a second, arithmetic in operations a second, and either is 0 where it is
// not known (Williams, Waterman and Patterson, 2009).
func Roofline(o Options, memory, arithmetic float64, points []RoofPoint) Figure {
	kept := slices.DeleteFunc(slices.Clone(points), func(p RoofPoint) bool { return !p.drawn() })
	c := draw(o, len(kept), table.Column{Name: "kernel", Left: true}, table.Column{Name: "operations a byte"}, table.Column{Name: "GFLOP/s"}, table.Column{Name: "GB/s"})
	if n := len(points) - len(kept); n > 0 {
		c.note("%s not drawn: without arithmetic, or with bytes or operations that nobody knows.", figures.Number(n, "kernel"))
	}
	slices.SortStableFunc(kept, func(a, b RoofPoint) int { return int(sign(b.Share - a.Share)) })
	if more := len(kept) - mostKernels; more > 0 {
		kept = kept[:mostKernels]
		c.note("%s more not drawn, which took the least time.", figures.Number(more, "kernel"))
	}
	if len(kept) == 0 {
		return c.empty("no kernel whose bytes and operations are known")
	}
	if o.X == "" {
		o.X = "operations a byte"
	}
	if o.Y == "" {
		o.Y = "GFLOP/s"
	}
	limit := func(v float64) float64 {
		if !usable(v) || v < least {
			return 0
		}
		return v
	}
	memory, arithmetic = limit(memory), limit(arithmetic)
	x1, x2, y1, y2 := math.Inf(1), 0.0, math.Inf(1), 0.0
	for _, p := range kept {
		x1, x2, y1, y2 = min(x1, p.Intensity), max(x2, p.Intensity), min(y1, p.Ops), max(y2, p.Ops)
	}
	if memory > 0 && arithmetic > 0 {
		x1, x2 = min(x1, arithmetic/memory/4), max(x2, arithmetic/memory*4)
	}
	if arithmetic > 0 {
		y2 = max(y2, arithmetic)
	}
	if memory > 0 {
		y1 = min(y1, memory*x1)
	}
	height := 340.0
	if c.narrow() {
		height = 280
	}
	const top = 34.0
	y := logarithmic(y1/1e9, y2/1e9*1.3, top+height, top)
	left, right := labelled(y, height), c.width()-margin-6
	x := logarithmic(x1, x2, left, right)
	c.up(y, left, right, o.Y)
	bottom := c.across(x, top, top+height, o.X)
	taken := c.roofs(memory, arithmetic, x, y)
	c.kernels(kept, x, y, taken)
	return c.figure(bottom)
}

// roofs draws the limits, and returns the room that their texts take.
func (c *canvas) roofs(memory, arithmetic float64, x, y scale) []box {
	var taken []box
	ridge := x.hi
	if memory > 0 && arithmetic > 0 {
		ridge = min(max(arithmetic/memory, x.lo), x.hi)
	}
	if memory > 0 {
		from, to := max(x.lo, y.lo*1e9/memory), min(ridge, y.hi*1e9/memory)
		if from < to {
			c.line("plot-roof", x.at(from), y.at(memory*from/1e9), x.at(to), y.at(memory*to/1e9))
			ax, ay := x.at(from), y.at(memory*from/1e9)
			bx, by := x.at(to), y.at(memory*to/1e9)
			text := "memory " + figures.Text(memory/1e9, 1) + " GB/s"
			if long := math.Hypot(bx-ax, by-ay); long > measure(text, tickSize)+16 {
				fmt.Fprintf(&c.b, `<text class="plot-tick plot-halo" text-anchor="middle" transform="translate(%s %s) rotate(%s)" y="-7">%s</text>`,
					number((ax+bx)/2), number((ay+by)/2), number(math.Atan2(by-ay, bx-ax)*180/math.Pi), text)
			}
			for i := range 12 {
				px, py := ax+(bx-ax)*float64(i)/11, ay+(by-ay)*float64(i)/11
				taken = append(taken, box{px - 6, py - 12, px + 6, py + 2})
			}
		}
	}
	if arithmetic > 0 {
		from := x.lo
		if memory > 0 {
			from = ridge
		}
		at := y.at(arithmetic / 1e9)
		c.line("plot-roof", x.at(from), at, x.to, at)
		text := "arithmetic " + figures.Text(arithmetic/1e9, 1) + " GFLOP/s"
		c.text(x.to, at-7, "end", "plot-tick plot-halo", text)
		taken = append(taken, box{x.to - measure(text, tickSize), at - 18, x.to, at - 3}, box{x.at(from), at - 2, x.to, at + 2})
	}
	return taken
}

// kernels draws the points in their order, the largest first, and the names of
// those that have room for one.
func (c *canvas) kernels(points []RoofPoint, x, y scale, taken []box) {
	radius := func(p RoofPoint) float64 { return 4 + 10*math.Sqrt(min(max(p.Share, 0), 1)) }
	for _, p := range points {
		px, py, r := x.at(p.Intensity), y.at(p.Ops/1e9), radius(p)
		taken = append(taken, box{px - r, py - r, px + r, py + r})
		gigas, bytes := figures.Text(p.Ops/1e9, 1), figures.Text(p.Ops/p.Intensity/1e9, 1)
		tip := p.Tip
		if tip == "" {
			tip = fmt.Sprintf("%s: %s GFLOP/s, %s GB/s, %s operations a byte", line(p.Label), gigas, bytes, figures.Text(p.Intensity, 1))
		}
		k, class := GPU, "plot-sign"
		if p.InCache {
			class = "plot-open"
		}
		c.mark(k, tip)
		fmt.Fprintf(&c.b, `<circle class="%s" cx="%s" cy="%s" r="%s"/>`, class, number(px), number(py), number(r))
		c.end()
		c.data.Add(table.Texts(line(p.Label), figures.Text(p.Intensity, 1), gigas, bytes)...)
	}
	unnamed := 0
	for _, p := range points {
		if !c.name(p, x.at(p.Intensity), y.at(p.Ops/1e9), radius(p), x.from+2, y.from-2, &taken) {
			unnamed++
		}
	}
	if slices.ContainsFunc(points, func(p RoofPoint) bool { return p.InCache }) {
		c.note("Open circles: the data fit the cache, which is faster than the memory.")
	}
	if unnamed > 0 {
		c.note("%s without a name here, which has no room; the table has all.", figures.Number(unnamed, "kernel"))
	}
}

// name writes a name beside a circle, where nothing else stands, right of left
// and above bottom.
func (c *canvas) name(p RoofPoint, px, py, r, left, bottom float64, taken *[]box) bool {
	label := fit(p.Label, c.width()*0.4, tickSize)
	wide := measure(label, tickSize)
	for _, at := range [][2]float64{{px + r + 4, py + 4}, {px - r - 4 - wide, py + 4}, {px - wide/2, py - r - 5}, {px - wide/2, py + r + 13}} {
		b := box{at[0], at[1] - 10, at[0] + wide, at[1] + 3}
		if b.x1 < left || b.x2 > c.width()-2 || b.y1 < 20 || b.y2 > bottom || slices.ContainsFunc(*taken, b.meets) {
			continue
		}
		*taken = append(*taken, b)
		c.text(at[0], at[1], "start", "plot-tick plot-halo", label)
		return true
	}
	return false
}

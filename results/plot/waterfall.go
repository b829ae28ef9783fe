package plot

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/table"
)

// Lane is a row of a waterfall: what is of one sort, in order.
type Lane struct {
	Label string
	Depth int // by how much it is set in: 1 for what lies within the lane above
	Bars  []Bar
}

// Bar is a stretch of time in milliseconds, with what is shown of it.
type Bar struct {
	Start, End float64
	Kind       Kind
	Tip        string
}

// inset is by how many pixels the label is set in.
func (l Lane) inset() float64 { return 10 * float64(min(max(l.Depth, 0), 3)) }

// Time is the sum of the lane's bars.
func (l Lane) Time() float64 {
	sum := 0.0
	for _, b := range l.Bars {
		if b.Usable() {
			sum += b.End - b.Start
		}
	}
	return sum
}

// Extent is from where to where the lane's bars go; false where it has none that
// can be drawn.
func (l Lane) Extent() (from, to float64, ok bool) {
	from, to = math.Inf(1), math.Inf(-1)
	for _, b := range l.Bars {
		if b.Usable() {
			from, to, ok = min(from, b.Start), max(to, b.End), true
		}
	}
	return from, to, ok
}

// Usable says whether the bar can be drawn: its ends are numbers, in order.
func (b Bar) Usable() bool { return usable(b.Start) && usable(b.End) && b.End >= b.Start }

// mostLanes bounds the height of a waterfall, and mostBars what is drawn one by
// one of a lane.
const (
	mostLanes = 48
	mostBars  = 60
)

// Waterfall draws what followed what: time goes to the right from 0 on, lanes down. Behind
// the last bar of a lane stands what its bars add up to.
func Waterfall(o Options, lanes []Lane) Figure {
	o.X = cmp.Or(o.X, "ms")
	lanes, skipped := usableLanes(lanes)
	all := 0
	for _, l := range lanes {
		all += len(l.Bars)
	}
	c := draw(o, all, table.Column{Name: "what", Left: true}, table.Column{Name: "start ms"}, table.Column{Name: "ms"})
	c.skipped(skipped)
	if all == 0 {
		return c.empty("no time is recorded")
	}
	more := 0
	if len(lanes) > mostLanes {
		more = len(lanes) - mostLanes
		lanes = lanes[:mostLanes]
	}
	lo, hi := 0.0, 0.0
	aside, widest := 0.0, 0.0
	for _, l := range lanes {
		widest = max(widest, l.inset()+measure(line(l.Label), textSize))
		aside = max(aside, measure(figures.Text(l.Time(), 1), tickSize)+7)
		for _, b := range l.Bars {
			lo, hi = min(lo, b.Start), max(hi, b.End)
		}
	}
	left, row, room := c.side(widest), 22.0, 0.0
	if c.narrow() {
		left, row, room = margin, 36, 16
	}
	s := linear(lo, hi, left, c.width()-margin-aside)
	tall := row*float64(len(lanes)) + 4
	top := head(tall)
	height := c.across(s, top, top+tall, o.X)
	for i, l := range lanes {
		y := top + row*float64(i)
		inset := l.inset()
		if c.narrow() {
			c.text(margin+inset, y+12, "start", "plot-halo", fit(l.Label, c.width()-2*margin-inset, textSize))
		} else {
			c.text(margin+inset, y+15, "start", "", fit(l.Label, left-margin-8-inset, textSize))
		}
		c.lane(l, s, y+room+3, row-room-6)
	}
	c.tooMany(more, "lanes")
	return c.figure(height)
}

// usableLanes leaves out bars that have no place, and says how many.
func usableLanes(lanes []Lane) (out []Lane, skipped int) {
	for _, l := range lanes {
		n := len(l.Bars)
		l.Bars = slices.DeleteFunc(slices.Clone(l.Bars), func(b Bar) bool { return !b.Usable() })
		skipped += n - len(l.Bars)
		if len(l.Bars) > 0 {
			out = append(out, l)
		}
	}
	return out, skipped
}

// lane draws the bars of a lane; many of them as the stretches of pixels that they
// take.
func (c *canvas) lane(l Lane, s scale, y, height float64) {
	time := l.Time()
	ms := figures.Text(time, 1)
	end := 0.0
	if len(l.Bars) > mostBars {
		k := l.Bars[0].Kind
		first, last := l.Bars[0].Start, 0.0
		for _, b := range l.Bars {
			first, last = min(first, b.Start), max(last, b.End)
		}
		c.data.Add(table.Texts(line(l.Label)+" ("+figures.Number(len(l.Bars), "part")+")", figures.Text(first, 1), ms)...)
		c.mark(k, fmt.Sprintf("%s: %s ms in %d parts", l.Label, ms, len(l.Bars)))
		for _, p := range pixels(l.Bars, s) {
			c.bar(k, p[0], y, p[1]-p[0], height)
			end = max(end, p[1])
		}
		c.end()
	} else {
		for _, b := range l.Bars {
			x, to := s.at(b.Start), s.at(b.End)
			tip := b.Tip
			if tip == "" {
				tip = fmt.Sprintf("%s: %s ms", l.Label, figures.Text(b.End-b.Start, 1))
			}
			c.data.Add(table.Texts(line(cmp.Or(b.Tip, l.Label)), figures.Text(b.Start, 1), figures.Text(b.End-b.Start, 1))...)
			c.mark(b.Kind, tip)
			c.bar(b.Kind, x, y, to-x, height)
			c.end()
			end = max(end, to, x+1.5)
		}
	}
	c.text(end+5, y+height/2+4, "start", "plot-tick plot-halo", ms)
}

// pixels are the stretches that bars take, those that touch made one.
func pixels(bars []Bar, s scale) [][2]float64 {
	bars = slices.Clone(bars)
	slices.SortFunc(bars, func(a, b Bar) int { return cmp.Compare(a.Start, b.Start) })
	var out [][2]float64
	for _, b := range bars {
		x, to := s.at(b.Start), s.at(b.End)
		if n := len(out); n > 0 && x <= out[n-1][1]+1 {
			out[n-1][1] = max(out[n-1][1], to)
		} else {
			out = append(out, [2]float64{x, to})
		}
	}
	return out
}

package plot

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/table"
)

// Histogram draws how many values lie where, with lines at some of them.
func Histogram(o Options, values []float64, lines ...Line) Figure {
	lines = lines[:min(len(lines), mostLines)]
	kept := slices.DeleteFunc(slices.Clone(values), func(v float64) bool { return !usable(v) })
	c := draw(o, 0, table.Column{Name: cmp.Or(o.X, "from"), Left: true}, table.Column{Name: "to"}, table.Column{Name: "values"})
	c.skipped(len(values) - len(kept))
	if len(kept) == 0 {
		return c.empty("no samples")
	}
	bins := Bins(kept, c.o.Width/14)
	tallest := 0
	for _, b := range bins {
		tallest = max(tallest, b.Count)
	}
	const height, top = 170.0, 52.0
	s := fromZero(float64(tallest)*1.04, top+height, top)
	s.whole = true
	left, right := labelled(s, height), c.width()-margin-10
	x := linear(bins[0].From, bins[len(bins)-1].To, left+2, right)
	c.up(s, left, right, "")
	c.text(margin, 14, "start", "plot-muted", fit(cmp.Or(o.Y, "values"), c.width()-2*margin, textSize)) // above the labels of the lines
	bottom := c.across(x, top+height, top+height, o.X)
	for _, b := range bins {
		from, to := c.o.Text(b.From), c.o.Text(b.To)
		c.data.Add(table.Texts(from, to, strconv.Itoa(b.Count))...)
		if b.Count == 0 {
			continue
		}
		c.mark(Series1, fmt.Sprintf("%s to %s: %s", from, to, figures.Number(b.Count, "value")))
		at := s.at(float64(b.Count))
		c.bar(Series1, x.at(b.From)+0.5, at, x.at(b.To)-x.at(b.From)-1, top+height-at)
		c.end()
	}
	c.flags(lines, x, top, top+height)
	return c.figure(bottom)
}

// flags draws values as upright lines, with labels above them that have room.
func (c *canvas) flags(lines []Line, x scale, top, bottom float64) {
	last := -1e9
	lines = slices.DeleteFunc(slices.Clone(lines), func(l Line) bool { return !usable(l.Value) || l.Value < x.lo || l.Value > x.hi })
	slices.SortStableFunc(lines, func(a, b Line) int { return cmp.Compare(a.Value, b.Value) })
	for _, l := range lines {
		at := x.at(l.Value)
		c.line("plot-rule", at, top-6, at, bottom)
		text := c.lineText(l)
		half := measure(text, tickSize) / 2
		mid := min(max(at, half+2), c.width()-half-2)
		if mid-half < last+6 {
			mid = last + 6 + half
		}
		if mid+half > c.width() {
			continue
		}
		c.text(mid, top-10, "middle", "plot-tick plot-halo", text)
		last = mid + half
	}
}

// Bin is how many values are at least From and less than To; the last bin has To
// too.
type Bin struct {
	From, To float64
	Count    int
}

// Bins divides values, of which there is one at least and all are numbers, into
// bins of one width, by the rule of Freedman and Diaconis (1981): twice the
// interquartile range over the cube root of their number, made a round figure; and
// no more bins than most.
func Bins(values []float64, most int) []Bin {
	v := slices.Sorted(slices.Values(values))
	n := len(v)
	lo, hi := v[0], v[n-1]
	most = max(most, 1)
	if hi-lo <= math.Abs(hi)*1e-9 || hi-lo < least {
		return []Bin{{lo - max(math.Abs(lo)*0.05, least), hi + max(math.Abs(hi)*0.05, least), n}}
	}
	width := 2 * (v[n*3/4] - v[n/4]) / math.Cbrt(float64(n))
	width = max(width, (hi-lo)/float64(most))
	width = step(width, 1)
	first := math.Floor(lo / width)
	count := int(math.Floor(hi/width)-first) + 1
	for count > most {
		width = step(width*1.01, 1)
		first = math.Floor(lo / width)
		count = int(math.Floor(hi/width)-first) + 1
	}
	out := make([]Bin, count)
	for i := range out {
		out[i] = Bin{From: (first + float64(i)) * width, To: (first + float64(i) + 1) * width}
	}
	for _, x := range v {
		out[min(max(int(math.Floor(x/width)-first), 0), count-1)].Count++
	}
	return out
}

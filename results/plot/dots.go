package plot

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/table"
)

// Series are values in order, such as the decode steps of a round. The first is
// number First, or 1. A NaN is a value that is missing.
type Series struct {
	Label  string
	Kind   Kind
	First  int
	Values []float64
}

// Line is a value that is drawn across, such as a percentile.
type Line struct {
	Label string
	Value float64
}

// mostTips is how many dots have a sign and a text each.
const mostTips = 400

// mostSeries and mostLines bound how many series and lines are drawn.
const (
	mostSeries = 500
	mostLines  = 12
)

// Dots draws every value of every series as a dot, over its number.
func Dots(o Options, series []Series, lines []Line) Figure {
	more := max(0, len(series)-mostSeries)
	series = series[:len(series)-more]
	lines = lines[:min(len(lines), mostLines)]
	all, skipped, last := 0, 0, 1
	lo, hi := math.Inf(1), math.Inf(-1)
	first := math.MaxInt32
	for _, s := range series {
		from := max(s.First, 1)
		for i, v := range s.Values {
			switch {
			case usable(v):
				all++
				lo, hi = min(lo, v), max(hi, v)
				first, last = min(first, from+i), max(last, from+i)
			case !math.IsNaN(v):
				skipped++
			}
		}
	}
	c := draw(o, 0, table.Column{Name: "series", Left: true}, table.Column{Name: "values"}, table.Column{Name: "least"}, table.Column{Name: "most"})
	c.skipped(skipped)
	c.tooMany(more, "series")
	if all == 0 {
		return c.empty("no samples")
	}
	height := 240.0
	if c.narrow() {
		height = 200
	}
	const top = 34.0
	s := valueScale(lo, hi, top+height, top)
	left := labelled(s, height)
	right := c.width() - margin
	aside := 0.0
	for _, l := range lines {
		if usable(l.Value) {
			aside = max(aside, measure(c.lineText(l), tickSize)+10)
		}
	}
	aside = min(aside, c.width()*0.4)
	right -= aside
	x := linear(float64(first), float64(last), left+6, right-4)
	if first == last {
		x.lo, x.hi = float64(first)-0.5, float64(first)+0.5
	}
	x.whole = true
	c.up(s, left, right, o.Y)
	bottom := c.across(x, top+height, top+height, o.X)
	for i, r := range series {
		c.dots(r, i, all, x, s)
	}
	c.lines(lines, s, left, right, aside)
	if len(series) > 1 {
		bottom = c.legend(series, all <= mostTips, bottom+4)
	}
	return c.figure(bottom + 4)
}

// valueScale is of values that dots show: from nothing on where that leaves them
// half of the height, logarithmic where they span very much, else around them.
func valueScale(lo, hi, from, to float64) scale {
	switch {
	case lo > 0 && hi/lo > logAbove:
		return logarithmic(lo, hi, from, to)
	case lo >= 0 && lo < hi*0.6, lo == hi && lo >= 0:
		return fromZero(hi*1.04, from, to)
	}
	pad := max((hi-lo)*0.08, math.Abs(hi)*0.01)
	return linear(lo-pad, hi+pad, from, to)
}

// kindOf is the kind of series i.
func (r Series) kindOf(i int) Kind { return cmp.Or(r.Kind, Nth(i)) }

// dots draws a series: few values with the sign of its kind, each with a text, and
// many as one path of strokes without a length, in tenths of a pixel, so that a dot
// takes a few bytes.
func (c *canvas) dots(r Series, nth, all int, x, y scale) {
	k, from := r.kindOf(nth), max(r.First, 1)
	lo, hi, n := math.Inf(1), math.Inf(-1), 0
	var d strings.Builder
	px, py := 0, 0
	fmt.Fprintf(&c.b, `<g class="%s">`, k.Class())
	for i, v := range r.Values {
		if !usable(v) {
			continue
		}
		lo, hi, n = min(lo, v), max(hi, v), n+1
		ax, ay := x.at(float64(from+i)), y.at(v)
		if all <= mostTips {
			tip := escape(line(fmt.Sprintf("%s %d: %s", line(r.Label), from+i, c.o.Text(v))))
			fmt.Fprintf(&c.b, `<path class="plot-sign plot-mark" transform="translate(%s %s) scale(.75)" d="%s" data-tip="%s"><title>%s</title></path>`, number(ax), number(ay), k.shape(), tip, tip)
			continue
		}
		qx, qy := int(math.Round(ax*10)), int(math.Round(ay*10))
		d.WriteByte('m')
		d.WriteString(strconv.Itoa(qx - px))
		if qy >= py {
			d.WriteByte(' ')
		}
		d.WriteString(strconv.Itoa(qy - py))
		d.WriteString("h0")
		px, py = qx, qy
	}
	if d.Len() > 0 {
		size := 34
		if all > 3000 {
			size = 22
		}
		fmt.Fprintf(&c.b, `<path class="%s" transform="scale(.1)" stroke-width="%d" d="%s"/>`, strokes(nth), size, d.String())
	}
	c.end()
	c.data.Add(table.Texts(line(r.Label), strconv.Itoa(n), c.orNone(lo, n), c.orNone(hi, n))...)
}

// strokes is the class of strokes that are dots of series i: round ones, and
// square ones.
func strokes(i int) string {
	if i%2 == 1 {
		return "plot-dots plot-square"
	}
	return "plot-dots"
}

func (c *canvas) orNone(v float64, n int) string {
	if n == 0 {
		return figures.None
	}
	return c.o.Text(v)
}

func (c *canvas) lineText(l Line) string { return line(l.Label) + " " + c.o.Text(l.Value) }

// lines draws values across, with their labels at the right, apart from each
// other.
func (c *canvas) lines(lines []Line, s scale, left, right, aside float64) {
	var kept []Line
	var at []float64
	for _, l := range lines {
		if usable(l.Value) {
			kept, at = append(kept, l), append(at, s.at(l.Value))
			c.data.Add(table.Texts(line(l.Label), "", c.o.Text(l.Value), "")...)
		}
	}
	for i, y := range spread(at, 14, s.to+2, s.from-2) {
		c.line("plot-rule", left, at[i], right, at[i])
		c.line("plot-lead", right, at[i], right+6, y)
		c.text(right+8, y+4, "start", "plot-tick", fit(c.lineText(kept[i]), aside-8, tickSize))
	}
}

// mostNamed is how many series a legend names.
const mostNamed = 12

// legend names the series in rows, each behind the sign of its dots.
func (c *canvas) legend(series []Series, signs bool, y float64) float64 {
	x := float64(margin)
	y += 12
	for i, r := range series {
		if i == mostNamed {
			c.text(x, y+4, "start", "plot-muted", fmt.Sprintf("and %d more", len(series)-i))
			break
		}
		label := fit(r.Label, c.width()-40, textSize)
		wide := measure(label, textSize) + 30
		if x > margin && x+wide > c.width() {
			x, y = margin, y+18
		}
		k := r.kindOf(i)
		fmt.Fprintf(&c.b, `<g class="%s">`, k.Class())
		if signs {
			c.sign(k, x+5, y, true)
		} else {
			fmt.Fprintf(&c.b, `<path class="%s" stroke-width="7" d="M%s %sh0"/>`, strokes(i), number(x+5), number(y))
		}
		c.end()
		c.text(x+14, y+4, "start", "", label)
		x += wide
	}
	return y + 8
}

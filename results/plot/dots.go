package plot

import (
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

// mostTips is how many dots have a text each.
const mostTips = 400

// Dots draws every value of every series as a dot, over its number.
func Dots(o Options, series []Series, lines []Line) Figure {
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
		c.dots(r, i, len(series), all, x, s)
	}
	c.lines(lines, s, left, right, aside)
	if len(series) > 1 {
		bottom = c.legend(series, bottom+4)
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

// dots draws a series as one path of strokes without a length, in tenths of a
// pixel: a dot takes a few bytes.
func (c *canvas) dots(r Series, nth, of, all int, x, y scale) {
	k := r.Kind
	if k == "" {
		k = Nth(nth)
	}
	size, from := 5.0, max(r.First, 1)
	if all > 300 {
		size = 3.4
	}
	if all > 3000 {
		size = 2.2
	}
	class := "plot-dots"
	if nth%2 == 1 {
		class += " plot-square"
	}
	lo, hi, n := math.Inf(1), math.Inf(-1), 0
	var d, tips strings.Builder
	px, py := 0, 0
	for i, v := range r.Values {
		if !usable(v) {
			continue
		}
		lo, hi, n = min(lo, v), max(hi, v), n+1
		ax, ay := x.at(float64(from+i)), y.at(v)
		qx, qy := int(math.Round(ax*10)), int(math.Round(ay*10))
		d.WriteByte('m')
		d.WriteString(strconv.Itoa(qx - px))
		if qy >= py {
			d.WriteByte(' ')
		}
		d.WriteString(strconv.Itoa(qy - py))
		d.WriteString("h0")
		px, py = qx, qy
		if all <= mostTips {
			tip := escape(fmt.Sprintf("%s %d: %s", line(r.Label), from+i, c.o.Text(v)))
			fmt.Fprintf(&tips, `<circle class="plot-hit plot-mark" cx="%s" cy="%s" r="6" data-tip="%s"><title>%s</title></circle>`, number(ax), number(ay), tip, tip)
		}
	}
	c.data.Add(table.Texts(line(r.Label), strconv.Itoa(n), c.orNone(lo, n), c.orNone(hi, n))...)
	if n == 0 {
		return
	}
	fmt.Fprintf(&c.b, `<g class="%s"><path class="%s" transform="scale(.1)" stroke-width="%s" d="%s"/>%s</g>`, k.Class(), class, number(size*10), d.String(), tips.String())
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

// legend names the series below each other's signs, in rows.
func (c *canvas) legend(series []Series, y float64) float64 {
	x := float64(margin)
	y += 12
	for i, r := range series {
		if i == 12 {
			c.text(x, y+4, "start", "plot-muted", fmt.Sprintf("and %d more", len(series)-i))
			break
		}
		k := r.Kind
		if k == "" {
			k = Nth(i)
		}
		label := fit(r.Label, c.width()-40, textSize)
		if wide := measure(label, textSize) + 30; x > margin && x+wide > c.width() {
			x, y = margin, y+18
		}
		class := "plot-dots"
		if i%2 == 1 {
			class += " plot-square"
		}
		fmt.Fprintf(&c.b, `<g class="%s"><path class="%s" stroke-width="7" d="M%s %sh0"/></g>`, k.Class(), class, number(x+5), number(y))
		c.text(x+14, y+4, "start", "", label)
		x += measure(label, textSize) + 30
	}
	return y + 8
}

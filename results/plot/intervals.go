package plot

import (
	"fmt"
	"math"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/table"
)

// Group are points that belong together: the states of a stage.
type Group struct {
	Label  string
	Points []Point
}

// Point is a value with its interval. Known says that there is one; Lo and Hi are
// both Value, or NaN, where no interval is known.
type Point struct {
	Label         string
	X             float64 // of a curve
	Value, Lo, Hi float64
	Known         bool
	Kind          Kind
	Tip           string
}

// ranged says whether the point has an interval that can be drawn.
func (p Point) ranged() bool {
	return usable(p.Lo) && usable(p.Hi) && p.Lo <= p.Value && p.Value <= p.Hi && p.Lo < p.Hi
}

func (p Point) drawn() bool { return p.Known && usable(p.Value) }

// span is what points and their intervals take, of values above 0 where that is
// asked for.
func span(points []Point) (lo, hi float64, positive bool) {
	lo, hi, positive = math.Inf(1), math.Inf(-1), true
	for _, p := range points {
		if !p.drawn() {
			continue
		}
		lo, hi = min(lo, p.Value), max(hi, p.Value)
		if p.ranged() {
			lo, hi = min(lo, p.Lo), max(hi, p.Hi)
		}
		positive = positive && lo > 0
	}
	return lo, hi, positive
}

// Intervals draws a value with its interval for each point, one below the other,
// under the heading of its group; where each group has one point of one label, such
// as the only state of a recording, beside that. The scale is logarithmic where the
// values span more than 30 times.
func Intervals(o Options, groups []Group) Figure {
	groups, more := firstPoints(groups)
	alone := eachOne(groups)
	var all []Point
	widest, tall := 0.0, 0.0
	for _, g := range groups {
		all = append(all, g.Points...)
		for _, p := range g.Points {
			if alone {
				p.Label = g.Label
			}
			widest = max(widest, measure(line(p.Label), textSize))
		}
	}
	lo, hi, positive := span(all)
	c := draw(o, len(all), table.Column{Name: "stage", Left: true}, table.Column{Name: "state", Left: true}, table.Column{Name: "value"}, table.Column{Name: "from"}, table.Column{Name: "to"})
	c.tooMany(more, "points")
	if math.IsInf(lo, 1) {
		return c.empty("no samples")
	}
	r := rows{height: 22, inset: 12, heading: 22, between: 6}
	if alone {
		r.inset, r.heading, r.between = 0, 0, 0
	}
	left, aside := c.side(widest)+r.inset, 0.0
	for _, p := range all {
		aside = max(aside, measure(c.pointText(p), tickSize)+10)
	}
	right := c.width() - margin - aside
	if c.narrow() || aside > 0.4*c.width() {
		left, right, r.above, r.height, r.inset = margin+6, c.width()-margin-6, 15, 36, r.inset*2/3
	}
	s := fromZero(hi*1.02, left, right)
	if positive && hi/lo > logAbove {
		s = logarithmic(lo, hi, left, right)
	} else if lo < 0 {
		s = linear(lo, hi, left, right)
	}
	for _, g := range groups {
		tall += r.heading + r.height*float64(len(g.Points)) + r.between
	}
	top := head(tall)
	bottom := c.across(s, top, top+tall, o.X)
	y := top
	nth := kindsOf(groups)
	for _, g := range groups {
		if !alone {
			c.text(margin, y+15, "start", "plot-strong plot-halo", fit(g.Label, c.width()-2*margin, bold*textSize))
		}
		y += r.heading
		for _, p := range g.Points {
			if p.Kind == "" {
				p.Kind = nth[p.Label]
			}
			label := p.Label
			if alone {
				label = g.Label
			}
			c.labelPoint(label, p, r, left, y)
			c.across1(g.Label, p, s, y+r.above+11)
			y += r.height
		}
		y += r.between
	}
	return c.figure(bottom)
}

// rows are the sizes of the rows of intervals. Where above is not 0 labels stand so
// much above their marks.
type rows struct{ height, above, inset, heading, between float64 }

// labelPoint writes the label of a row, and its value at the right.
func (c *canvas) labelPoint(label string, p Point, r rows, left, y float64) {
	text := c.pointText(p)
	if r.above == 0 {
		c.text(margin+r.inset, y+15, "start", "", fit(label, left-margin-r.inset-8, textSize))
		c.text(c.width()-margin, y+15, "end", "plot-tick", text)
		return
	}
	if measure(text, tickSize) > 0.6*c.width() {
		text = c.o.Text(p.Value) // a number is not cut; the mark and the table have its interval
	}
	c.text(margin+r.inset, y+11, "start", "plot-halo", fit(label, c.width()-2*margin-r.inset-8-measure(text, tickSize), textSize))
	c.text(c.width()-margin, y+11, "end", "plot-tick plot-halo", text)
}

// eachOne says whether each group has one point, all of one label, and there are
// several groups.
func eachOne(groups []Group) bool {
	for _, g := range groups {
		if len(g.Points) != 1 || g.Points[0].Label != groups[0].Points[0].Label {
			return false
		}
	}
	return len(groups) > 1
}

// firstPoints are the groups with their first points, as many as are drawn, and how
// many more there are.
func firstPoints(groups []Group) (out []Group, more int) {
	n := 0
	for _, g := range groups {
		keep := min(len(g.Points), mostPoints-n)
		more += len(g.Points) - keep
		n += keep
		if keep > 0 {
			g.Points = g.Points[:keep]
			out = append(out, g)
		}
	}
	return out, more
}

// kindsOf gives each label of a point one kind, in all groups.
func kindsOf(groups []Group) map[string]Kind {
	nth := map[string]Kind{}
	for _, g := range groups {
		for _, p := range g.Points {
			if _, ok := nth[p.Label]; !ok {
				nth[p.Label] = Nth(len(nth))
			}
		}
	}
	return nth
}

func (c *canvas) pointText(p Point) string {
	switch {
	case !p.drawn():
		return figures.None
	case !p.ranged():
		return c.o.Text(p.Value)
	}
	return fmt.Sprintf("%s (%s to %s)", c.o.Text(p.Value), c.o.Text(p.Lo), c.o.Text(p.Hi))
}

// across1 draws one point with its interval along a row.
func (c *canvas) across1(group string, p Point, s scale, y float64) {
	value, lo, hi := figures.None, "", ""
	if p.drawn() {
		value = c.o.Text(p.Value)
		if p.ranged() {
			lo, hi = c.o.Text(p.Lo), c.o.Text(p.Hi)
		}
	}
	c.data.Add(table.Texts(line(group), line(p.Label), value, lo, hi)...)
	if !p.drawn() {
		return
	}
	c.mark(p.Kind, c.tip(group, p))
	if p.ranged() {
		from, to := s.at(p.Lo), s.at(p.Hi)
		c.line("plot-whisker", from, y, to, y)
		c.line("plot-whisker", from, y-4, from, y+4)
		c.line("plot-whisker", to, y-4, to, y+4)
	}
	c.sign(p.Kind, s.at(p.Value), y, true)
	c.end()
}

func (c *canvas) tip(group string, p Point) string {
	if p.Tip != "" {
		return p.Tip
	}
	text := line(p.Label) + ": " + c.pointText(p)
	if group != "" {
		text = line(group) + ", " + text
	}
	return text
}

// sign draws the shape of a kind, filled or open.
func (c *canvas) sign(k Kind, x, y float64, filled bool) {
	class := "plot-sign"
	if !filled {
		class = "plot-open"
	}
	fmt.Fprintf(&c.b, `<path class="%s" transform="translate(%s %s)" d="%s"/>`, class, number(x), number(y), k.shape())
}

// Package plot draws figures as SVG: plain text, made here, without a script and
// without a library of others. A figure is as wide as it is told to be, has a
// title, a description and its data as a table beside it for who does not see it,
// and takes its colours from variables, so that a page themes it (Style); as a
// file of its own it brings them along (Standalone).
//
// Texts in a figure come from recordings, which may be anybody's: each is made a
// harmless line, cut, and escaped. A value that is no number is not drawn, and
// the figure says so.
package plot

import (
	"fmt"
	"html/template"
	"strings"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/table"
)

// Widths of figures in pixels: for a page on a desk, and for one on a phone, where
// labels stand above their marks instead of beside them.
const (
	Wide   = 760
	Narrow = 340
)

// Options are what all figures have in common.
type Options struct {
	// ID begins every id within the figure, and is one of a kind on its page:
	// letters, digits and hyphens.
	ID                 string
	Title, Description string
	Width              int    // Wide where it is 0
	X, Y               string // what the axes show, with the unit
	Fit                string // what the fitted curve of Curve is, as a sentence
	// Text writes a value for people; with one decimal, or as many as three
	// digits take, where it is nil.
	Text func(float64) string
}

// Figure is a drawing. Body is the inside of its <svg>, escaped.
type Figure struct {
	ID, Title, Description string
	Width, Height          int
	Body                   string
	// Data are the figures that are drawn, for who does not see the drawing. Of
	// thousands of dots it has what they amount to.
	Data *table.Table
	// Focusable says that the marks can be reached by the keyboard, each with its
	// text; else the drawing is one picture to who does not see it.
	Focusable bool
	// Empty says that there was nothing to draw; the figure says it too.
	Empty bool
}

// SVG is the figure as an element of a page that has Style.
func (f Figure) SVG() string {
	role := "img"
	if f.Focusable {
		role = "group" // what is within a picture cannot be reached
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="plot" role="%s" aria-labelledby="%s-title" aria-describedby="%s-desc" viewBox="0 0 %d %d" width="%d" height="%d" xmlns="http://www.w3.org/2000/svg">`,
		role, f.ID, f.ID, f.Width, f.Height, f.Width, f.Height)
	fmt.Fprintf(&b, `<title id="%s-title">%s</title><desc id="%s-desc">%s</desc>`, f.ID, escape(f.Title), f.ID, escape(f.Description))
	b.WriteString(f.Body)
	b.WriteString("</svg>")
	return b.String()
}

// HTML is the same for html/template, which need not escape it once more.
func (f Figure) HTML() template.HTML { return template.HTML(f.SVG()) }

// Standalone is the figure as a file, with its title above it and its colours for
// light and dark.
func Standalone(f Figure) string {
	const head = 34
	var b strings.Builder
	title := fit(f.Title, float64(f.Width)-2*margin, bold*titleSize)
	fmt.Fprintf(&b, `<g transform="translate(0 %d)">%s</g>`, head, f.Body)
	f.Body = fmt.Sprintf(`<style>%s</style><rect class="plot-back" width="%d" height="%d" rx="6"/><text class="plot-head" x="8" y="23" aria-hidden="true">%s</text>%s`,
		Style(), f.Width, f.Height+head, escape(title), b.String())
	f.Height += head
	return f.SVG() + "\n"
}

// canvas is a figure in the making.
type canvas struct {
	o         Options
	b         strings.Builder
	patterns  map[Kind]bool
	focusable bool
	notes     []string
	data      *table.Table
}

// mostFocusable is how many marks of a figure are stops of the keyboard: more of
// them would be in the way of who passes by.
const mostFocusable = 40

// draw begins a figure of so many marks.
func draw(o Options, marks int, columns ...table.Column) *canvas {
	if o.Width == 0 {
		o.Width = Wide
	}
	o.Width = min(max(o.Width, 240), 4000)
	o.ID = identifier(o.ID)
	if o.Text == nil {
		o.Text = func(v float64) string { return figures.Text(v, 1) }
	}
	return &canvas{o: o, patterns: map[Kind]bool{}, focusable: marks > 0 && marks <= mostFocusable,
		data: &table.Table{Title: line(o.Title), Columns: columns}}
}

// narrow says whether labels stand above their marks.
func (c *canvas) narrow() bool { return c.o.Width < 480 }

func (c *canvas) width() float64 { return float64(c.o.Width) }

// note says something below the drawing.
func (c *canvas) note(format string, a ...any) { c.notes = append(c.notes, fmt.Sprintf(format, a...)) }

// skipped tells of values that are no numbers.
func (c *canvas) skipped(n int) {
	if n > 0 {
		c.note("%s not drawn: %s", figures.Number(n, "value"), figures.Verb(n, "it is no number that has a place here", "they are no numbers that have a place here"))
	}
}

// tooMany tells of things that are beyond what a figure can show.
func (c *canvas) tooMany(n int, what string) {
	if n > 0 {
		c.note("%d more %s not drawn.", n, what)
	}
}

// figure ends the drawing at that height.
func (c *canvas) figure(height float64) Figure {
	for _, n := range c.notes {
		for _, l := range wrap(n, c.width()-2*margin, textSize) {
			height += 16
			c.text(margin, height-4, "start", "plot-note", l)
		}
	}
	if len(c.notes) > 0 {
		height += 4
	}
	body := c.b.String()
	if defs := c.defs(); defs != "" {
		body = defs + body
	}
	return Figure{ID: c.o.ID, Title: line(c.o.Title), Description: line(strings.Join(append([]string{c.o.Description}, c.notes...), " ")),
		Width: c.o.Width, Height: int(height + 0.99), Body: body, Data: c.data, Focusable: c.focusable}
}

// empty is the figure of nothing.
func (c *canvas) empty(why string) Figure {
	c.focusable = false
	c.text(c.width()/2, 40, "middle", "plot-note", why)
	if c.o.Description == "" {
		c.o.Description = why
	}
	f := c.figure(72)
	f.Empty = true
	return f
}

// mark opens a group with the text that is shown of it; end closes it.
func (c *canvas) mark(k Kind, tip string) {
	tip = escape(line(tip))
	stop := ""
	if c.focusable {
		stop = ` tabindex="0" role="img" aria-label="` + tip + `"`
	}
	fmt.Fprintf(&c.b, `<g class="plot-mark %s"%s data-tip="%s"><title>%s</title>`, k.Class(), stop, tip, tip)
}

func (c *canvas) end() { c.b.WriteString("</g>") }

func (c *canvas) text(x, y float64, anchor, class, s string) {
	at := ""
	if anchor != "start" {
		at = ` text-anchor="` + anchor + `"`
	}
	fmt.Fprintf(&c.b, `<text class="%s" x="%s" y="%s"%s>%s</text>`, class, number(x), number(y), at, escape(s))
}

func (c *canvas) line(class string, x1, y1, x2, y2 float64) {
	fmt.Fprintf(&c.b, `<path class="%s" d="M%s %sL%s %s"/>`, class, number(x1), number(y1), number(x2), number(y2))
}

// patternFrom is how wide a bar is of which a pattern can be seen.
const patternFrom = 6

// bar is a rectangle filled as its kind is; what takes any time is seen.
func (c *canvas) bar(k Kind, x, y, w, h float64) {
	w = max(w, 1.5)
	fill, class := "", "plot-bar"
	switch _, p := k.entry(); {
	case p == plain || w < patternFrom:
	case p == outlined:
		x, y, w, h, class = x+0.75, y+0.75, w-1.5, h-1.5, "plot-bar plot-open"
	default:
		c.patterns[k] = true
		fill = fmt.Sprintf(` fill="url(#%s-%s)"`, c.o.ID, k.word())
	}
	round := ""
	if w > 4 {
		round = ` rx="2"`
	}
	fmt.Fprintf(&c.b, `<rect class="%s" x="%s" y="%s" width="%s" height="%s"%s%s/>`, class, number(x), number(y), number(w), number(h), round, fill)
}

// defs are the patterns that the figure uses.
func (c *canvas) defs() string {
	var b strings.Builder
	for _, k := range Kinds() {
		if c.patterns[k] {
			fmt.Fprintf(&b, `<pattern id="%s-%s" class="%s" width="6" height="6" patternUnits="userSpaceOnUse"%s><rect class="plot-fill" width="6" height="6"/>%s</pattern>`,
				c.o.ID, k.word(), k.Class(), k.turned(), k.strokes())
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "<defs>" + b.String() + "</defs>"
}

package plot

import "strings"

// Kind is what a mark stands for. A kind has one colour in every view; kinds whose
// colours are near each other for some eyes differ by a pattern or a shape too.
type Kind string

// The kinds of what a run does.
const (
	Library      Kind = "compile library"
	Pipeline     Kind = "compile pipeline"
	Weights      Kind = "weights"
	Encode       Kind = "encode"
	Commit       Kind = "commit"
	Wait         Kind = "wait"
	GPU          Kind = "gpu"
	CPU          Kind = "cpu"
	Recording    Kind = "recording"
	Unattributed Kind = "unattributed"
	Read         Kind = "read"
	Build        Kind = "build"
	Prefill      Kind = "prefill"
	Decode       Kind = "decode"
	Other        Kind = "other"
)

// The kinds of series that stand beside each other, of which each has a shape of
// its own too; Nth counts them through.
const (
	Series1 Kind = "series 1"
	Series2 Kind = "series 2"
	Series3 Kind = "series 3"
	Series4 Kind = "series 4"
	Series5 Kind = "series 5"
	Series6 Kind = "series 6"
)

// colour is one for a light ground and one for a dark. Against its ground each
// has at least 3:1 (WCAG 2.2, 1.4.11). Those of plain kinds differ in lightness
// too, so that they can be told apart by eyes that lack a sort of cones.
type colour struct{ light, dark string }

var (
	vermilion = colour{"#c24a00", "#ff8a45"}
	amber     = colour{"#8a6a00", "#e0b44c"}
	green     = colour{"#6c8c36", "#c3e6a0"}
	teal      = colour{"#0a9a9c", "#3fe3dc"}
	blue      = colour{"#0e5a99", "#5d9dec"}
	violet    = colour{"#7a55e0", "#8f6bf5"}
	plum      = colour{"#6b2a55", "#b0648f"}
	rose      = colour{"#b3246b", "#ff8fbe"}
	grey      = colour{"#5b6470", "#a6aebb"}
)

// pattern is what is drawn over a kind's colour, in that of the ground; outlined is
// the colour around the ground. A bar that
// is too narrow for one has none.
type pattern int

const (
	plain pattern = iota
	rising
	falling
	upright
	dotted
	outlined
)

// kinds has all of them, in the order of a run.
var kinds = []struct {
	kind    Kind
	colour  colour
	pattern pattern
}{
	{Read, amber, dotted}, {Build, violet, plain}, {Library, vermilion, plain}, {Pipeline, amber, rising}, {Weights, plum, plain},
	{Prefill, blue, plain}, {Decode, teal, plain}, {Encode, violet, falling}, {Commit, rose, upright}, {Wait, grey, rising},
	{GPU, green, plain}, {CPU, green, upright}, {Recording, grey, dotted}, {Unattributed, grey, falling}, {Other, grey, outlined},
	{Series1, blue, plain}, {Series2, vermilion, plain}, {Series3, teal, plain}, {Series4, plum, plain}, {Series5, green, plain}, {Series6, violet, plain},
}

// Kinds are all kinds, in the order of a run, and the series behind them.
func Kinds() []Kind {
	all := make([]Kind, len(kinds))
	for i, k := range kinds {
		all[i] = k.kind
	}
	return all
}

// Nth is the kind of series i, from 0; the seventh looks as the first.
func Nth(i int) Kind {
	all := []Kind{Series1, Series2, Series3, Series4, Series5, Series6}
	return all[max(0, i)%len(all)]
}

func (k Kind) entry() (colour, pattern) {
	for _, e := range kinds {
		if e.kind == k {
			return e.colour, e.pattern
		}
	}
	return grey, plain
}

func (k Kind) word() string {
	for _, e := range kinds {
		if e.kind == k {
			return strings.ReplaceAll(string(k), " ", "-")
		}
	}
	return string(Other)
}

// Class is the kind's class in Style; that of Other where it is not known.
func (k Kind) Class() string { return "plot-k-" + k.word() }

// Color is the kind's colour on a light ground and on a dark one, as #rrggbb.
func (k Kind) Color() (light, dark string) {
	c, _ := k.entry()
	return c.light, c.dark
}

func (k Kind) turned() string {
	switch _, p := k.entry(); p {
	case rising:
		return ` patternTransform="rotate(45)"`
	case falling:
		return ` patternTransform="rotate(-45)"`
	}
	return ""
}

func (k Kind) strokes() string {
	switch _, p := k.entry(); p {
	case rising, falling:
		return `<rect class="plot-gap" width="2" height="6"/>`
	case upright:
		return `<rect class="plot-gap" width="1.5" height="6"/>`
	case dotted:
		return `<circle class="plot-gap" cx="3" cy="3" r="1.3"/>`
	}
	return ""
}

// shape is the d of a sign around 0 0 with which points of the kind are drawn.
func (k Kind) shape() string {
	switch k {
	case Series2:
		return "M-4-4H4V4H-4z" // a square
	case Series3:
		return "M0-5.2L5.2 4H-5.2z" // a triangle
	case Series4:
		return "M0-5.4L5.4 0 0 5.4-5.4 0z" // a diamond
	case Series5:
		return "M0 5.2L5.2-4H-5.2z" // a triangle on its head
	case Series6:
		return "M-1.6-5H1.6V-1.6H5V1.6H1.6V5H-1.6V1.6H-5V-1.6H-1.6z" // a cross
	}
	return "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0z" // a disc
}

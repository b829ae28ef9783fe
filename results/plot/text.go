package plot

import (
	"html"
	"math"
	"strconv"
	"strings"
	"unicode"

	"github.com/introgen/introgen/results/sanitize"
	"github.com/introgen/introgen/system/terminal"
)

// Sizes of texts, and the room around a drawing, in pixels.
const (
	titleSize = 15
	textSize  = 12
	tickSize  = 11
	margin    = 8
)

// mostCharacters is how long a text of a recording becomes.
const mostCharacters = 200

// line is a text of anybody as a part of a figure: one line, harmless, and cut.
func line(s string) string {
	cut := false
	n := 0
	for i := range s {
		if n == mostCharacters {
			s, cut = s[:i], true
			break
		}
		n++
	}
	s = sanitize.Line(s)
	if cut {
		s += "…"
	}
	return s
}

func escape(s string) string { return html.EscapeString(sanitize.Line(s)) }

// identifier keeps of an id what can stand in one and in url(#id).
func identifier(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r
		}
		return '-'
	}, line(s))
	return "plot-" + s
}

// number is a coordinate, to the tenth of a pixel. What lies between two goes up,
// also where a processor that multiplies and adds at once has computed it a trace
// smaller: a figure is the same text wherever it is drawn.
func number(v float64) string {
	const trace = 1e-6
	return strconv.FormatFloat(math.Floor(v*10+0.5+trace)/10+0, 'f', -1, 64) // + 0 makes -0 one of them
}

// measure is about how wide a text is in a sans-serif font of the size: rather
// more than less, since which font the reader has is not known.
func measure(s string, size float64) float64 {
	sum := 0.0
	for _, r := range s {
		switch {
		case strings.ContainsRune("iljtf.,:;'|!()[] ·", r):
			sum += 0.34
		case strings.ContainsRune("mwMW@%", r):
			sum += 0.92
		case r >= 'A' && r <= 'Z':
			sum += 0.68
		case r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z':
			sum += 0.6
		default:
			sum += 0.62 * float64(terminal.Width(string(r)))
		}
	}
	return sum * size
}

// fit cuts a text so that it is about so wide; a name loses its middle, since
// kernels of one library begin alike and end differently.
func fit(s string, width, size float64) string {
	s = line(s)
	if measure(s, size) <= width {
		return s
	}
	r := []rune(s)
	for keep := len(r) - 1; keep > 1; keep-- {
		head := (keep + 1) / 2
		if t := string(r[:head]) + "…" + string(r[len(r)-(keep-head):]); measure(t, size) <= width {
			return t
		}
	}
	return "…"
}

// wrap breaks a sentence into lines that are about so wide.
func wrap(s string, width, size float64) []string {
	const letter = 0.6 // as wide as letters and blanks are on average
	lines := terminal.Fold(line(s), "", "", int(width/(letter*size)))
	for i, l := range lines {
		lines[i] = fit(l, width, size)
	}
	return lines
}

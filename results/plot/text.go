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

// widths are how wide the characters from the blank to ~ are in DejaVu Sans, in
// hundredths of the font's size. Which font the reader has is not known; the others
// that Style names are narrower.
var widths = [...]uint8{
	32, 40, 46, 84, 64, 95, 78, 27, 39, 39, 50, 84, 32, 36, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64,
	64, 64, 34, 34, 84, 84, 84, 53, 100, 68, 69, 70, 77, 63, 58, 77, 75, 29, 29, 66, 56, 86, 75, 79,
	60, 79, 69, 63, 61, 73, 68, 99, 69, 61, 69, 39, 34, 39, 84, 50, 50, 61, 63, 55, 63, 62, 35, 63,
	63, 28, 28, 58, 28, 97, 63, 61, 63, 63, 41, 52, 39, 63, 59, 82, 59, 59, 52, 64, 34, 64, 84,
}

// bold is by how much letters of that font are wider where they are bold.
const bold = 1.13

// measure is about how wide a text becomes, rather more than less.
func measure(s string, size float64) float64 {
	sum := 0
	for _, r := range s {
		if i := int(r) - ' '; i >= 0 && i < len(widths) {
			sum += int(widths[i])
		} else {
			sum += 65 * terminal.Width(string(r))
		}
	}
	return float64(sum) / 100 * size
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
	const letter = 0.65 // as wide as letters and blanks are on average
	lines := terminal.Fold(line(s), "", "", int(width/(letter*size)))
	for i, l := range lines {
		lines[i] = fit(l, width, size)
	}
	return lines
}

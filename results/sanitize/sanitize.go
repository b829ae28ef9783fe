// Package sanitize makes texts harmless before they are printed. A recording
// may come from anybody, and what stands in it, names above all, must neither
// command the reader's terminal nor pass for lines of the tool's own.
package sanitize

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line is s as a part of one line: white space of any kind is a space, and what
// would not be seen (control characters, those that turn the direction of
// writing, bytes that are no UTF-8) is U+FFFD.
func Line(s string) string {
	if harmless(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsGraphic(r):
			return r
		case unicode.IsSpace(r):
			return ' '
		}
		return utf8.RuneError
	}, s)
}

func harmless(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// Field is s as a field of CSV: one that a spreadsheet would take for a formula,
// since it begins with =, +, - or @ and is no number, has an apostrophe before
// it, as who types such a text into one writes it (so that names stay apart, one
// that begins with apostrophes and then so has one more).
func Field(s string) string {
	begin := strings.TrimLeft(s, "'")
	if begin == "" || !strings.ContainsRune("=+-@", rune(begin[0])) {
		return s
	}
	if _, err := strconv.ParseFloat(s, 64); err == nil {
		return s
	}
	return "'" + s
}

// Args are the values of a format, their texts and errors made parts of a line.
// What the format itself says of line breaks stays.
func Args(values []any) []any {
	out := make([]any, len(values))
	for i, v := range values {
		switch v := v.(type) {
		case string:
			out[i] = Line(v)
		case error:
			out[i] = Line(v.Error())
		default:
			out[i] = v
		}
	}
	return out
}

// inCell is what may begin a formula, or the quotes around one, where it stands
// directly behind what divides cells.
var inCell = regexp.MustCompile(`([,;\t])([=+\-@"'])`)

// Comment is a line of comment in CSV. A spreadsheet knows none and divides it into
// cells: so that none of them is a formula, what would be one has a space before it.
func Comment(s string) string { return inCell.ReplaceAllString(s, "$1 $2") }

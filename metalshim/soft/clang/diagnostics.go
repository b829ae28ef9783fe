package clang

import (
	"regexp"
	"strconv"
	"strings"
)

// Diagnostic is one message of clang's.
type Diagnostic struct {
	File         string
	Line, Column int
	Severity     string // "error", "warning", "note"; "error" for a fatal one
	Message      string
}

var diagnosticLine = regexp.MustCompile(`^(.+?):(\d+):(\d+): (fatal error|error|warning|note): (.*)$`)

// Diagnostics reads clang's standard error. Lines that are no messages, such
// as the excerpts of the source, are left out.
func Diagnostics(stderr string) []Diagnostic {
	var out []Diagnostic
	for _, line := range strings.Split(stderr, "\n") {
		m := diagnosticLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		row, err1 := strconv.Atoi(m[2])
		col, err2 := strconv.Atoi(m[3])
		if err1 != nil || err2 != nil {
			continue
		}
		out = append(out, Diagnostic{m[1], row, col, strings.TrimPrefix(m[4], "fatal "), m[5]})
	}
	return out
}

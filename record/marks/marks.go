// Package marks finds in what a program prints the lines that say that a phase
// begins: those that match an expression of the user's, and those that name a phase
// themselves.
package marks

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
)

// Prefix begins a line that names a phase itself.
const Prefix = "introgen: phase "

// longest is how much of a line is looked at. What is longer is no line for people.
const longest = 4096

// Mark is an expression, and the phase that begins with a line that matches it.
type Mark struct {
	Match *regexp.Regexp
	Phase string
}

// Parse reads REGEXP=PHASE. The expression may have an equals sign, the phase not.
func Parse(text string) (Mark, error) {
	i := strings.LastIndexByte(text, '=')
	if i <= 0 || strings.TrimSpace(text[i+1:]) == "" {
		return Mark{}, fmt.Errorf("%q: REGEXP=PHASE is wanted, such as '^loaded=prefill'", text)
	}
	match, err := regexp.Compile(text[:i])
	if err != nil {
		return Mark{}, fmt.Errorf("%q: %w", text, err)
	}
	return Mark{match, strings.TrimSpace(text[i+1:])}, nil
}

// Lines puts the lines of one stream together, from what is written of it.
type Lines struct {
	Marks []Mark
	part  []byte // of a line that has not ended
	long  bool   // the rest of the line is not looked at
}

// Write takes what was written, and returns the phases that begin with the lines
// that end in it.
func (l *Lines) Write(b []byte) (phases []string) {
	for len(b) > 0 {
		line, rest, ended := bytes.Cut(b, []byte("\n"))
		if room := longest - len(l.part); !l.long && len(line) > room {
			line, l.long = line[:room], true
			l.part = append(l.part, line...)
		} else if !l.long {
			l.part = append(l.part, line...)
		}
		if !ended {
			return phases
		}
		if phase := l.phase(strings.TrimSuffix(string(l.part), "\r")); phase != "" {
			phases = append(phases, phase)
		}
		l.part, l.long, b = l.part[:0], false, rest
	}
	return phases
}

// phase is the phase that begins with a line, "" if none does.
func (l *Lines) phase(line string) string {
	if name, ok := strings.CutPrefix(line, Prefix); ok {
		return strings.TrimSpace(name)
	}
	for _, m := range l.Marks {
		if m.Match.MatchString(line) {
			return m.Phase
		}
	}
	return ""
}

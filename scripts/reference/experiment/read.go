package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/introgen/introgen/trace/names"
)

// compile is a line of the experiment's trace.
type compile struct {
	kind, detail string
	took         int64
}

// read takes a section's lines apart: the rounds by number, what was compiled
// by the phase it was printed under, and how long the device took, 0 where that
// was not printed. A line that is not understood is an error, so that no figure
// gets lost.
func (s section) read() (rounds map[int]*figures, compiles map[string][]compile, opened int64, err error) {
	rounds, compiles = map[int]*figures{}, map[string][]compile{}
	under := ""
	for _, line := range s.lines {
		if err := s.line(line, rounds, compiles, &under, &opened); err != nil {
			return nil, nil, 0, fmt.Errorf("%q: %w", line, err)
		}
	}
	return rounds, compiles, opened, nil
}

func (s section) line(line string, rounds map[int]*figures, compiles map[string][]compile, under *string, opened *int64) (err error) {
	number := func(digits string) int {
		n, bad := strconv.Atoi(digits)
		if bad != nil {
			err = bad
		}
		return n
	}
	time := func(ms string) int64 {
		n, bad := ns(ms)
		if bad != nil {
			err = bad
		}
		return n
	}
	var m []string
	is := func(form *regexp.Regexp) bool {
		m = form.FindStringSubmatch(line)
		return m != nil
	}
	switch {
	case is(device):
		*opened = time(m[1])
	case is(phase):
		*under = m[1]
	case is(lib):
		compiles[*under] = append(compiles[*under], compile{names.SpanLibrary, m[1], time(m[2])})
	case is(pipe):
		compiles[*under] = append(compiles[*under], compile{names.SpanPipeline, m[1] + " " + m[2], time(m[3])})
	case is(phases):
		rounds[number(m[1])] = &figures{read: time(m[2]), build: time(m[3]), prompt: number(m[4]), prefill: time(m[5]),
			count: number(m[6]), decode: time(m[7])}
	case is(steps), is(text):
		r, ok := rounds[number(m[1])]
		switch {
		case !ok:
			return fmt.Errorf("no such round")
		case text.MatchString(line):
			r.text, err = strconv.Unquote(m[2])
			return err
		}
		for _, v := range strings.Fields(m[2]) {
			r.steps = append(r.steps, time(v))
		}
	default:
		return fmt.Errorf("not understood")
	}
	return err
}

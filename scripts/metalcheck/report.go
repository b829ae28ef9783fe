package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/introgen/introgen/figures"
)

// report is what is written.
type report struct {
	Begun                   time.Time
	Took                    time.Duration
	Machine, Device, System string
	Steps                   []done
}

type done struct {
	step
	outcome
}

// add takes a step's outcome. Leaks that grow with the rounds are ours; a
// constant number belongs to frameworks that never free what they set up once.
func (r *report) add(s step, o outcome) {
	for _, before := range r.Steps {
		if s.leaks != "" && s.leaks == before.leaks && o.Leaks > before.Leaks && before.Leaks >= 0 && o.Passed > 0 {
			o.Passed, o.Failed = 0, 1
			o.Notes = append(o.Notes, fmt.Sprintf("%d more than %s: leaks grow with the rounds", o.Leaks-before.Leaks, before.name))
		}
	}
	r.Steps = append(r.Steps, done{s, o})
}

// sum adds up what came of the steps.
func (r *report) sum() (all outcome) {
	for _, s := range r.Steps {
		all.Passed += s.Passed
		all.Failed += s.Failed
		all.Skipped += s.Skipped
	}
	return all
}

// ok says whether nothing failed of what there was. That all was skipped, for
// want of a device, is no failure of this machine; the workflow wants one of its
// machines not to.
func (r *report) ok() bool { return r.sum().Failed == 0 && len(r.Steps) > 0 }

// headline is the first line, which the workflow reads.
func (r *report) headline() string {
	all := r.sum()
	text := fmt.Sprintf("metal-check: %d passed, %d failed, %d skipped; device: %s", all.Passed, all.Failed, all.Skipped, r.Device)
	if all.Passed+all.Failed == 0 {
		text += "; nothing was checked"
	}
	return text
}

// line is one step's.
func (r *report) line(i int) string {
	s := r.Steps[i]
	word := "pass"
	switch {
	case s.Failed > 0:
		word = "FAIL"
	case s.Passed == 0:
		word = "skip"
	}
	line := fmt.Sprintf("%s  %-32s %4d passed %3d failed %3d skipped  %7s s", word, s.name, s.Passed, s.Failed, s.Skipped, figures.Text(s.Took.Seconds(), 1))
	if s.Passed == 0 && s.Failed == 0 && len(s.Notes) > 0 {
		line += "  " + s.Notes[0]
	}
	return line
}

// String is the whole report.
func (r *report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n%s\n%s\nbegun %s, took %v\n\n", r.headline(), r.Machine, r.System, r.Begun.UTC().Format(time.RFC3339), r.Took.Round(time.Second))
	for i := range r.Steps {
		fmt.Fprintln(&b, r.line(i))
	}
	for _, s := range r.Steps {
		if len(s.Notes) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n%s: %s\n", s.name, strings.Join(s.argv, " "))
		for _, n := range s.Notes {
			fmt.Fprintf(&b, "    %s\n", n)
		}
	}
	return b.String()
}

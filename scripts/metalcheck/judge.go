package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// outcome is what came of a step.
type outcome struct {
	Passed, Failed, Skipped int
	Leaks                   int // -1 where none were looked for
	Notes                   []string
	Took                    time.Duration
}

// judgeExit judges by the exit code alone.
func judgeExit(output string, err error) outcome {
	if err != nil {
		return outcome{Failed: 1, Leaks: -1, Notes: append([]string{err.Error()}, last(output, 12)...)}
	}
	return outcome{Passed: 1, Leaks: -1}
}

// judgeRefusal wants a device without simdgroups to be told so before anything
// compiles.
func judgeRefusal(output string, err error) outcome {
	if err == nil || !strings.Contains(output, "need Apple7") || strings.Contains(output, "LIB ") {
		return outcome{Failed: 1, Leaks: -1, Notes: append([]string{fmt.Sprintf("it was not refused as it should be (%v)", err)}, last(output, 12)...)}
	}
	return outcome{Passed: 1, Leaks: -1}
}

// event is a line of `go test -json` (go doc test2json).
type event struct{ Action, Package, Test, Output string }

// judgeTests counts the tests of `go test -json`. What is printed before a
// process dies belongs to no test, so the package's own failure counts too.
func judgeTests(output string, err error) outcome {
	o := outcome{Leaks: -1}
	said := map[string][]string{}
	for line := range strings.Lines(output) {
		var e event
		if json.Unmarshal([]byte(line), &e) != nil {
			if s := strings.TrimSpace(line); s != "" {
				said[""] = append(said[""], s)
			}
			continue
		}
		key := e.Package + " " + e.Test
		switch e.Action {
		case "output":
			said[key] = append(said[key], strings.TrimRight(e.Output, "\n"))
		case "pass":
			if e.Test != "" {
				o.Passed++
			}
		case "skip":
			if e.Test != "" {
				o.Skipped++
				o.Notes = append(o.Notes, matching(said[key], "SKIP: ")...)
			}
		case "fail":
			o.Failed++
			o.Notes = append(o.Notes, "failed: "+key)
			o.Notes = append(o.Notes, last(strings.Join(said[key], "\n"), 8)...)
		}
	}
	switch {
	case err != nil && o.Failed == 0:
		o.Failed++
		o.Notes = append(o.Notes, err.Error())
		o.Notes = append(o.Notes, last(strings.Join(said[""], "\n"), 12)...)
	case o.Passed+o.Failed+o.Skipped == 0:
		o.Failed++
		o.Notes = append(o.Notes, "no test ran: no test of the packages has such a name")
	}
	o.Notes = unique(o.Notes)
	return o
}

var leaksLine = regexp.MustCompile(`(\d+) leaks? for (\d+) total leaked bytes`)

// judgeLeaks reads what leaks(1) says. Apple's frameworks may have some of
// their own: report.add compares the rounds.
func judgeLeaks(output string, err error) outcome {
	m := leaksLine.FindStringSubmatch(output)
	if m == nil {
		// leaks exits with an error of its own where it finds some.
		return outcome{Failed: 1, Leaks: -1, Notes: append([]string{fmt.Sprintf("leaks said nothing of leaks (%v)", err)}, last(output, 12)...)}
	}
	n, err := strconv.Atoi(m[1])
	if err != nil || strings.Contains(output, "--- FAIL") {
		return outcome{Failed: 1, Leaks: -1, Notes: append([]string{m[0]}, matching(strings.Split(output, "\n"), "--- FAIL")...)}
	}
	if strings.Contains(output, "no tests to run") {
		return outcome{Failed: 1, Leaks: -1, Notes: []string{m[0], "no test ran that could have leaked"}}
	}
	return outcome{Passed: 1, Leaks: n, Notes: []string{m[0]}}
}

// complaint is what Apple's libraries print where they find a mistake and go
// on.
var complaint = regexp.MustCompile(`(?m)^.*(MISSING POOLS|failed assertion|message sent to deallocated instance|Invalid (?:device|threadgroup) (?:load|store)|\*\*\* Terminating app).*$`)

func complaints(output string) []string {
	found := complaint.FindAllString(output, -1)
	slices.Sort(found)
	found = slices.Compact(found)
	if n := len(found); n > 5 {
		found = append(found[:5], fmt.Sprintf("… and %d more", n-5))
	}
	return found
}

// unique leaves out lines that were said before.
func unique(lines []string) []string {
	seen := map[string]bool{}
	return slices.DeleteFunc(lines, func(l string) bool {
		before := seen[l]
		seen[l] = true
		return before
	})
}

func last(text string, n int) []string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return lines[max(0, len(lines)-n):]
}

func matching(lines []string, part string) []string {
	var out []string
	for _, l := range lines {
		if i := strings.Index(l, part); i >= 0 {
			out = append(out, l[i:])
		}
	}
	return out
}

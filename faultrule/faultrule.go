// Package faultrule is what planted faults have in common, whether they disturb the
// calls of a Metal driver or the phases of a run: how rules are written and
// read, and which of the things that a rule names it disturbs.
//
// Rules are separated by ';', each a first word that says what is
// disturbed, then parts separated by ','.
package faultrule

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
)

// ErrInjected is the cause of every planted failure.
var ErrInjected = errors.New("injected fault")

// Parts are those that every rule may have.
type Parts struct {
	N     *int           // n=K: the K-th thing that is named, from 1; 0 is every one
	Delay *time.Duration // delay=DURATION
	Fail  *bool          // fail
}

// Part is a part of a rule as it is written: key, key=value.
type Part struct {
	Key, Value string
	Given      bool   // whether there is a '='
	Text       string // the whole, for errors
}

// ParseAll reads rules with parse. An error names the text, and usage
// says what is allowed.
func ParseAll[R any](text, usage string, parse func(string) (R, error)) ([]R, error) {
	var rules []R
	for one := range strings.SplitSeq(text, ";") {
		r, err := parse(one)
		if err != nil {
			return nil, fmt.Errorf("fault %q: %w; %s", text, err, usage)
		}
		rules = append(rules, r)
	}
	return rules, nil
}

// Read reads one rule: the first word by first, the common parts into common,
// and what else there is by other, which says whether it knows the part. other
// may be nil.
func Read(text string, first func(Part) error, common Parts, other func(Part) (bool, error)) error {
	for i, one := range strings.Split(text, ",") {
		p := Part{Text: one}
		p.Key, p.Value, p.Given = strings.Cut(strings.TrimSpace(one), "=")
		if i == 0 {
			if err := first(p); err != nil {
				return err
			}
			continue
		}
		known, err := common.read(p)
		if !known && other != nil {
			known, err = other(p)
		}
		if err != nil {
			return err
		}
		if !known {
			return fmt.Errorf("unknown part %q", p.Text)
		}
	}
	return nil
}

func (c Parts) read(p Part) (known bool, err error) {
	switch {
	case p.Key == "n":
		if *c.N, err = strconv.Atoi(p.Value); err != nil || *c.N < 1 {
			return true, fmt.Errorf("n=%q is no number from 1", p.Value)
		}
	case p.Key == "delay":
		if *c.Delay, err = time.ParseDuration(p.Value); err != nil || *c.Delay < 0 {
			return true, fmt.Errorf("delay=%q is no duration", p.Value)
		}
	case p.Key == "fail" && !p.Given:
		*c.Fail = true
	default:
		return false, nil
	}
	return true, nil
}

// Text is a rule as Read reads it; more are parts of its own kind, or "".
func Text(first string, n int, delay time.Duration, more string, fail bool) string {
	text := first
	if n > 0 {
		text += fmt.Sprintf(",n=%d", n)
	}
	if delay > 0 {
		text += fmt.Sprintf(",delay=%v", delay)
	}
	if more != "" {
		text += "," + more
	}
	if fail {
		text += ",fail"
	}
	return text
}

// Planted are rules with what each of them has named so far. Any goroutine may ask.
type Planted[R any] struct {
	mu     sync.Mutex
	rules  []R
	number func(R) int // which of the things that a rule names it disturbs; 0 is every one
	seen   []int       // things so far that each rule names
}

// Plant returns the rules as they are before anything has happened.
func Plant[R any](rules []R, number func(R) int) *Planted[R] {
	return &Planted[R]{rules: rules, number: number, seen: make([]int, len(rules))}
}

// Hits counts one more thing, which named says of a rule whether it names, and
// returns the rules that disturb it.
func (p *Planted[R]) Hits(named func(R) bool) []R {
	p.mu.Lock()
	defer p.mu.Unlock()
	var hits []R
	for i, r := range p.rules {
		if !named(r) {
			continue
		}
		p.seen[i]++
		if n := p.number(r); n == 0 || n == p.seen[i] {
			hits = append(hits, r)
		}
	}
	return hits
}

// Unused are the rules that have disturbed nothing so far: a name that does not
// exist, a number that was not reached, something that did not come.
func (p *Planted[R]) Unused() []R {
	p.mu.Lock()
	defer p.mu.Unlock()
	var unused []R
	for i, r := range p.rules {
		if p.seen[i] < max(1, p.number(r)) {
			unused = append(unused, r)
		}
	}
	return unused
}

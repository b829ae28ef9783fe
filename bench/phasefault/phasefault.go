// Package phasefault delays, slows down or fails the phases of a run, whatever
// engine it is on, to show what a harness makes of it. What it does happens
// inside of the spans, so that it is measured. Calls of Metal are
// metalshim/callfault's.
package phasefault

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/introgen/introgen/faultrule"
	"github.com/introgen/introgen/trace/names"
)

// ErrInjected is the cause of every failure that this package makes.
var ErrInjected = faultrule.ErrInjected

// phases are the words of rules, with the names of the spans that they mean.
var phases = []struct{ word, span string }{
	{"read", names.SpanRead}, {"build", names.SpanBuild}, {"encode", names.SpanEncodePrompt},
	{"prefill", names.SpanPrefill}, {"step", names.SpanStep},
}

// Rule disturbs one phase.
type Rule struct {
	Phase string        // a span's name
	N     int           // the N-th of the process, from 1; 0 is every one
	Delay time.Duration // before the work
	Slow  float64       // after the work, this part of the time that it took
	Fail  bool          // instead of the work
}

// Rules are what is planted, in the order in which they were given.
type Rules []Rule

const usage = "want rules separated by ';', each read, build, encode, prefill or step, then any of n=K, delay=DURATION, slow=PERCENT%, fail, separated by ','; such as step,slow=5%"

// mostSlow keeps a slip of the finger from making a run last for days.
const mostSlow = 100

// Split divides a text into the rules that are of this package and the
// others, in order.
func Split(text string) (ours, others string) {
	var mine, rest []string
	for one := range strings.SplitSeq(text, ";") {
		word, _, _ := strings.Cut(one, ",")
		if spanOf(strings.TrimSpace(word)) != "" {
			mine = append(mine, one)
		} else {
			rest = append(rest, one)
		}
	}
	return strings.Join(mine, ";"), strings.Join(rest, ";")
}

func spanOf(word string) string {
	for _, p := range phases {
		if p.word == word {
			return p.span
		}
	}
	return ""
}

// Parse reads rules from text such as "read,delay=50ms" or
// "step,slow=5%;step,n=3,delay=150us".
func Parse(text string) (Rules, error) { return faultrule.ParseAll(text, usage, parseRule) }

func parseRule(text string) (Rule, error) {
	var r Rule
	err := faultrule.Read(text, func(p faultrule.Part) error {
		if r.Phase = spanOf(p.Key); r.Phase == "" || p.Given {
			return fmt.Errorf("unknown phase %q", strings.TrimSpace(p.Text))
		}
		return nil
	}, faultrule.Parts{N: &r.N, Delay: &r.Delay, Fail: &r.Fail}, func(p faultrule.Part) (bool, error) {
		if p.Key != "slow" {
			return false, nil
		}
		number, percent := strings.CutSuffix(p.Value, "%")
		v, err := strconv.ParseFloat(number, 64)
		if err != nil || !percent || !(v > 0 && v <= 100*mostSlow) {
			return true, fmt.Errorf("slow=%q is no part from 0%% to %d%%", p.Value, 100*mostSlow)
		}
		r.Slow = v / 100
		return true, nil
	})
	if err == nil && r.Delay == 0 && r.Slow == 0 && !r.Fail {
		err = errors.New("neither delay, slow nor fail")
	}
	return r, err
}

// String is the rule as Parse reads it.
func (r Rule) String() string {
	first, slow := r.Phase, ""
	for _, p := range phases {
		if p.span == r.Phase {
			first = p.word
		}
	}
	if r.Slow > 0 {
		slow = "slow=" + strconv.FormatFloat(100*r.Slow, 'f', -1, 64) + "%"
	}
	return faultrule.Text(first, r.N, r.Delay, slow, r.Fail)
}

// Injector applies rules.
type Injector struct{ *faultrule.Planted[Rule] }

// New returns an injector of the rules, which has disturbed nothing yet.
func New(rules Rules) *Injector {
	return &Injector{faultrule.Plant(rules, func(r Rule) int { return r.N })}
}

// Around returns what stands around the phases of a run: bench.Job's Around. A
// cancelled context ends a delay with its error.
func (in *Injector) Around(ctx context.Context) func(phase string, work func() error) error {
	return func(phase string, work func() error) error {
		delay, slow, fail := in.hit(phase)
		if err := pause(ctx, delay); err != nil {
			return err
		}
		switch {
		case fail && (phase == names.SpanPrefill || phase == names.SpanStep):
			return ErrInjected // the run says which pass it was
		case fail:
			return fmt.Errorf("%s: %w", phase, ErrInjected)
		}
		began := time.Now()
		if err := work(); err != nil || slow == 0 {
			return err
		}
		return pause(ctx, time.Duration(slow*float64(time.Since(began))))
	}
}

func (in *Injector) hit(phase string) (delay time.Duration, slow float64, fail bool) {
	for _, r := range in.Hits(func(r Rule) bool { return r.Phase == phase }) {
		delay, slow, fail = delay+r.Delay, slow+r.Slow, fail || r.Fail
	}
	return delay, slow, fail
}

// spin is the longest pause that is spent working: a system wakes up later than
// it was asked to, by up to a tenth of a millisecond or more.
const spin = 5 * time.Millisecond

func pause(ctx context.Context, d time.Duration) error {
	end := time.Now().Add(d)
	if d > spin {
		select {
		case <-time.After(d - spin):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	for time.Now().Before(end) {
	}
	return nil
}

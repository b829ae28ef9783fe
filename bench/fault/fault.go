// Package fault delays, slows down or fails the phases of a run, whatever
// engine it is on, to show what a harness makes of it. What it does happens
// inside of the spans, so that it is measured. Calls of Metal are
// metalshim/fault's.
package fault

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/introgen/introgen/results"
)

// ErrInjected is the cause of every failure that this package makes.
var ErrInjected = errors.New("injected fault")

// phases are the words of rules, with the names of the spans that they mean.
var phases = []struct{ word, span string }{
	{"read", results.SpanRead}, {"build", results.SpanBuild}, {"encode", results.SpanEncode},
	{"prefill", results.SpanPrefill}, {"step", results.SpanStep},
}

// Rule disturbs one phase.
type Rule struct {
	Phase string        // a span's name
	N     int           // the N-th of the process, from 1; 0 is every one
	Delay time.Duration // before the work
	Slow  float64       // after the work, this part of the time that it took
	Fail  bool          // instead of the work
}

// Plan is a list of rules.
type Plan []Rule

const usage = "want rules separated by ';', each read, build, encode, prefill or step, then any of n=K, delay=DURATION, slow=PERCENT%, fail, separated by ','; such as step,slow=5%"

// mostSlow keeps a slip of the finger from making a run last for days.
const mostSlow = 100

// Split divides a plan's text into the rules that are of this package and the
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

// Parse reads a plan from text such as "read,delay=50ms" or
// "step,slow=5%;step,n=3,delay=150us".
func Parse(text string) (Plan, error) {
	var plan Plan
	for one := range strings.SplitSeq(text, ";") {
		r, err := parseRule(one)
		if err != nil {
			return nil, fmt.Errorf("fault %q: %w; %s", text, err, usage)
		}
		plan = append(plan, r)
	}
	return plan, nil
}

func parseRule(text string) (Rule, error) {
	var r Rule
	for i, part := range strings.Split(text, ",") {
		key, value, given := strings.Cut(strings.TrimSpace(part), "=")
		if i == 0 {
			if r.Phase = spanOf(key); r.Phase == "" || given {
				return r, fmt.Errorf("unknown phase %q", strings.TrimSpace(part))
			}
			continue
		}
		switch {
		case key == "n":
			n, err := strconv.Atoi(value)
			if err != nil || n < 1 {
				return r, fmt.Errorf("n=%q is no number from 1", value)
			}
			r.N = n
		case key == "delay":
			d, err := time.ParseDuration(value)
			if err != nil || d < 0 {
				return r, fmt.Errorf("delay=%q is no duration", value)
			}
			r.Delay = d
		case key == "slow":
			number, percent := strings.CutSuffix(value, "%")
			v, err := strconv.ParseFloat(number, 64)
			if err != nil || !percent || !(v > 0 && v <= 100*mostSlow) {
				return r, fmt.Errorf("slow=%q is no part from 0%% to %d%%", value, 100*mostSlow)
			}
			r.Slow = v / 100
		case key == "fail" && !given:
			r.Fail = true
		default:
			return r, fmt.Errorf("unknown part %q", part)
		}
	}
	if r.Delay == 0 && r.Slow == 0 && !r.Fail {
		return r, errors.New("neither delay, slow nor fail")
	}
	return r, nil
}

// String is the rule as Parse reads it.
func (r Rule) String() string {
	text := r.Phase
	for _, p := range phases {
		if p.span == r.Phase {
			text = p.word
		}
	}
	if r.N > 0 {
		text += fmt.Sprintf(",n=%d", r.N)
	}
	if r.Delay > 0 {
		text += fmt.Sprintf(",delay=%v", r.Delay)
	}
	if r.Slow > 0 {
		text += ",slow=" + strconv.FormatFloat(100*r.Slow, 'f', -1, 64) + "%"
	}
	if r.Fail {
		text += ",fail"
	}
	return text
}

// Injector applies a plan.
type Injector struct {
	mu   sync.Mutex
	plan Plan
	seen []int // phases so far, by rule
}

// New returns an injector of the plan, which has disturbed nothing yet.
func New(plan Plan) *Injector { return &Injector{plan: plan, seen: make([]int, len(plan))} }

// Around returns what stands around the phases of a run: bench.Job's Around. A
// cancelled context ends a delay with its error.
func (in *Injector) Around(ctx context.Context) func(phase string, work func() error) error {
	return func(phase string, work func() error) error {
		delay, slow, fail := in.hit(phase)
		if err := pause(ctx, delay); err != nil {
			return err
		}
		switch {
		case fail && (phase == results.SpanPrefill || phase == results.SpanStep):
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
	in.mu.Lock()
	defer in.mu.Unlock()
	for i, r := range in.plan {
		if r.Phase != phase {
			continue
		}
		in.seen[i]++
		if r.N == 0 || r.N == in.seen[i] {
			delay, slow, fail = delay+r.Delay, slow+r.Slow, fail || r.Fail
		}
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

// Unused are the rules that have disturbed nothing so far: a number that was
// not reached, or a phase that did not come.
func (in *Injector) Unused() []Rule {
	in.mu.Lock()
	defer in.mu.Unlock()
	var unused []Rule
	for i, r := range in.plan {
		if in.seen[i] < max(1, r.N) {
			unused = append(unused, r)
		}
	}
	return unused
}

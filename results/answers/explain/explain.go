// Package explain says what dominated a recording's runs, why, how sure that
// is, and what to do next. What it knows is a table of rules (rules.go); each
// looks at one arm of the recording, and each is tested alone.
package explain

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/answers/compare"
	"github.com/introgen/introgen/results/answers/samples"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/metrics"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/stats"
	"github.com/introgen/introgen/results/table"
)

// How sure a rule is.
const (
	Certain  = "certain"  // the recording says so itself
	Likely   = "likely"   // what is recorded has hardly another cause
	Possible = "possible" // other causes look the same
)

// Rule is one thing that can be found out.
type Rule struct {
	Name string
	Sure string
	// Text is a format for what Holds returns; Advice says what to do, and may
	// take figures by their numbers ("%[2]d").
	Text, Advice string
	// Holds returns the figures of Text, what the cause costs (0 where that
	// cannot be told), and whether the rule applies.
	Holds func(*Case) (figures []any, cost time.Duration, ok bool)
}

// Case is an arm of a recording, as rules look at it.
type Case struct {
	Arm   samples.Series   // the first rounds of the runs that count
	Later samples.Series   // the later ones, where there are any
	Runs  []*recording.Run // all of them, also those that do not count
	Peers []*Case          // the other arms of the recording
	file  *breakdown.File
}

// Finding is a rule that applies to an arm.
type Finding struct {
	Rule         string
	Sure         string
	Text, Advice string
	Cost         time.Duration
}

// Arm is what is found of one arm.
type Arm struct {
	Name     string
	Runs     int    // that count
	Cause    string // what dominates the time to the second token, in a sentence
	Findings []Finding
}

// Answer is an explanation.
type Answer struct {
	Verdict     string // the slowest arm and what its time goes to, in a line
	Arms        []Arm
	Differences []string // between the arms, where there are two or more of one state
	Notes       []string
}

// Cases are the arms of a recording.
func Cases(f *breakdown.File) []*Case {
	var out []*Case
	later := samples.LaterRounds(f)
	for _, s := range samples.Of(f) {
		i := slices.IndexFunc(later, func(l samples.Series) bool { return l.Name == s.Name })
		if i < 0 {
			continue // the later rounds of the arm before
		}
		out = append(out, &Case{Arm: s, Later: later[i], Runs: runsOf(f, s.Name), file: f})
	}
	for i, c := range out {
		c.Peers = slices.Concat(out[:i], out[i+1:])
	}
	return out
}

// Of explains a recording.
func Of(f *breakdown.File) *Answer {
	a := &Answer{Verdict: compare.Verdict(samples.Of(f))}
	for _, c := range Cases(f) {
		a.Arms = append(a.Arms, Arm{Name: c.Arm.Name, Runs: max(len(c.Arm.Samples), len(c.Later.Samples)), Cause: compare.Cause(c.Arm), Findings: Find(Rules, c)})
	}
	a.differences(f)
	if f.Broken != "" {
		a.Notes = append(a.Notes, "The recording is not whole: "+f.Broken)
	}
	lost := 0
	for _, r := range f.Runs {
		lost += r.LostSpans()
	}
	if lost > 0 {
		a.Notes = append(a.Notes, fmt.Sprintf("%d spans of the recording are missing: no figure is made of what they may have held", lost))
	}
	return a
}

// runsOf are all runs of an arm.
func runsOf(f *breakdown.File, arm string) []*recording.Run {
	return slices.DeleteFunc(slices.Clone(f.Runs), func(r *recording.Run) bool {
		if r.Start == nil {
			return samples.Shown(r) != arm
		}
		return r.Start.Arm != arm
	})
}

// Find applies rules to a case: what costs the most comes first.
func Find(rules []Rule, c *Case) []Finding {
	var out []Finding
	for _, r := range rules {
		figures, cost, ok := r.Holds(c)
		if !ok {
			continue
		}
		out = append(out, Finding{Rule: r.Name, Sure: r.Sure, Text: fill(r.Text, figures), Advice: fill(r.Advice, figures), Cost: cost})
	}
	slices.SortStableFunc(out, func(a, b Finding) int { return cmp.Compare(b.Cost, a.Cost) })
	return out
}

// fill puts figures into a text, as many as it asks for: figures at the end may
// be for the advice alone, which takes them by their numbers.
func fill(text string, figures []any) string {
	verbs := strings.Count(text, "%")
	switch {
	case verbs == 0:
		return text
	case !strings.Contains(text, "%["):
		figures = figures[:min(verbs, len(figures))]
	}
	return fmt.Sprintf(text, figures...)
}

// differences compares the arms that claim one state; two arms are compared
// whatever they claim.
func (a *Answer) differences(f *breakdown.File) {
	all := slices.DeleteFunc(samples.Of(f), func(s samples.Series) bool {
		return len(s.Samples) == 0 || s.State == recording.StateWarmProcess
	})
	for i, s := range all {
		first := slices.IndexFunc(all, func(x samples.Series) bool { return x.State == s.State || len(all) == 2 })
		if first == i {
			continue
		}
		d, err := compare.Differ(all[first], s)
		if err != nil {
			a.Notes = append(a.Notes, fmt.Sprintf("%s and %s: %v", all[first].Name, s.Name, err))
			continue
		}
		a.Differences = append(a.Differences, d.Sentence())
	}
}

// Document is the explanation in sentences.
func (a *Answer) Document() *table.Document {
	var d table.Document
	if a.Verdict != "" && len(a.Arms) > 1 {
		d.Say("%s.", a.Verdict)
	}
	for _, arm := range a.Arms {
		runs := fmt.Sprintf("%d runs", arm.Runs)
		if arm.Runs == 1 {
			runs = "1 run"
		}
		d.Say("%s (%s)", arm.Name, runs)
		if arm.Cause != "" {
			d.Say("  %s.", arm.Cause)
		}
		for i, f := range arm.Findings {
			cost := ""
			if f.Cost > 0 {
				cost = fmt.Sprintf(", %s ms", figures.Milliseconds(f.Cost))
			}
			d.Say("  %d. %s (%s%s): %s.\n     What to do: %s.", i+1, f.Rule, f.Sure, cost, f.Text, f.Advice)
		}
		if len(arm.Findings) == 0 {
			d.Say("  No rule applies.")
		}
	}
	for _, s := range a.Differences {
		d.Say("%s.", s)
	}
	for _, n := range a.Notes {
		d.Say("%s.", n)
	}
	return &d
}

// over is the median over the arm's runs of a figure of their first round.
func (c *Case) over(of func(breakdown.Round) float64) float64 { return median(c.Arm, of) }

// overLater is the same over later rounds.
func (c *Case) overLater(of func(breakdown.Round) float64) float64 { return median(c.Later, of) }

func median(s samples.Series, of func(breakdown.Round) float64) float64 {
	v, _ := s.Values(metrics.Metric{Of: func(r breakdown.Round) (float64, bool) { return of(r), true }})
	return stats.Median(v)
}

// unknown is what a round that lacks a figure gives: it is no sample.
var unknown = math.NaN()

// token2 is the time until the second token is known.
func token2(r breakdown.Round) float64 {
	d, ok := r.Token(2)
	if !ok {
		return unknown
	}
	return float64(d)
}

// start2 is the same from the start of the process.
func start2(r breakdown.Round) float64 {
	d, ok := r.FromStart(2)
	if !ok {
		return unknown
	}
	return float64(d)
}

// phase is a figure of a phase whose spans are all there.
func phase(r breakdown.Round, name string, of func(breakdown.Phase) time.Duration) float64 {
	p, ok := r.Phase(name)
	if !ok || p.Open || p.Lost {
		return unknown
	}
	return float64(of(p))
}

// counted is a number that a phase may not have counted.
func counted(n int64) float64 {
	if n == 0 {
		return unknown
	}
	return float64(n)
}

// stepMedian is the median of a figure over a round's decode steps, as the sweep
// has it; in a process's first round without the first step, which may compile.
// Steps of which spans are missing are left out.
func stepMedian(of func(breakdown.Phase) float64) func(breakdown.Round) float64 {
	return func(r breakdown.Round) float64 {
		steps := r.Steps()
		if r.Number == 1 {
			steps = r.Later()
		}
		steps = slices.DeleteFunc(steps, func(p breakdown.Phase) bool { return p.Lost || math.IsNaN(of(p)) })
		v, ok := metrics.StepMedian(steps, of)
		if !ok {
			return unknown
		}
		return v
	}
}

// knob is a setting of the arm's first run; "" where it is not recorded.
func (c *Case) knob(name string) string {
	for _, r := range c.Runs {
		if v, said := r.Header.Knob(name); said {
			return v
		}
	}
	return ""
}

// flags are the flags of one kind, each run's once, without the kind.
func (c *Case) flags(kind string) []string {
	var out []string
	for _, r := range c.Runs {
		if r.Exit == nil || r.Exit.Refused != "" {
			continue
		}
		for _, f := range r.Exit.Flags {
			if k, text, ok := strings.Cut(f, ": "); ok && k == kind {
				out = append(out, text)
				break
			}
		}
	}
	return out
}

// ms prints a time that is held in a float64 of nanoseconds.
func ms(ns float64) string { return figures.Milliseconds(time.Duration(ns)) }

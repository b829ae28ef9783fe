// Package explain says what dominated a recording's runs, why, how sure that
// is, and what to do next. What it knows are rules (rules.go lists them); each
// looks at one arm of the recording, and each is tested alone.
package explain

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/answers/compare"
	"github.com/introgen/introgen/results/answers/samples"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/foreign"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/table"
)

// How sure a rule is.
const (
	Certain  = "certain"  // the recording says so itself
	Likely   = "likely"   // what is recorded has hardly another cause
	Possible = "possible" // other causes look the same
)

// Rule is one thing that can be found out. A rule stands in one block: the rule
// itself with the limits from which on it holds, and the type of its facts, which
// write its sentence. Rules has all of them.
type Rule struct {
	Name string
	Sure string
	// Advice is what to do about it; "" where that depends on the facts, which
	// then are an Advising.
	Advice string
	// OfPrograms is the advice to whoever wrote a program that was recorded; "" where
	// it is the same.
	OfPrograms string
	// Find looks at an arm. The facts are nil where the rule does not hold; cost
	// is what the cause takes of the arm's time, 0 where that cannot be told.
	Find func(*Case) (f Facts, cost time.Duration)
}

// Facts are what a rule has found: a struct whose fields say what each is, for
// programs, and that can say it in a sentence, without its period.
type Facts interface{ Text() string }

// Advising are facts on which it depends what is to be done.
type Advising interface {
	Facts
	Advice() string
}

// holds says whether the rule finds anything.
func (r Rule) holds(c *Case) bool {
	f, _ := r.Find(c)
	return f != nil
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
	Facts        Facts
	Text, Advice string
	Cost         time.Duration
}

// Arm is what is found of one arm.
type Arm struct {
	Name     string
	Runs     int    // that count
	Cause    string // what dominates the time to the second token, in a sentence
	Findings []Finding
	Alone    bool // a program that was recorded by itself
	NoMetal  bool // it called Metal in no run
}

// Answer is an explanation.
type Answer struct {
	Verdict     string // the slowest arm and what its time goes to, in a line
	Arms        []Arm
	Differences []string // between the arms, where there are two or more of one state
	Notes       table.Notes
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
		out = append(out, &Case{Arm: s, Later: later[i], Runs: s.Runs, file: f})
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
		a.Arms = append(a.Arms, Arm{Name: c.Arm.Name, Runs: max(len(c.Arm.Samples), len(c.Later.Samples)), Cause: compare.Cause(c.Arm), Findings: Find(Rules, c), Alone: c.program() && f.File.Plan == nil, NoMetal: c.noMetal()})
	}
	a.differences(f)
	if f.Broken != "" {
		a.Notes = append(a.Notes, "The recording is not whole: "+f.Broken)
	}
	lost := 0
	for _, r := range f.Runs {
		lost += r.LostSpans()
		if text := foreign.Lost(r); text != "" {
			a.Notes = append(a.Notes, text)
		}
	}
	if lost > 0 {
		a.Notes.Add("%d spans of the recording are missing: no figure is made of what they may have held", lost)
	}
	return a
}

// Find applies rules to a case: what costs the most comes first.
func Find(rules []Rule, c *Case) []Finding {
	var out []Finding
	for _, r := range rules {
		f, cost := r.Find(c)
		if f == nil {
			continue
		}
		found := Finding{Rule: r.Name, Sure: r.Sure, Facts: f, Text: f.Text(), Advice: r.Advice, Cost: cost}
		if a, ok := f.(Advising); ok {
			found.Advice = a.Advice()
		}
		if r.OfPrograms != "" && c.program() {
			found.Advice = r.OfPrograms
		}
		out = append(out, found)
	}
	slices.SortStableFunc(out, func(a, b Finding) int { return cmp.Compare(b.Cost, a.Cost) })
	return out
}

// differences compares the arms that claim one state; two arms are compared
// whatever they claim.
func (a *Answer) differences(f *breakdown.File) {
	all := slices.DeleteFunc(samples.Of(f), func(s samples.Series) bool {
		return len(s.Samples) == 0 || s.State == recording.StateWarmProcess || s.Child()
	})
	for _, d := range compare.Differences(all, func(x, s samples.Series) bool { return x.State == s.State || len(all) == 2 }, &a.Notes) {
		a.Differences = append(a.Differences, d.Sentence())
	}
}

// nothing says that nothing was found, and where to look then.
func (a Arm) nothing() string {
	switch {
	case a.NoMetal:
		return "It never called Metal, so that there is nothing to explain"
	case a.Alone:
		return "No rule applies; `introgen bill` has the whole of it line by line, and `introgen compare -- PROGRAM` what it takes cold"
	}
	return "No rule applies"
}

// Document is the explanation in sentences.
func (a *Answer) Document() *table.Document {
	var d table.Document
	if a.Verdict != "" && len(a.Arms) > 1 {
		d.Say("%s.", a.Verdict)
	}
	for _, arm := range a.Arms {
		d.Say("%s (%s)", arm.Name, figures.Number(arm.Runs, "run"))
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
			d.Say("  %s.", arm.nothing())
		}
	}
	d.Sentences(a.Differences...)
	d.Sentences(a.Notes...)
	return &d
}

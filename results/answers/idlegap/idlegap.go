// Package idlegap answers what a pause does to the decode step that follows
// it: processors, and more so devices, leave their highest clock when nothing
// is asked of them.
package idlegap

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/answers/bench"
	"github.com/introgen/introgen/results/answers/samples"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/stats"
	"github.com/introgen/introgen/results/table"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// Answer is what the pauses did, the shortest first.
type Answer struct {
	Pauses []Pause
	Notes  table.Notes
}

// Pause is one length of pause.
type Pause struct {
	Length time.Duration
	// After and Second are the decode steps right after the pauses and those
	// after them, in nanoseconds, in order.
	After, Second []float64
	// Ratio is of After to the steps after the shortest pause, repetition by
	// repetition; of the shortest itself it is zero.
	Ratio stats.Ratio

	at [][3]int // which repetition each is, of which round of which run
}

// Of looks for pauses and the steps after them in all runs that count.
func Of(f *breakdown.File) (*Answer, error) {
	a := &Answer{}
	if f.Plan != nil {
		remarks, err := bench.Of(f, nil)
		if err != nil {
			return nil, err
		}
		a.Notes = remarks.Notes
	}
	by := map[time.Duration]*Pause{}
	for n, r := range f.Counted("") {
		for _, s := range repetitions(r) {
			if by[s.length] == nil {
				by[s.length] = &Pause{Length: s.length}
			}
			p := by[s.length]
			p.After, p.Second = append(p.After, s.after), append(p.Second, s.second)
			p.at = append(p.at, [3]int{n, int(s.round), s.repetition})
		}
	}
	if len(by) == 0 {
		return nil, errors.New("no run that counts paused between its decode steps: `introgen idle-gap` makes one")
	}
	for _, p := range by {
		a.Pauses = append(a.Pauses, *p)
	}
	slices.SortFunc(a.Pauses, func(p, q Pause) int { return cmp.Compare(p.Length, q.Length) })
	base := a.Pauses[0]
	for i := range a.Pauses[1:] {
		p := &a.Pauses[i+1]
		var x, y []float64
		for k, at := range p.at {
			if j := slices.Index(base.at, at); j >= 0 {
				x, y = append(x, base.After[j]), append(y, p.After[k])
			}
		}
		p.Ratio = stats.Paired(x, y)
	}
	a.judge()
	return a, nil
}

// sample is a pause with the steps after it.
type sample struct {
	round         trace.ID
	length        time.Duration
	before        int // decode steps of the round before the pause
	repetition    int // from 0
	after, second float64
}

// repetitions are the pauses of a run whose next two steps are recorded. Before
// the first pause and between any two lie as many steps, and a repetition has
// each length once: so the number of the step before it says which repetition a
// pause is of, whatever else is missing.
func repetitions(r *breakdown.Run) []sample {
	var out []sample
	lengths := map[time.Duration]bool{}
	for _, round := range r.Rounds {
		var last breakdown.Phase // the pass before
		for _, p := range round.Phases {
			switch p.Name {
			case names.SpanPrefill, names.SpanStep:
				last = p
			case names.SpanPause:
				lengths[time.Duration(p.N)] = true
				if p.Open || last.ID == 0 || r.Lacks(last.ID, p.ID) {
					continue // which step it follows is not known
				}
				x := sample{round: round.ID, length: time.Duration(p.N)}
				if last.Name == names.SpanStep {
					x.before = int(last.N)
				}
				after, first := round.Step(x.before + 1)
				second, also := round.Step(x.before + 2)
				if x.after, x.second = float64(after.Time()), float64(second.Time()); first && also { // else the run ended before, or they are missing
					out = append(out, x)
				}
			}
		}
	}
	apart := 0
	for i, x := range out {
		if d := x.before - out[max(0, i-1)].before; d > 0 && (apart == 0 || d < apart) {
			apart = d
		}
	}
	different := len(lengths)
	if text, said := r.Header.Knob("pauses"); said && text != "" {
		different = strings.Count(text, ",") + 1
	}
	for i, x := range out {
		if apart > 0 {
			out[i].repetition = (x.before/apart - 1) / max(1, different)
		}
	}
	return out
}

// judge says in a sentence from which pause on the next step is slower.
func (a *Answer) judge() {
	fewest := len(a.Pauses[0].After)
	for _, p := range a.Pauses {
		fewest = min(fewest, len(p.After))
	}
	if fewest < stats.LeastForInterval {
		a.Notes.Add("an interval needs %d steps after each pause and there are %d, so nothing can be decided", stats.LeastForInterval, fewest)
		return
	}
	for _, p := range a.Pauses[1:] {
		if p.Ratio.Significant && p.Ratio.Ratio > 1 {
			a.Notes.Add("after a pause of %v the next step takes %s times as long as after %v (p %s)",
				p.Length, figures.Text(p.Ratio.Ratio, 2), a.Pauses[0].Length, figures.Text(p.Ratio.P, 3))
			return
		}
	}
	if len(a.Pauses) > 1 {
		var most float64
		for _, p := range a.Pauses[1:] {
			most = max(most, p.Ratio.MDE)
		}
		a.Notes.Add("no pause makes the next step slower; an effect of %s or more would have been seen in 4 of 5 cases", figures.Percent(most))
	}
}

// Document is the answer as a table and sentences.
func (a *Answer) Document() *table.Document {
	var d table.Document
	t := &table.Table{Title: "ms: the median decode step, ± its 95 % interval; ratio to the shortest pause",
		Columns: []table.Column{{Name: "pause"}, {Name: "steps", Drawn: true}, {Name: "the next step", Parts: samples.TimeParts},
			{Name: "the one after", Parts: samples.TimeParts}, {Name: "ratio of the next", Parts: samples.RatioParts}, {Name: "p", Drawn: true}}}
	for _, p := range a.Pauses {
		t.Add(table.Text(p.Length.String()), table.Text(strconv.Itoa(len(p.After))), samples.Cell(stats.Summarize(p.After)),
			samples.Cell(stats.Summarize(p.Second)), samples.RatioCell(p.Ratio), samples.PCell(p.Ratio))
	}
	d.Table(t)
	d.Sentences(a.Notes...)
	return &d
}

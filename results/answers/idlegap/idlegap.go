// Package idlegap answers what a pause does to the decode step that follows
// it: processors, and more so devices, leave their highest clock when nothing
// is asked of them.
package idlegap

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/introgen/introgen/results"
	"github.com/introgen/introgen/results/answers/arms"
	"github.com/introgen/introgen/results/answers/series"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/stats"
	"github.com/introgen/introgen/results/table"
)

// Answer is what the pauses did, the shortest first.
type Answer struct {
	Pauses []Pause
	Notes  []string
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
}

// Of looks for pauses and the steps after them in all runs that count.
func Of(f *recording.File) (*Answer, error) {
	a := &Answer{}
	if f.Plan != nil {
		remarks, err := arms.Of(f, nil)
		if err != nil {
			return nil, err
		}
		a.Notes = remarks.Notes
	}
	by := map[time.Duration]*Pause{}
	for _, r := range f.Counted("") {
		for _, s := range r.Spans {
			if s.Name != results.SpanPause || s.End < 0 {
				continue
			}
			steps := stepsFrom(r, s.End, 2)
			if len(steps) < 2 {
				continue // the run ended before
			}
			length := time.Duration(s.N)
			if by[length] == nil {
				by[length] = &Pause{Length: length}
			}
			p := by[length]
			p.After, p.Second = append(p.After, steps[0]), append(p.Second, steps[1])
		}
	}
	if len(by) == 0 {
		return nil, errors.New("no run that counts paused between its decode steps: `introgen idle-gap` makes one")
	}
	for _, p := range by {
		a.Pauses = append(a.Pauses, *p)
	}
	slices.SortFunc(a.Pauses, func(p, q Pause) int { return cmp.Compare(p.Length, q.Length) })
	base := a.Pauses[0].After
	for i := range a.Pauses[1:] {
		p := &a.Pauses[i+1]
		n := min(len(base), len(p.After))
		p.Ratio = stats.Paired(base[:n], p.After[:n])
	}
	a.judge()
	return a, nil
}

// stepsFrom are the next n decode steps that begin at that time or later.
func stepsFrom(r *recording.Run, at time.Duration, n int) []float64 {
	var steps []float64
	for _, s := range r.Spans { // in the order of their begin, but for those that others timed
		if s.Name == results.SpanStep && s.End >= 0 && s.Start >= at && len(steps) < n {
			steps = append(steps, float64(s.Duration()))
		}
	}
	return steps
}

// judge says in a sentence from which pause on the next step is slower.
func (a *Answer) judge() {
	fewest := len(a.Pauses[0].After)
	for _, p := range a.Pauses {
		fewest = min(fewest, len(p.After))
	}
	if fewest < stats.LeastForInterval {
		a.note("an interval needs %d steps after each pause and there are %d, so nothing can be decided", stats.LeastForInterval, fewest)
		return
	}
	for _, p := range a.Pauses[1:] {
		if p.Ratio.Significant && p.Ratio.Ratio > 1 {
			a.note("after a pause of %v the next step takes %.2f times as long as after %v (p %.3f)",
				p.Length, p.Ratio.Ratio, a.Pauses[0].Length, p.Ratio.P)
			return
		}
	}
	if len(a.Pauses) > 1 {
		var most float64
		for _, p := range a.Pauses[1:] {
			most = max(most, p.Ratio.MDE)
		}
		a.note("no pause makes the next step slower; an effect of %s or more would have been seen in 4 of 5 cases", series.Percent(most))
	}
}

func (a *Answer) note(format string, args ...any) {
	a.Notes = append(a.Notes, fmt.Sprintf(format, args...))
}

// Document is the answer as a table and sentences.
func (a *Answer) Document() *table.Document {
	var d table.Document
	t := &table.Table{Title: "ms: the median decode step, ± its 95 % interval; ratio to the shortest pause",
		Columns: []table.Column{{Name: "pause"}, {Name: "steps", Drawn: true}, {Name: "the next step", Parts: series.TimeParts},
			{Name: "the one after", Parts: series.TimeParts}, {Name: "ratio of the next", Parts: series.RatioParts}, {Name: "p", Drawn: true}}}
	for _, p := range a.Pauses {
		probability := ""
		if p.Ratio.Decidable {
			probability = strconv.FormatFloat(p.Ratio.P, 'f', 3, 64)
		}
		t.Add(table.Text(p.Length.String()), table.Text(strconv.Itoa(len(p.After))), series.Cell(stats.Summarize(p.After)),
			series.Cell(stats.Summarize(p.Second)), series.RatioCell(p.Ratio), table.Text(probability))
	}
	d.Table(t)
	for _, n := range a.Notes {
		d.Say("%s.", n)
	}
	return &d
}

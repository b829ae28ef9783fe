// Package results turns what package trace recorded into what people and
// programs read. It measures nothing.
package results

import (
	"slices"
	"time"

	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace"
)

// Phases are the times of one round, taken from its spans.
type Phases struct {
	Round        int
	PromptTokens int
	Read         time.Duration // the model file's header and directory
	Build        time.Duration // from there to a model that can run
	Prefill      time.Duration // the prompt, until its next token is known
	Steps        []time.Duration
	Unattributed time.Duration // of the round's wall clock, in none of its spans
	Wall         time.Duration // of the whole round
}

// PhasesOf are the phases of a run's rounds, in the order of the rounds.
func PhasesOf(run *recording.Run) []Phases {
	out := make([]Phases, len(run.Rounds))
	at := map[trace.ID]int{}
	for i, r := range run.Rounds {
		out[i].Round = r.Number
		at[r.Span] = i
	}
	children := make([][]trace.Record, len(out))
	for _, s := range run.Spans {
		if i, ok := at[s.Parent]; ok && s.End >= 0 {
			out[i].Add(s)
			children[i] = append(children[i], s)
		}
	}
	for _, s := range run.Spans {
		if i, ok := at[s.ID]; ok {
			out[i].Wall, out[i].Unattributed = s.Duration(), trace.Unattributed(children[i], s)
		}
	}
	for i, r := range run.Rounds {
		if r.Error != "" { // a step that failed gave no token
			out[i].Steps = out[i].Steps[:min(len(out[i].Steps), max(0, len(r.IDs)-1))]
		}
	}
	return out
}

// Add takes a span of the round that has ended.
func (p *Phases) Add(s trace.Record) {
	switch s.Name {
	case SpanRead:
		p.Read += s.Duration()
	case SpanBuild:
		p.Build += s.Duration()
	case SpanPrefill:
		p.Prefill, p.PromptTokens = s.Duration(), int(s.N)
	case SpanStep:
		p.Steps = append(p.Steps, s.Duration())
	}
}

// Decode is the sum of the decode steps.
func (p Phases) Decode() time.Duration {
	var sum time.Duration
	for _, s := range p.Steps {
		sum += s
	}
	return sum
}

// Total is prefill plus decode: the experiment's total, which leaves reading
// and building out.
func (p Phases) Total() time.Duration { return p.Prefill + p.Decode() }

// Median is the middle of d, or of an even number the mean of the middle two; 0
// of none.
func Median(d []time.Duration) time.Duration {
	if len(d) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(d))
	m := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[m]
	}
	return (sorted[m-1] + sorted[m]) / 2
}

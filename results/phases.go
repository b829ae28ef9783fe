// Package results turns what package trace recorded into what people and
// programs read. It measures nothing.
package results

import (
	"slices"
	"time"

	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// Missing stands for a time that is not recorded.
const Missing time.Duration = -1

// Phases are the times of one round, taken from its spans; Missing where there
// is no span.
type Phases struct {
	Round        int
	PromptTokens int
	Read         time.Duration   // the model file's header and directory
	Build        time.Duration   // from there to a model that can run
	Prefill      time.Duration   // the prompt, until its next token is known
	Steps        []time.Duration // step n at n-1
	Unattributed time.Duration   // of the round's wall clock, in none of its spans
	Wall         time.Duration   // of the whole round
}

// PhasesOf are the phases of a run's rounds, in the order of the rounds.
func PhasesOf(run *recording.Run) []Phases {
	out := make([]Phases, len(run.Rounds))
	at := map[trace.ID]int{}
	for i, r := range run.Rounds {
		out[i] = NewPhases(r.Number)
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
	for i := range run.Rounds {
		out[i].Made(&run.Rounds[i])
	}
	return out
}

// NewPhases are those of a round of which nothing is known yet.
func NewPhases(round int) Phases {
	return Phases{Round: round, Read: Missing, Build: Missing, Prefill: Missing, Unattributed: Missing, Wall: Missing}
}

// Add takes a span of the round that has ended.
func (p *Phases) Add(s trace.Record) {
	switch s.Name {
	case names.SpanRead:
		p.Read = s.Duration()
	case names.SpanBuild:
		p.Build = s.Duration()
	case names.SpanPrefill:
		p.Prefill, p.PromptTokens = s.Duration(), int(s.N)
	case names.SpanStep:
		if s.N < 1 || s.N > mostSteps {
			return
		}
		for int64(len(p.Steps)) < s.N {
			p.Steps = append(p.Steps, Missing)
		}
		p.Steps[s.N-1] = s.Duration()
	}
}

// mostSteps bounds the memory that the number of one damaged step takes.
const mostSteps = 1 << 20

// Made takes what the round's event says: as many decode steps as gave a token.
// Where steps are recorded at all, those that are not are Missing.
func (p *Phases) Made(e *recording.Round) {
	made := max(0, len(e.IDs)-1)
	switch {
	case e.Error != "": // a step that failed gave no token
		p.Steps = p.Steps[:min(len(p.Steps), made)]
	case e.IDs != nil && len(p.Steps) > 0:
		for len(p.Steps) < min(made, mostSteps) {
			p.Steps = append(p.Steps, Missing)
		}
	}
}

// Known are the decode steps that are recorded.
func (p Phases) Known() []time.Duration {
	return slices.DeleteFunc(slices.Clone(p.Steps), func(d time.Duration) bool { return d == Missing })
}

// Later are those behind the first.
func (p Phases) Later() []time.Duration {
	p.Steps = p.Steps[min(1, len(p.Steps)):]
	return p.Known()
}

// Decode is the sum of the decode steps that are recorded.
func (p Phases) Decode() time.Duration {
	var sum time.Duration
	for _, s := range p.Known() {
		sum += s
	}
	return sum
}

// Whole says whether nothing of the experiment's total is missing.
func (p Phases) Whole() bool { return p.Prefill != Missing && len(p.Known()) == len(p.Steps) }

// Total is prefill plus decode: the experiment's total, which leaves reading
// and building out. It is Missing where a part is.
func (p Phases) Total() time.Duration {
	if !p.Whole() {
		return Missing
	}
	return p.Prefill + p.Decode()
}

// FirstToken is how long it took until the first new token was known, by the
// phases alone; Missing where one of them is.
func (p Phases) FirstToken() time.Duration {
	if p.Read == Missing || p.Build == Missing || p.Prefill == Missing {
		return Missing
	}
	return p.Read + p.Build + p.Prefill
}

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

// Package results turns what package trace recorded into what people and
// programs read. It measures nothing.
package results

import (
	"time"

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

// RoundPhases collects the phases below the span round.
func RoundPhases(spans []trace.Record, round trace.ID) Phases {
	var p Phases
	for _, s := range spans {
		if s.ID == round {
			p.Round, p.Wall = int(s.N), s.Duration()
			p.Unattributed = trace.Unattributed(spans, s)
		}
		if s.Parent != round {
			continue
		}
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
	return p
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

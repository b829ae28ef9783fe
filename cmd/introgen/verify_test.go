package main

import (
	"strings"
	"testing"

	"github.com/introgen/introgen/results/answers/coverage"
	"github.com/introgen/introgen/results/recording"
)

// needing says what runs of a model need.
type needing []coverage.Use

func (n needing) Build() []coverage.Use               { return n }
func (n needing) Prefill(int) ([]coverage.Use, error) { return n, nil }
func (n needing) Decode(int) ([]coverage.Use, error)  { return n, nil }

// TestVerify: coverage --verify passes only where both runs were made, and made
// something that could be held against what was foretold.
func TestVerify(t *testing.T) {
	use := coverage.Use{Library: "Reduce", Function: "softmax"}
	run := func(arm string) *recording.Run {
		return &recording.Run{Start: &recording.Start{Arm: arm}, End: &recording.End{}, Pipelines: []recording.Pipeline{{Library: use.Library, Function: use.Function}}}
	}
	other := run("full")
	other.Pipelines = append(other.Pipelines, recording.Pipeline{Library: "Reduce", Function: "more"})
	refused := run("warm-up")
	refused.Exit = &recording.Exit{Refused: "was killed"}
	arms := []recording.Arm{{Name: "full"}, {Name: "warm-up"}}
	for _, c := range []struct {
		name  string
		needs needing
		arms  []recording.Arm
		runs  []*recording.Run
		want  string // a part of the error; "" for none
	}{
		{"both", needing{use}, arms, []*recording.Run{run("full"), run("warm-up")}, ""},
		{"one more pipeline", needing{use}, arms, []*recording.Run{other, run("warm-up")}, "the full run made other pipelines"},
		{"one run is missing", needing{use}, arms, []*recording.Run{run("full")}, "the warm-up run failed, or was not made"},
		{"one run does not count", needing{use}, arms, []*recording.Run{run("full"), refused}, "the warm-up run failed"},
		{"a plan without the runs", needing{use}, nil, nil, "the full run failed, or was not made"},
		{"nothing is needed", nil, arms, []*recording.Run{run("full"), run("warm-up")}, "the full run needs no pipeline"},
	} {
		a := &coverage.Answer{Full: coverage.Run{Prompt: 2, Steps: 1}, Warm: coverage.Run{Prompt: 1, Steps: 1}}
		_, err := verified(a, c.needs)(&recording.File{Plan: &recording.Plan{Arms: c.arms}, Runs: c.runs})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

package coverage_test

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
	other2 := run("warm-up")
	other2.Pipelines = other.Pipelines
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
		{"one more pipeline", needing{use}, arms, []*recording.Run{other, run("warm-up")}, "the full run made other pipelines than its dispatches need: more was made and not expected"},
		{"two others", needing{use, {Library: "L", Function: "a", Constants: "1:bool=1"}}, arms, []*recording.Run{other, run("warm-up")},
			"a 1:bool=1 was expected and not made; more was made and not expected"},
		{"another order", needing{{Library: "Reduce", Function: "more"}, use}, arms, []*recording.Run{other, other2}, ""},
		{"one run is missing", needing{use}, arms, []*recording.Run{run("full")}, "the warm-up run failed, or was not made"},
		{"one run does not count", needing{use}, arms, []*recording.Run{run("full"), refused}, "the warm-up run failed"},
		{"a plan without the runs", needing{use}, nil, nil, "the full run failed, or was not made"},
		{"nothing is needed", nil, arms, []*recording.Run{run("full"), run("warm-up")}, "the full run needs no pipeline"},
	} {
		foretold, err := coverage.Foretell(c.needs, coverage.Run{Prompt: 2, Steps: 1}, coverage.Run{Prompt: 1, Steps: 1})
		if err != nil {
			t.Fatal(err)
		}
		_, err = coverage.Verified(&recording.File{Plan: &recording.Plan{Arms: c.arms, Coverage: foretold}, Runs: c.runs})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// TestOldCoverage: a recording of an older version does not say what its runs
// were to need, and the model that it names is not asked.
func TestOldCoverage(t *testing.T) {
	old := &recording.File{Plan: &recording.Plan{Arms: []recording.Arm{{Name: "full", Args: []string{"metal", "1", "--model", "m.gguf"}}}}}
	if _, err := coverage.Verified(old); err == nil || !strings.Contains(err.Error(), "does not hold what its runs were computed to need") {
		t.Errorf("got %v", err)
	}
}

package coverage

import (
	"slices"
	"testing"

	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace/names"
)

// TestOfPlan: pipelines of one function are told apart by their constants, and a
// library is missing with the first of its pipelines where the plan has none of them.
func TestOfPlan(t *testing.T) {
	full := recording.Foretold{Prompt: 13, Steps: 2, Needs: []recording.Need{
		{Library: "A", Function: "f", Constants: "1:bool=0", Phase: names.SpanBuild},
		{Library: "A", Function: "f", Constants: "1:bool=1", Phase: names.SpanPrefill},
		{Library: "B", Function: "g", Phase: names.SpanStep, Step: 1},
	}}
	a := OfPlan("p", full, []Use{{"A", "f", "1:bool=1"}, {"C", "h", ""}})
	if a.All != (Count{2, 3}) || a.Covered != (Count{1, 1}) {
		t.Errorf("%+v of %+v", a.Covered, a.All)
	}
	want := []Missing{{Use{"A", "f", "1:bool=0"}, names.Title(names.SpanBuild, 0), false}, {Use{"B", "g", ""}, names.Title(names.SpanStep, 1), true}}
	if !slices.Equal(a.Missing, want) {
		t.Errorf("missing %v, want %v", a.Missing, want)
	}
	if !slices.Equal(a.Unneeded, []Use{{"C", "h", ""}}) {
		t.Errorf("unneeded %v", a.Unneeded)
	}
	if a := OfPlan("p", full, []Use{{"B", "g", ""}, {"A", "f", "1:bool=1"}, {"A", "f", "1:bool=0"}}); a.Covered != a.All || len(a.Missing)+len(a.Unneeded) > 0 {
		t.Errorf("all: %+v", a)
	}
}

package samples_test

import (
	"slices"
	"testing"

	"github.com/introgen/introgen/results/answers/samples"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/programtest"
	"github.com/introgen/introgen/results/recording"
)

// TestShownOfPrograms: a program is in the state that its evidence shows, and in none
// where nobody tells; what it started is a series of its own.
func TestShownOfPrograms(t *testing.T) {
	unknown := programtest.Unmarked(programtest.State{Cache: "", Quick: 1})
	unknown.Events[len(unknown.Events)-2] = &recording.Evidence{What: recording.EvidenceMetalCache, Unknown: 2}
	parent, child := programtest.Child()
	for name, c := range map[string]struct {
		all  []*programtest.Recording
		want []string
	}{
		"cold":    {[]*programtest.Recording{programtest.Marked(programtest.Cold)}, []string{recording.StateCold}},
		"natural": {[]*programtest.Recording{programtest.Marked(programtest.Natural)}, []string{recording.StateColdNatural}},
		"warm":    {[]*programtest.Recording{programtest.Marked(programtest.Warm)}, []string{recording.StateWarmCache}},
		"silent":  {[]*programtest.Recording{programtest.Silent()}, []string{samples.StateOther}},
		"untold":  {[]*programtest.Recording{unknown}, []string{samples.StateOther}},
		"child":   {[]*programtest.Recording{parent, child}, []string{recording.StateColdNatural, recording.StateColdNatural + " (worker, a child)"}},
	} {
		f := programtest.File(c.all...)
		var got []string
		for _, s := range samples.Of(breakdown.Of(f)) {
			if len(s.Samples) == 1 {
				got = append(got, s.Name)
			}
			if s.Child() != (s.Name == recording.StateColdNatural+" (worker, a child)") {
				t.Errorf("%s: %s is a child: %v", name, s.Name, s.Child())
			}
		}
		if !slices.Equal(got, c.want) || len(f.Warnings) > 0 {
			t.Errorf("%s is shown as %q, want %q; warnings %q", name, got, c.want, f.Warnings)
		}
	}
	program, engine := programtest.File(programtest.Marked(programtest.Cold)).Runs[0], programtest.File(programtest.Engine(programtest.Cold)).Runs[0]
	if mixed := samples.Mixed([]*recording.Run{program, engine}); len(mixed) != 0 { // a program has no model that could be another
		t.Errorf("a program beside the engine: %q", mixed)
	}
}

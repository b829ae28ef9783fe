package compare

import (
	"strings"
	"testing"

	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/programtest"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/table"
	"github.com/introgen/introgen/results/table/tabletest"
)

// states is a plan over a program cold, with an empty cache and warm. Block by block
// compiling takes longer by a hundredth.
func states(program func(programtest.State) *programtest.Recording) *recording.File {
	arms := []recording.Arm{}
	all := []programtest.State{programtest.Cold, programtest.Natural, programtest.Warm}
	for _, name := range []string{recording.StateCold, recording.StateColdNatural, recording.StateWarmCache} {
		arms = append(arms, recording.Arm{Name: name, State: name, Args: []string{"record", "--", "./p"}, Levels: map[string]string{"cache": name}})
	}
	return programtest.Plan("compare", []string{"cache"}, 6, arms, func(arm, block int) *programtest.Recording {
		s := all[arm]
		s.Quick /= 1 + float64(block-3)/100
		return program(s)
	})
}

// TestPrograms: a program that marks its phases by an engine's names has its causes
// in an engine's words, one that marks none in those of its first output.
func TestPrograms(t *testing.T) {
	for name, f := range map[string]*recording.File{"program-marked": states(programtest.Marked), "program-unmarked": states(programtest.Unmarked)} {
		a, err := Of(breakdown.Of(f))
		if err != nil || len(f.Warnings) > 0 {
			t.Fatal(err, f.Warnings)
		}
		var b strings.Builder
		if err := a.Document().Write(&b, table.Plain); err != nil {
			t.Fatal(err)
		}
		tabletest.Golden(t, name+".txt", b.String())
		tabletest.Fits(t, b.String())
	}
}

// TestSameCause: the sentence about a program is that about the engine's own run of
// the same spans.
func TestSameCause(t *testing.T) {
	of := func(f *recording.File) string {
		a, err := Of(breakdown.Of(f))
		if err != nil {
			t.Fatal(err)
		}
		return a.Causes[0]
	}
	program := programtest.File(programtest.Marked(programtest.Cold))
	engine := programtest.File(programtest.Engine(programtest.Cold))
	if len(engine.Warnings) > 0 {
		t.Fatal(engine.Warnings)
	}
	if p, e := of(program), of(engine); p != e || !strings.Contains(p, "84.4 % of the cold time to the second token is 3 library compiles") {
		t.Errorf("of the program:\n%s\nof the engine:\n%s", p, e)
	}
}

package explain_test

import (
	"strings"
	"testing"

	"github.com/introgen/introgen/results/answers/explain"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/programtest"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/table"
	"github.com/introgen/introgen/results/table/tabletest"
)

// programCase is a rule, a recorded program in which it holds and one in which it
// does not.
type programCase struct {
	rule       string
	finds, not *programtest.Recording
	want       []string // of its sentence
	cost       float64  // ms
}

// The figures are added up by hand from the times in programtest.
var programCases = []programCase{
	{rule: "cold compile", finds: programtest.Marked(programtest.Cold), not: programtest.Steps(2, 40, false),
		want: []string{"of the 900.0 ms to token 2", "84.4 %", "libraries 3, pipelines 3", "Gemm (320.0 ms), Reduce (320.0 ms)"}, cost: 760},
	{rule: "cold compile", finds: programtest.Unmarked(programtest.Natural), not: programtest.Unmarked(programtest.Warm),
		want: []string{"of the 630.0 ms to the end of the first step", "66.7 %", "libraries 1, pipelines 1"}, cost: 420},
	// C is compiled until 50 ms behind the first output, and waits for nobody.
	{rule: "cold compile", finds: programtest.Threads(), not: programtest.Silent(),
		want: []string{"88.9 % of the 450.0 ms to the first output", "B (150.0 ms), C (150.0 ms)"}, cost: 400},
	{rule: "too many commits", finds: programtest.Steps(20, 1, false), not: programtest.Steps(2, 40, false),
		want: []string{"a step commits 20 command buffers of 1 operations each", "the device runs for 100.0 of its 200.0 ms"}, cost: 100},
	{rule: "a wait for each command buffer", finds: programtest.Steps(8, 10, true), not: programtest.Steps(8, 10, false),
		want: []string{"a step waits 8 times for its 8 command buffers", "40.0 of its 200.0 ms"}, cost: 0},
	// Each wait ends a step: 100 of 1 dispatch, 2 ms each, of which it waits for 1.5
	// and the device runs for 0.25. With 40 dispatches a step may well be a token.
	// Of 5 pipelines of 20 ms each one is dispatched: 80 of 250 ms.
	{rule: "pipelines without use", finds: programtest.Loading(5), not: programtest.Loading(1),
		want: []string{"of 5 pipelines that it made it never dispatched 4, which took 80.0 ms"}, cost: 80},
	{rule: "a wait for each command buffer", finds: programtest.Waiting(100, 1), not: programtest.Waiting(100, 40),
		want: []string{"the program waits 100 times for its 100 command buffers", "150.0 of its 250.0 ms"}, cost: 125},
}

func TestProgramRules(t *testing.T) {
	for _, c := range programCases {
		got := found(t, c.rule, programtest.File(c.finds))
		if len(got) != 1 {
			t.Errorf("%s: %d findings", c.rule, len(got))
			continue
		}
		for _, w := range c.want {
			if !strings.Contains(got[0].Text, w) {
				t.Errorf("%s: %q is without %q", c.rule, got[0].Text, w)
			}
		}
		if strings.Contains(got[0].Advice, "introgen coverage` says how short") || strings.Contains(got[0].Advice, "--commands-per-buffer 50") || got[0].Advice == "" {
			t.Errorf("%s advises what a program has not: %q", c.rule, got[0].Advice)
		}
		if got[0].Cost != programtest.At(c.cost) {
			t.Errorf("%s costs %v, want %v ms", c.rule, got[0].Cost, c.cost)
		}
		if not := found(t, c.rule, programtest.File(c.not)); len(not) != 0 {
			t.Errorf("%s is found where it is not: %+v", c.rule, not)
		}
	}
}

// TestPrograms holds what is said of whole programs to files.
func TestPrograms(t *testing.T) {
	parent, child := programtest.Child()
	for name, f := range map[string]*recording.File{
		"program-marked": programtest.File(programtest.Marked(programtest.Cold)), "program-unmarked": programtest.File(programtest.Unmarked(programtest.Warm)),
		"program-threads": programtest.File(programtest.Threads()), "program-child": programtest.File(parent, child), "program-silent": programtest.File(programtest.Silent()),
		"program-waits": programtest.File(programtest.Steps(8, 10, true)),
	} {
		var b strings.Builder
		if err := explain.Of(breakdown.Of(f)).Document().Write(&b, table.Plain); err != nil {
			t.Fatal(err)
		}
		tabletest.Golden(t, name+".txt", b.String())
	}
}

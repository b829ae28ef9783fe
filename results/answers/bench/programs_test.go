package bench_test

import (
	"strings"
	"testing"

	"github.com/introgen/introgen/results/answers/bench"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/programtest"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/table"
	"github.com/introgen/introgen/results/table/tabletest"
)

// TestProgramAgainstEngine compares a program with the engine by what both have, and
// has beside it what only the program has.
func TestProgramAgainstEngine(t *testing.T) {
	arms := []recording.Arm{{Name: "A", Args: []string{"record", "--", "./generate", "model.gguf"}}, {Name: "B", Args: []string{"metal", "1"}}}
	f := programtest.Plan("bench", nil, 6, arms, func(arm, block int) *programtest.Recording {
		s := programtest.Cold
		s.Quick /= 1 + float64(block-3)/100
		if arm == 0 {
			return programtest.Marked(s)
		}
		return programtest.Engine(s)
	})
	if len(f.Warnings) > 0 {
		t.Fatal(f.Warnings)
	}
	a, err := bench.Of(breakdown.Of(f), nil)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := a.Document().Write(&b, table.Plain); err != nil {
		t.Fatal(err)
	}
	tabletest.Golden(t, "program.txt", b.String())
}

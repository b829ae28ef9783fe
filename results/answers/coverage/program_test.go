package coverage_test

import (
	"strings"
	"testing"

	"github.com/introgen/introgen/results/answers/coverage"
	"github.com/introgen/introgen/results/programtest"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/table"
	"github.com/introgen/introgen/results/table/tabletest"
)

// TestPrograms: which phase of a program made what, added up by hand from the times
// in programtest.
func TestPrograms(t *testing.T) {
	parent, child := programtest.Child()
	for name, f := range map[string]*recording.File{
		"marked": programtest.File(programtest.Marked(programtest.Cold)), "unmarked": programtest.File(programtest.Unmarked(programtest.Warm)),
		"threads": programtest.File(programtest.Threads()), "child": programtest.File(parent, child), "silent": programtest.File(programtest.Silent()),
	} {
		d, err := coverage.Programs(f)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := d.Write(&b, table.Plain); err != nil {
			t.Fatal(err)
		}
		tabletest.Golden(t, "program-"+name+".txt", b.String())
	}
	if _, err := coverage.Programs(programtest.File(programtest.Engine(programtest.Cold))); err == nil || !strings.Contains(err.Error(), "no recorded program") {
		t.Errorf("of an engine's run: %v", err)
	}
}

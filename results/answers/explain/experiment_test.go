package explain_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/introgen/introgen/results/answers/explain"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/table"
	"github.com/introgen/introgen/results/table/tabletest"
)

// What the experiment concluded: its cold runs compile, and committing every
// operation, or none before the read-back, is what its slow settings have in
// common with these rules' names.
func TestExperiment(t *testing.T) {
	for _, name := range []string{"experiment-states", "experiment-sweep"} {
		f, err := recording.Open(filepath.Join("..", "..", "recorded", name+".introgen"))
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := explain.Of(breakdown.Of(f)).Document().Write(&b, table.Plain); err != nil {
			t.Fatal(err)
		}
		tabletest.Golden(t, name+".txt", b.String())
	}
}

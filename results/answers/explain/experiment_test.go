package explain_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/introgen/introgen/results/answers/explain"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/table"
)

var update = flag.Bool("update", false, "write the golden files anew")

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
		if err := explain.Of(f).Document().Write(&b, table.Plain); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("testdata", name+".txt")
		if *update {
			if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if b.String() != string(want) {
			t.Errorf("got\n%s\nwant\n%s", b.String(), want)
		}
	}
}

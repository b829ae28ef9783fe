package compare_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/introgen/introgen/results/answers/compare"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/table"
	"github.com/introgen/introgen/results/table/tabletest"
)

func open(t *testing.T, name string) *recording.File {
	t.Helper()
	f, err := recording.Open(filepath.Join("..", "..", "recorded", name))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// golden compares with a file of testdata, and leaves what differs beside it.
func TestExperiment(t *testing.T) {
	a, err := compare.Of(breakdown.Of(open(t, "experiment-states.introgen")))
	if err != nil {
		t.Fatal(err)
	}
	want := "97.8 % of the cold time to the second token is 10 library compiles; Gemm, Reduce and Sdpa are 85.9 % of those (the first token needs 9 of the libraries)"
	if len(a.Causes) == 0 || a.Causes[0] != want {
		t.Errorf("the cause is %q, want %q", a.Causes, want)
	}
	for _, s := range []table.Style{table.Plain, table.Markdown, table.CSV} {
		var b strings.Builder
		if err := a.Document().Write(&b, s); err != nil {
			t.Fatal(err)
		}
		tabletest.Golden(t, "experiment-"+string(s)+".txt", b.String())
		if s == table.Plain {
			for _, line := range strings.Split(b.String(), "\n") {
				if n := len([]rune(line)); n > table.Width {
					t.Errorf("a line of %d characters: %s", n, line)
				}
			}
		}
	}
}

package explain

import (
	"strings"
	"testing"

	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/breakdown/breakdowntest"
	"github.com/introgen/introgen/results/table"
)

// What was compiled beside counts by what was waited for it: 255 of the 440 ms to
// token 2, not the 614 that compiling took.
func TestBeside(t *testing.T) {
	a := Of(breakdown.Of(breakdowntest.Beside(nil)))
	var out strings.Builder
	if err := a.Document().Write(&out, table.Plain); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(out.String()), " ")
	for _, want := range []string{
		"58.0 % of the cold-natural time to the second token is waiting for 3 library compiles and 5 pipelines",
		"58.0 % of the 440.0 ms to token 2 went into waiting for what was compiled beside: libraries 3, pipelines 5; most for Cast (50.0 ms), Gemm (160.0 ms)",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not said: %s", want, text)
		}
	}
}

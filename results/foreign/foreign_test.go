package foreign

import (
	"strings"
	"testing"

	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/programtest"
	"github.com/introgen/introgen/results/table"
	"github.com/introgen/introgen/results/table/tabletest"
)

// TestDocument holds what is shown of programs to pages whose figures were worked
// out by hand from the times in programtest.
func TestDocument(t *testing.T) {
	parent, child := programtest.Child()
	for name, r := range map[string]*programtest.Recording{
		"marked": programtest.Marked(programtest.Cold), "unmarked": programtest.Unmarked(programtest.Warm),
		"threads": programtest.Threads(), "parent": parent, "child": child, "silent": programtest.Silent(),
	} {
		d := &table.Document{}
		Add(d, breakdown.Take(programtest.File(r).Runs[0]))
		var b strings.Builder
		if err := d.Write(&b, table.Plain); err != nil {
			t.Fatal(err)
		}
		tabletest.Golden(t, name+".txt", b.String())
	}
}

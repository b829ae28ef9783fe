package bill_test

import (
	"strings"
	"testing"

	"github.com/introgen/introgen/results/answers/bill"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/programtest"
	"github.com/introgen/introgen/results/table"
	"github.com/introgen/introgen/results/table/tabletest"
)

// TestPrograms holds the bills of recorded programs to files whose lines were added
// up by hand.
func TestPrograms(t *testing.T) {
	parent, child := programtest.Child()
	for name, all := range map[string][]*programtest.Recording{
		"marked": {programtest.Marked(programtest.Cold)}, "unmarked": {programtest.Unmarked(programtest.Warm)}, "threads": {programtest.Threads()},
		"child": {parent, child}, "silent": {programtest.Silent()},
	} {
		bills, err := bill.Of(breakdown.Of(programtest.File(all...)))
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := bill.Document(bills).Write(&b, table.Plain); err != nil {
			t.Fatal(err)
		}
		tabletest.Golden(t, "program-"+name+".txt", b.String())
	}
}

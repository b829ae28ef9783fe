package foreign

import (
	"strings"
	"testing"

	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/programtest"
	"github.com/introgen/introgen/results/table"
	"github.com/introgen/introgen/results/table/tabletest"
	"github.com/introgen/introgen/trace/names"
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

// TestLongNames: a program may call things what it likes; on a terminal its names are
// cut, so that the tables can be read, and differ still.
func TestLongNames(t *testing.T) {
	long := strings.Repeat("long", 25_000)
	r := programtest.New(1, 0, "./p")
	r.Device("")
	round := r.Span(0, names.SpanRound, "", 1, 0, 100)
	phase := r.Span(round, names.SpanPhase, strings.Repeat("p", 200), 1, 0, 100)
	r.Library(0, phase, long+"a", names.CacheMiss, 0, 10)
	r.Library(0, phase, long+"b", names.CacheMiss, 10, 20)
	r.End(round, 100, 0)
	d := &table.Document{}
	Add(d, breakdown.Take(programtest.File(r).Runs[0]))
	var b strings.Builder
	if err := d.Write(&b, table.Plain); err != nil {
		t.Fatal(err)
	}
	tabletest.Fits(t, b.String())
	rows := map[string]bool{}
	for line := range strings.Lines(b.String()) {
		if strings.HasPrefix(line, "long") {
			rows[strings.Fields(line)[0]] = true
		}
	}
	if len(rows) != 2 {
		t.Errorf("two libraries are shown as %v", rows)
	}
}

package view

import (
	"io"
	"testing"

	"github.com/introgen/introgen/results/answers/compare"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/breakdown/breakdowntest"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/table"
)

// BenchmarkTables are the views of a recording, and compare's tables of it.
func BenchmarkTables(b *testing.B) {
	recorded, err := recording.Open("../recorded/experiment-states.introgen")
	if err != nil {
		b.Fatal(err)
	}
	for name, f := range map[string]*recording.File{"recorded": recorded, "large": {Runs: []*recording.Run{breakdowntest.Metal(2, 20, 605)}}} {
		for as, write := range map[string]func(io.Writer, *recording.File) error{"table": Table, "json": JSON, "csv": CSV, "compare": compared} {
			b.Run(name+"/"+as, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if err := write(io.Discard, f); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func compared(w io.Writer, f *recording.File) error {
	a, err := compare.Of(breakdown.Of(f))
	if err != nil {
		return err
	}
	return a.Document().Write(w, table.Plain)
}

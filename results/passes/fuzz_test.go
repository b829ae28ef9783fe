package passes_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/passes"
	"github.com/introgen/introgen/results/passes/passestest"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/roofline"
	"github.com/introgen/introgen/results/table"
)

// FuzzPasses: whatever lines stand in a recording, what its threads did is summed up and
// shown, or there is nothing of it; and no thread worked for less than no time.
func FuzzPasses(f *testing.F) {
	r := passestest.Run()
	var lines []byte
	add := func(e recording.Event) {
		var err error
		if lines, err = recording.Encode(lines, e); err != nil {
			f.Fatal(err)
		}
	}
	add(&recording.Header{Format: recording.Format, Version: recording.Version, Command: "cpu"})
	for _, s := range r.Spans {
		add(&recording.Span{Record: s})
	}
	for _, o := range r.Operations {
		add(o)
	}
	for _, e := range r.Executed {
		if len(e.Operations) > 0 {
			add(e)
		}
	}
	for i := range r.Rounds {
		add(&r.Rounds[i])
	}
	for _, l := range r.Limits {
		add(l)
	}
	file, err := recording.Read(bytes.NewReader(lines), "")
	if err != nil || passes.Of(breakdown.Take(file.Runs[0])) == nil {
		f.Fatalf("the lines to begin with say nothing of threads: %v", err)
	}
	f.Add(lines)
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := recording.Read(bytes.NewReader(b), "")
		if err != nil {
			return
		}
		for _, run := range file.Runs {
			p := passes.Of(breakdown.Take(run))
			if p == nil {
				continue
			}
			for _, of := range p.Phases {
				for n, busy := range of.Busy {
					if busy < 0 {
						t.Errorf("thread %d worked %v in %s", n, busy, of.Name)
					}
				}
			}
			d := &table.Document{}
			roofline.AddPasses(d, p)
			if err := d.Write(io.Discard, table.Plain); err != nil {
				t.Error(err)
			}
		}
	})
}

package main

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/introgen/introgen/engine/metal"
	"github.com/introgen/introgen/metalshim/soft/clang"
	"github.com/introgen/introgen/models"
	"github.com/introgen/introgen/models/modeltest"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace/names"
)

// Whatever --compile says, a run of the real model has the same ids and dispatches in
// the same order, its parts add up, and nothing that it needs was not foreseen.
func TestCompileModes(t *testing.T) {
	modeltest.Path(t, models.StandIn)
	if _, err := clang.Find(t.Context()); err != nil {
		t.Skipf("SKIP: needs clang 19: %v", err)
	}
	program, err := exec.LookPath("introgen")
	if err != nil {
		t.Fatal(err)
	}
	var first *recording.Run
	for _, mode := range metal.CompileModes() {
		path := filepath.Join(t.TempDir(), "run.introgen")
		args := []string{"metal", "2", "--trace", "--tokens", "2", "--compile", mode, "-o", path}
		if strings.Contains(mode, "concurrent") {
			args = append(args, "--compile-threads", "3")
		}
		printed, err := exec.Command(program, args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v: %s", mode, err, printed)
		}
		f, err := recording.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if len(f.Warnings) > 0 {
			t.Errorf("%s: %q", mode, f.Warnings)
		}
		run := f.Runs[0]
		if said, _ := run.Header.Knob("compile"); said != mode {
			t.Errorf("the recording says --compile %s, want %s", said, mode)
		}
		if first == nil {
			first = run
		}
		for i, r := range run.Rounds {
			if !slices.Equal(r.IDs, first.Rounds[i].IDs) || len(r.IDs) != 3 {
				t.Errorf("%s: ids %v, want %v", mode, r.IDs, first.Rounds[i].IDs)
			}
		}
		if got, want := dispatched(run), dispatched(first); !slices.Equal(got, want) || len(got) < 1000 {
			t.Errorf("%s: %d dispatches in another order than the %d of serial", mode, len(got), len(want))
		}
		serial := mode == "serial" || mode == "trim"
		made := 0
		for _, s := range run.Spans {
			if s.Name == names.SpanLibrary || s.Name == names.SpanPipeline {
				if made++; serial == (s.Track > 0) {
					t.Errorf("%s: %s %s on track %d", mode, s.Name, s.Detail, s.Track)
				}
			}
		}
		if made != 31 {
			t.Errorf("%s: %d libraries and pipelines, want 10 and 21", mode, made)
		}
		a, err := breakdown.Take(run).Account()
		if err != nil || a.Lost > 0 {
			t.Fatalf("%s: %v, %d spans lost", mode, err, a.Lost)
		}
		sum := a.Unattributed
		for _, l := range a.Lines {
			sum += l.Time
		}
		if sum != a.Wall || len(a.Compiles) != 31 {
			t.Errorf("%s: lines of %v and %d compiles, a wall clock of %v", mode, sum, len(a.Compiles), a.Wall)
		}
	}
}

// dispatched are the operations of a run in the order in which they ran.
func dispatched(run *recording.Run) (out []string) {
	named := map[int]string{}
	for _, o := range run.Operations {
		named[o.ID] = strings.Join([]string{o.Name, o.Library, o.Kernel}, " ")
	}
	for _, e := range run.Executed {
		for _, id := range e.Operations {
			out = append(out, named[id])
		}
	}
	return out
}

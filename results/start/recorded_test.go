package start_test

import (
	"path/filepath"
	"testing"

	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/programtest"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/start"
)

// check holds every start of the file to what was recorded, and says how many there
// are.
func check(t *testing.T, name string, f *recording.File) (starts int) {
	t.Helper()
	taken := breakdown.Of(f)
	for i, r := range f.Runs {
		s, err := start.Of(taken.Run(r))
		if err != nil {
			t.Logf("%s, run %d: %v", name, i+1, err)
			continue
		}
		starts++
		for _, c := range s.Check() {
			if c.Off() > start.Exact {
				t.Errorf("%s, run %d: replayed unchanged %s takes %v, recorded are %v", name, i+1, c.What, c.Replay, c.Recorded)
			}
		}
	}
	return starts
}

// TestUnchanged: replayed unchanged a run takes what was recorded, of every
// recording of the repository.
func TestUnchanged(t *testing.T) {
	f, err := recording.Open(filepath.Join("..", "recorded", "experiment-states.introgen"))
	if err != nil {
		t.Fatal(err)
	}
	if n := check(t, "experiment-states", f); n != 4 {
		t.Errorf("%d starts, want 4", n)
	}
	for name, r := range programs() {
		if n := check(t, name, programtest.File(r)); n != 1 {
			t.Errorf("%s: %d starts, want 1", name, n)
		}
	}
}

// programs are recordings of programs, and of an engine, that are made here.
func programs() map[string]*programtest.Recording {
	return map[string]*programtest.Recording{
		"marked": programtest.Marked(programtest.Cold), "marked warm": programtest.Marked(programtest.Warm),
		"unmarked": programtest.Unmarked(programtest.Cold), "unmarked warm": programtest.Unmarked(programtest.Warm),
		"threads": programtest.Threads(), "silent": programtest.Silent(), "across": programtest.Across(),
		"loading": programtest.Loading(6), "waiting": programtest.Waiting(3, 40), "steps": programtest.Steps(3, 40, true),
		"engine": programtest.Engine(programtest.Cold), "detailed": programtest.Detailed(),
	}
}

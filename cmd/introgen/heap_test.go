package main

import (
	"runtime/debug"
	"testing"
)

// TestCalmHeap: while a run starts the heap grows further, and is collected as ever once
// its first round is over or it has failed; a GOGC that was set stays.
func TestCalmHeap(t *testing.T) {
	percent := func() int {
		p := debug.SetGCPercent(100)
		debug.SetGCPercent(p)
		return p
	}
	t.Setenv("GOGC", "")
	before := percent()
	restore := calmHeap()
	if p := percent(); p != startPercent {
		t.Errorf("while it starts it is %d, want %d", p, startPercent)
	}
	restore()
	if p := percent(); p != before {
		t.Errorf("after that it is %d, want %d", p, before)
	}
	for _, args := range [][]string{{"cpu", "1", "--tokens", "0", "--model", worded(t, nil)}, {"cpu", "1", "--model", "absent.gguf"}, {"cpu", "1", "--tokens", "-1"}} {
		command(t, args...)
		if p := percent(); p != before {
			t.Errorf("%v leaves %d, want %d", args, p, before)
		}
	}
	t.Setenv("GOGC", "77")
	restore = calmHeap()
	if p := percent(); p != before {
		t.Errorf("where GOGC is set it is changed to %d", p)
	}
	restore()
}

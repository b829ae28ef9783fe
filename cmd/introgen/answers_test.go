package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/introgen/introgen/results/recording"
)

// TestOneOfTwoIsBroken: what is said of a recording that was cut off ends where
// it ends, whether a whole one is taken before it or behind it.
func TestOneOfTwoIsBroken(t *testing.T) {
	whole, err := recording.Encode(nil, &recording.Header{Format: recording.Format, Version: recording.Version, Command: "cpu"})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"whole": string(whole) + `{"k":"note","text":"a"}` + "\n", "cut": string(whole) + `{"k":"no`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, order := range [][2]string{{"whole", "cut"}, {"cut", "whole"}} {
		out := strings.Join(strings.Fields(answerOf(t, "explain", "--mixed", filepath.Join(dir, order[0]), filepath.Join(dir, order[1]))), " ")
		if !strings.Contains(out, "that are whole.") {
			t.Errorf("%v: %s", order, out)
		}
	}
}

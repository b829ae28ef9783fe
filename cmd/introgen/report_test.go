package main

import (
	"bytes"
	"os"
	"testing"
)

// TestOnTerminal: what a command prints goes through a sink, behind which a terminal
// is still one.
func TestOnTerminal(t *testing.T) {
	if onTerminal(&sink{w: &bytes.Buffer{}}) {
		t.Error("memory is taken for a terminal")
	}
	f, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("SKIP: needs a terminal of its own: %v", err)
	}
	defer f.Close()
	if !onTerminal(f) || !onTerminal(&sink{w: f}) {
		t.Error("a terminal is not taken for one")
	}
}

package main

import (
	"bytes"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// TestStopSignals: a terminal that is closed ends a run as Ctrl-C does, and
// nohup has its way.
func TestStopSignals(t *testing.T) {
	// The tests themselves may run under nohup.
	if got := stopSignals(); !signal.Ignored(syscall.SIGHUP) && (!slices.Contains(got, os.Signal(syscall.SIGHUP)) || len(got) != 3) {
		t.Errorf("%v end a run", got)
	}
	signal.Ignore(syscall.SIGHUP)
	defer signal.Reset(syscall.SIGHUP)
	if got := stopSignals(); slices.Contains(got, os.Signal(syscall.SIGHUP)) {
		t.Errorf("%v end a run under nohup", got)
	}
}

// TestWrongOutputKeepsTheOther: a command line that is refused leaves what is in
// the files that it names.
func TestWrongOutputKeepsTheOther(t *testing.T) {
	dir := t.TempDir()
	model, kept := filepath.Join(dir, "m.gguf"), filepath.Join(dir, "kept.introgen")
	for _, path := range []string{model, kept} {
		if err := os.WriteFile(path, []byte("of an earlier run"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out, errs bytes.Buffer
	code := run(t.Context(), []string{"introgen", "cpu", "--model", model, "-o", kept, "-o", filepath.Join(dir, "x.foo")}, &out, &errs)
	if code != exitUsage || !strings.Contains(errs.String(), "x.foo") {
		t.Errorf("exit code %d, %q", code, &errs)
	}
	if b, err := os.ReadFile(kept); string(b) != "of an earlier run" {
		t.Errorf("the other file holds %q, %v", b, err)
	}
}

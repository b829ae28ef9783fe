//go:build unix

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/introgen/introgen/results/programtest"
)

// TestOutputIsNoRecording: no view takes the place of a recording, however it is
// called, and one that is to go into a pipe waits for nobody.
func TestOutputIsNoRecording(t *testing.T) {
	dir := t.TempDir()
	text := programtest.Bytes(programtest.Engine(programtest.Cold))
	in, other, pipe := filepath.Join(dir, "in.introgen"), filepath.Join(dir, "other.html"), filepath.Join(dir, "pipe.html")
	for _, path := range []string{in, other} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ args, want string }{
		{"show IN -o OTHER", "is a recording, which it would replace"},
		{"report IN -o OTHER", "is a recording, which it would replace"},
		{"watch -o OTHER -- cpu 1", "is a recording, which it would replace"},
		{"show IN -o PIPE", "name a file"},
		{"report IN -o PIPE", "name a file"},
	} {
		done := make(chan struct{})
		var out, errs bytes.Buffer
		go func() {
			defer close(done)
			if run(t.Context(), strings.Fields("introgen "+strings.NewReplacer("IN", in, "OTHER", other, "PIPE", pipe).Replace(c.args)), &out, &errs) == exitOK {
				t.Errorf("%s: it is written", c.args)
			}
		}()
		select {
		case <-done:
		case <-time.After(time.Minute):
			t.Fatalf("%s: it waits", c.args)
		}
		if !strings.Contains(errs.String(), c.want) {
			t.Errorf("%s: %q, want %q", c.args, &errs, c.want)
		}
	}
	if left, err := os.ReadFile(other); err != nil || !bytes.Equal(left, text) {
		t.Errorf("the recording is another: %v", err)
	}
}

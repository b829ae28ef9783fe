package main

import (
	"bytes"
	"context"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/introgen/introgen/models"
	"github.com/introgen/introgen/models/modeltest"
)

// cancelling cancels a context when a word is written to it.
type cancelling struct {
	bytes.Buffer
	word   string
	cancel context.CancelFunc
}

func (c *cancelling) Write(p []byte) (int, error) {
	n, err := c.Buffer.Write(p)
	if strings.Contains(c.String(), c.word) {
		c.cancel()
	}
	return n, err
}

// TestInterruptKeepsWhatWasMeasured stands for Ctrl-C, which cancels the
// context that run is given.
func TestInterruptKeepsWhatWasMeasured(t *testing.T) {
	modeltest.Path(t, models.StandIn)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	out := &cancelling{word: "round 2] decode steps", cancel: cancel}
	var errs bytes.Buffer
	code := run(ctx, []string{"introgen", "cpu", "100000", "--tokens", "2"}, out, &errs)
	if code != exitInterrupted {
		t.Errorf("exit code %d, want %d: %s", code, exitInterrupted, &errs)
	}
	if got := out.String(); !strings.Contains(got, "round 1] decode steps") || strings.Contains(got, "round 3]") {
		t.Errorf("what was measured is not what is printed:\n%s", got)
	}
	if !strings.Contains(errs.String(), "interrupted") || strings.Count(errs.String(), "\n") != 1 {
		t.Errorf("stderr is %q, want one line that says so", &errs)
	}
	if !strings.Contains(errs.String(), "what stands above holds") {
		t.Errorf("stderr is %q, without what holds", &errs)
	}
}

// TestInterruptWhileThePromptIsAwaited: a FIFO that nobody writes to gives no
// prompt, and not even an end.
func TestInterruptWhileThePromptIsAwaited(t *testing.T) {
	modeltest.Path(t, models.StandIn)
	fifo := filepath.Join(t.TempDir(), "prompt")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(200*time.Millisecond, cancel)
	var out, errs bytes.Buffer
	if code := run(ctx, []string{"introgen", "cpu", "--prompt-file", fifo}, &out, &errs); code != exitInterrupted {
		t.Errorf("exit code %d, want %d: %s", code, exitInterrupted, &errs)
	}
	if want := "introgen: interrupted; the same command can be given again\n"; errs.String() != want {
		t.Errorf("stderr is %q, want %q: nothing stands above", &errs, want)
	}
}

// full refuses what is written after so many bytes, as a full disk does.
type full struct{ left int }

func (f *full) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, &fs.PathError{Op: "write", Path: "output", Err: syscall.ENOSPC}
	}
	return len(p), nil
}

// TestOutputFails: what cannot be printed is an error, in one line, and ends the
// run before the next round.
func TestOutputFails(t *testing.T) {
	for _, args := range []string{"--help", "--version", "cpu --help"} {
		var errs bytes.Buffer
		if code := run(context.Background(), append([]string{"introgen"}, strings.Fields(args)...), &full{}, &errs); code != exitFailed || !strings.Contains(errs.String(), "no space left") {
			t.Errorf("%s: exit code %d, %q", args, code, &errs)
		}
	}
	modeltest.Path(t, models.StandIn)
	var errs bytes.Buffer
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	code := run(ctx, []string{"introgen", "cpu", "100000", "--tokens", "1"}, &full{400}, &errs)
	if code != exitFailed || errs.String() != "introgen: write output: no space left on device\n" {
		t.Errorf("exit code %d, %q", code, &errs)
	}
}

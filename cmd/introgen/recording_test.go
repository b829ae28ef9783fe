package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/introgen/introgen/models"
	"github.com/introgen/introgen/models/modeltest"
	"github.com/introgen/introgen/results/console"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace"
)

var kills = flag.Int("kills", 6, "how many runs TestKilled kills")

// open reads a recording that must be whole, and of which nothing else is told
// than these warnings.
func open(t *testing.T, path string, warnings ...string) *recording.Run {
	t.Helper()
	f, err := recording.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if f.Broken != "" || !slices.Equal(f.Warnings, warnings) || len(f.Runs) != 1 || f.Runs[0].End == nil {
		t.Fatalf("%s: broken %q, warnings %q, %d runs", path, f.Broken, f.Warnings, len(f.Runs))
	}
	return f.Runs[0]
}

// TestKilled ends runs at moments of no choice: every recording opens, and holds
// what had been written.
func TestKilled(t *testing.T) {
	modeltest.Path(t, models.StandIn)
	program, err := exec.LookPath("introgen")
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(5, uint64(*kills)))
	for i := range *kills {
		path := filepath.Join(t.TempDir(), "run"+recording.Ending)
		cmd := exec.Command(program, "cpu", "100", "--tokens", "5", "-o", path)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		printed := make(chan int)
		go func() {
			n := 0
			for s := bufio.NewScanner(out); s.Scan(); {
				n += strings.Count(s.Text(), "] decode steps")
			}
			printed <- n
		}()
		time.Sleep(time.Duration(random.Int64N(int64(1500 * time.Millisecond))))
		before, _ := os.ReadFile(path)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		rounds := <-printed
		if err := cmd.Wait(); err == nil {
			t.Fatal("the run was over before it was killed")
		}
		after, err := os.ReadFile(path)
		if err != nil {
			if i == 0 || !errors.Is(err, os.ErrNotExist) {
				t.Error(err)
			}
			continue // killed before it began
		}
		if !bytes.HasPrefix(after, before) {
			t.Errorf("kill %d: what was written before is not there any more", i)
		}
		f, err := recording.Open(path)
		if err != nil {
			t.Errorf("kill %d: %v", i, err)
			continue
		}
		if len(f.Warnings) > 0 {
			t.Errorf("kill %d: %q", i, f.Warnings)
		}
		got := 0
		for _, r := range f.Runs {
			got += len(r.Rounds)
		}
		// The last round may have been printed and not yet written.
		if got < rounds-1 || got > rounds+1 {
			t.Errorf("kill %d: %d rounds were printed, the recording has %d", i, rounds, got)
		}
		var shown, notes bytes.Buffer
		if err := showText(&shown, &notes, path, false); err != nil || strings.Count(shown.String(), "] decode steps") != got {
			t.Errorf("kill %d: %v, shown is\n%s", i, err, &shown)
		}
	}
}

// TestTwoRunsOneFile: the second does not touch what the first is writing.
func TestTwoRunsOneFile(t *testing.T) {
	modeltest.Path(t, models.StandIn)
	path := filepath.Join(t.TempDir(), "a"+recording.Ending)
	w, err := recording.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.PutLine([]byte("of the first")), w.Flush()); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	code := run(t.Context(), []string{"introgen", "cpu", "1", "-o", path}, &out, &errs)
	if code != exitFailed || out.Len() > 0 || !strings.Contains(errs.String(), path+": another run is writing it") || strings.Count(errs.String(), "\n") != 1 {
		t.Errorf("exit code %d, %q, %q", code, &out, &errs)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "of the first\n" {
		t.Errorf("the first run's file is %q, %v", b, err)
	}
	w.Close()
	if code := run(t.Context(), []string{"introgen", "cpu", "1", "--tokens", "0", "-o", path}, &out, &errs); code != exitOK {
		t.Errorf("afterwards: exit code %d, %s", code, &errs)
	}
	open(t, path)
}

// TestDiskFillsUp: the run goes on, says so once, and ends with 1.
func TestDiskFillsUp(t *testing.T) {
	modeltest.Path(t, models.StandIn)
	if runtime.GOOS != "linux" {
		t.Skip("SKIP: needs /dev/full")
	}
	path := filepath.Join(t.TempDir(), "full"+recording.Ending)
	if err := os.Symlink("/dev/full", path); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	code := run(t.Context(), []string{"introgen", "cpu", "2", "--tokens", "1", "-o", path}, &out, &errs)
	if code != exitFailed || !strings.Contains(out.String(), "round 2]") {
		t.Errorf("exit code %d, printed\n%s", code, &out)
	}
	lines := strings.Split(strings.TrimSpace(errs.String()), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], "the recording "+path+" ends here, the run goes on: ") || !strings.Contains(lines[0], "no space left") ||
		!strings.HasPrefix(lines[1], "introgen: the recording "+path+" is not whole") {
		t.Errorf("stderr is %q", lines)
	}
}

// closed is an output whose reader has gone after so many bytes.
type closed struct{ full }

func (c *closed) Write(p []byte) (int, error) {
	n, err := c.full.Write(p)
	if err != nil {
		err = syscall.EPIPE
	}
	return n, err
}

// TestReaderGone: who looks at the first line only gets the recording all the
// same, of all rounds where it was asked for.
func TestReaderGone(t *testing.T) {
	modeltest.Path(t, models.StandIn)
	state := t.TempDir()
	t.Setenv("INTROGEN_STATE_DIR", state)
	path := filepath.Join(t.TempDir(), "a"+recording.Ending)
	var errs bytes.Buffer
	if code := run(t.Context(), []string{"introgen", "cpu", "3", "--tokens", "1", "-o", path}, &closed{full{10}}, &errs); code != exitOK || errs.Len() > 0 {
		t.Errorf("exit code %d, %q", code, &errs)
	}
	if r := open(t, path); len(r.Rounds) != 3 || r.End.Code != exitOK {
		t.Errorf("%d rounds, end %+v", len(r.Rounds), r.End)
	}
	if code := run(t.Context(), []string{"introgen", "cpu", "100000", "--tokens", "1"}, &closed{full{10}}, &errs); code != exitOK || errs.Len() > 0 {
		t.Errorf("without -o: exit code %d, %q", code, &errs)
	}
	if r := open(t, filepath.Join(state, "recordings", "000002-cpu.introgen"), "the run was to make 100000 rounds and has 1"); len(r.Rounds) > 1 {
		t.Errorf("without -o it went on for %d rounds", len(r.Rounds))
	}
	// The same with a real pipe, where the system would send a signal.
	program, err := exec.LookPath("introgen")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "cpu", "3", "--tokens", "1", "-o", path)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	cmd.Stdout = w
	if err := errors.Join(cmd.Run(), w.Close()); err != nil {
		t.Errorf("with a pipe: %v", err)
	}
	if r := open(t, path); len(r.Rounds) != 3 {
		t.Errorf("with a pipe: %d rounds", len(r.Rounds))
	}
}

// TestInterruptIsRecorded: the recording of a run that was interrupted ends as
// the run did.
func TestInterruptIsRecorded(t *testing.T) {
	modeltest.Path(t, models.StandIn)
	path := filepath.Join(t.TempDir(), "a"+recording.Ending)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out := &cancelling{word: "round 2] decode steps", cancel: cancel}
	var errs bytes.Buffer
	if code := run(ctx, []string{"introgen", "cpu", "100000", "--tokens", "2", "-o", path}, out, &errs); code != exitInterrupted {
		t.Fatalf("exit code %d, %s", code, &errs)
	}
	r := open(t, path)
	if r.End.Code != exitInterrupted || !strings.Contains(r.End.Error, "canceled") || len(r.Rounds) < 2 {
		t.Errorf("end %+v, %d rounds", r.End, len(r.Rounds))
	}
	for _, s := range r.Spans {
		if s.End < 0 {
			t.Errorf("span %+v was left open", s)
		}
	}
}

// TestCrashIsRecorded: a recording says that the program crashed, and why.
func TestCrashIsRecorded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a"+recording.Ending)
	var errs bytes.Buffer
	s := newSession(trace.New(), []string{"introgen", "cpu"}, &errs)
	s.header, s.out.printer = &recording.Header{Format: recording.Format, Version: recording.Version}, console.New(io.Discard)
	if err := s.out.openFile(path); err != nil {
		t.Fatal(err)
	}
	s.begin()
	func() {
		defer func() {
			if p := recover(); fmt.Sprint(p) != "index out of range" {
				t.Errorf("the panic became %v", p)
			}
		}()
		defer s.crashed()
		s.mu.Lock() // wherever it happens
		panic("index out of range")
	}()
	if r := open(t, path); r.End.Code != exitCrashed || r.End.Error != "panic: index out of range" {
		t.Errorf("end %+v", r.End)
	}
}

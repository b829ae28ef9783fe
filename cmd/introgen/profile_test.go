package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/introgen/introgen/results/recording"
)

// profiled reads the profiles in a folder, which must be whole.
func profiled(t *testing.T, dir string) {
	t.Helper()
	for _, name := range []string{"cpu.pprof", "heap.pprof"} {
		f, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			t.Error(err)
			continue
		}
		defer f.Close()
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if b, err := io.ReadAll(z); err != nil || !bytes.Contains(b, []byte("nanoseconds")) && !bytes.Contains(b, []byte("inuse_space")) {
			t.Errorf("%s: %v, %d bytes that are no profile", name, err, len(b))
		}
	}
}

// TestProfileSelf: any command writes the profiles, a run says in its recording
// that it was profiled, and is not compared with one that was not.
func TestProfileSelf(t *testing.T) {
	model, dir := worded(t, nil), t.TempDir()
	plain, slow := filepath.Join(dir, "plain"+recording.Ending), filepath.Join(dir, "slow"+recording.Ending)
	line := []string{"cpu", "1", "--model", model, "--prompt-ids", "1,2,3", "--tokenizer", "go", "-o"}
	if _, errs, code := command(t, append(line, plain)...); code != exitOK || errs != "" {
		t.Fatalf("exit code %d, %s", code, errs)
	}
	of := filepath.Join(dir, "run")
	_, errs, code := command(t, append(line, slow, "--profile-self", of)...)
	if code != exitOK || strings.Count(errs, "\n") != 2 || !strings.Contains(errs, "the run is profiled") || !strings.Contains(errs, "cpu.pprof and heap.pprof beside it hold the profile") {
		t.Errorf("exit code %d, %q", code, errs)
	}
	profiled(t, of)
	r := open(t, slow)
	if len(r.Notes) != 1 || !strings.Contains(r.Notes[0].Text, "not to be compared") {
		t.Errorf("notes %+v", r.Notes)
	}
	if k, ok := r.Header.Knob("profile-self"); k != of || !ok {
		t.Errorf("the header has the knob %q, %v", k, ok)
	}
	if slices.ContainsFunc(open(t, plain).Header.Knobs, func(k recording.Knob) bool { return k.Name == "profile-self" }) {
		t.Error("a run that is not profiled has the knob")
	}
	if _, errs, code := command(t, "compare", plain, slow); code != exitFailed || !strings.Contains(errs, "profile of introgen itself: none and written, which costs time; --mixed shows") {
		t.Errorf("compared: exit code %d, %q", code, errs)
	}
	of = filepath.Join(dir, "shown") // also in front of the command
	if out, errs, code := command(t, "--profile-self", of, "show", slow); code != exitOK || out == "" || strings.Count(errs, "\n") != 1 {
		t.Errorf("exit code %d, %q, %q", code, out, errs)
	}
	profiled(t, of)
	if _, errs, code := command(t, "show", slow, "--profile-self="); code != exitUsage || !strings.Contains(errs, "--profile-self is empty") {
		t.Errorf("no folder: exit code %d, %q", code, errs)
	}
	if _, errs, code := command(t, "show", slow, "--profile-self", filepath.Join(slow, "x")); code != exitFailed || !strings.Contains(errs, "--profile-self: ") {
		t.Errorf("no folder can be made: exit code %d, %q", code, errs)
	}
}

// TestProfileOutlivesAnInterrupt: Ctrl-C ends the run, and keeps its profile.
func TestProfileOutlivesAnInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	dir := t.TempDir()
	out := &cancelling{word: "round 2] decode steps", cancel: cancel}
	var errs bytes.Buffer
	t.Setenv("INTROGEN_KEEP", "0")
	code := run(ctx, []string{"introgen", "cpu", "100000", "--model", worded(t, nil), "--prompt-ids", "1,2,3", "--profile-self", dir}, out, &errs)
	if code != exitInterrupted || !strings.Contains(errs.String(), "hold the profile") {
		t.Errorf("exit code %d, %q", code, &errs)
	}
	profiled(t, dir)
}

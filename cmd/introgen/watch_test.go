//go:build linux

package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/introgen/introgen/models"
	"github.com/introgen/introgen/models/modeltest"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/store"
)

var pageAt = regexp.MustCompile(`introgen: the page is at (http://127\.0\.0\.1:\d+/\w+/)\n`)

// watching is `introgen watch`, run as a user runs it, in a folder of its own.
type watching struct {
	*process
	dir, state, temporary, address string
	out                            said
}

func watch(t *testing.T, args ...string) *watching {
	t.Helper()
	w := &watching{dir: t.TempDir(), state: t.TempDir(), temporary: t.TempDir()}
	cmd := program(t, append([]string{"watch"}, args...)...)
	cmd.Dir, cmd.Stdout = w.dir, &w.out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // as a shell does
	cmd.Env = append(os.Environ(), store.DirEnv+"="+w.state, "TMPDIR="+w.temporary)
	w.process = begin(t, cmd)
	w.until("the address", func() bool { return pageAt.MatchString(w.stderr.String()) })
	w.address = pageAt.FindStringSubmatch(w.stderr.String())[1]
	return w
}

func (w *watching) until(what string, is func() bool) {
	w.t.Helper()
	for end := time.Now().Add(time.Minute); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			w.t.Fatalf("%s did not come: %s%s", what, &w.stderr, &w.out)
		}
	}
}

// code waits for the end.
func (w *watching) code() int {
	w.t.Helper()
	select {
	case <-w.ended:
	case <-time.After(time.Minute):
		w.t.Fatalf("it does not end: %s", &w.stderr)
	}
	return w.cmd.ProcessState.ExitCode()
}

// page is what a browser gets of the page now.
func (w *watching) page() string {
	answer, err := http.Get(w.address)
	if err != nil {
		return ""
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		w.t.Errorf("the page: %s, %v", answer.Status, err)
	}
	return string(text)
}

// recorded is the recording that the command kept by itself.
func (w *watching) recorded() *recording.File {
	w.t.Helper()
	entries, err := store.List(w.state)
	if err != nil || len(entries) != 1 {
		w.t.Fatalf("kept are %v, %v", entries, err)
	}
	f, err := recording.Open(entries[0].Path)
	if err != nil {
		w.t.Fatal(err)
	}
	return f
}

// TestWatch: the page follows a run, by the events too, and is left as a file when an
// interrupt ends it; the run's output, its recording and its exit code are its own.
func TestWatch(t *testing.T) {
	modeltest.Path(t, models.StandIn)
	w := watch(t, "-o", "run.html", "--", "cpu", "100000", "--tokens", "2")
	w.until("round 2", func() bool { return strings.Contains(w.out.String(), "[cpu round 2] decode") })
	first := w.page()
	if !strings.Contains(first, "data-live=\"events\"") || !strings.Contains(first, "cpu 100000") {
		t.Errorf("the page while it runs: %.2000s", first)
	}
	answer, err := http.Get(w.address + "events")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	events := bufio.NewScanner(answer.Body)
	ends := make(chan string, 1)
	go func() {
		last := ""
		for events.Scan() {
			if name, is := strings.CutPrefix(events.Text(), "event: "); is {
				last = name
			}
		}
		ends <- last
	}()
	w.until("another page", func() bool { return w.page() != first })
	w.signal()
	if last := <-ends; last != "end" {
		t.Errorf("the last event is %q", last)
	}
	if last := w.page(); strings.Contains(last, "data-live") {
		t.Error("the last page says that it is still running")
	}
	if code := w.code(); code != exitInterrupted {
		t.Errorf("exit code %d: %s", code, &w.stderr)
	}
	for _, want := range []string{"introgen: interrupted; what stands above holds", "introgen: the finished page is run.html\n"} {
		if !strings.Contains(w.stderr.String(), want) {
			t.Errorf("stderr lacks %q: %s", want, &w.stderr)
		}
	}
	f := w.recorded()
	r := f.Runs[0]
	if r.End == nil || r.End.Code != exitInterrupted || len(r.Rounds) < 2 || strings.Join(r.Header.Args, " ") != "cpu 100000 --tokens 2" {
		t.Errorf("the recording: %+v, %d rounds, %q", r.End, len(r.Rounds), r.Header.Args)
	}
	if _, told := r.Header.Environment[watchedEnv]; told {
		t.Error("the recording has the variable of the page")
	}
	text, err := os.ReadFile(filepath.Join(w.dir, "run.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"cpu 100000 --tokens 2", fmt.Sprintf("%d", len(r.Rounds)), "connect-src &#39;none&#39;"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the finished page lacks %q", want)
		}
	}
	if left, err := os.ReadDir(w.temporary); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}

// TestWatchTyped: Ctrl-C on a terminal reaches the command and its watcher, which
// passes it on: the command takes both for one, and keeps what it has.
func TestWatchTyped(t *testing.T) {
	modeltest.Path(t, models.StandIn)
	w := watch(t, "--", "cpu", "100000", "--tokens", "2")
	w.until("round 1", func() bool { return strings.Contains(w.out.String(), "[cpu round 1] decode") })
	if err := syscall.Kill(-w.cmd.Process.Pid, syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if code := w.code(); code != exitInterrupted || !strings.Contains(w.stderr.String(), "introgen: interrupted; what stands above holds") || strings.Count(w.stderr.String(), "introgen: ") != 3 {
		t.Errorf("exit code %d: %s", code, &w.stderr)
	}
	if r := w.recorded().Runs[0]; r.End == nil || r.End.Code != exitInterrupted {
		t.Errorf("the recording ends with %+v", r.End)
	}
	if text, err := os.ReadFile(filepath.Join(w.dir, defaultWatched)); err != nil || len(text) < 10_000 {
		t.Errorf("the finished page has %d bytes, %v", len(text), err)
	}
}

// TestWatchPlan: a plan is followed run by run, and its children record nowhere else.
func TestWatchPlan(t *testing.T) {
	modeltest.Path(t, models.StandIn)
	w := watch(t, "--", "bench", "--runs", "30", "--", "cpu 1 --tokens 1", "cpu 1 --tokens 2") // some seconds: a page is made once a second at most
	pages := 0
	for last := ""; ; time.Sleep(50 * time.Millisecond) {
		text := w.page()
		if text == "" {
			break
		}
		if text != last {
			pages++
		}
		last = text
	}
	if code := w.code(); code != exitOK {
		t.Errorf("exit code %d: %s", code, &w.stderr)
	}
	if f := w.recorded(); len(f.Runs) != 60 || len(f.Warnings) > 0 || f.Plan == nil {
		t.Errorf("the recording has %d runs; %q", len(f.Runs), f.Warnings)
	}
	if text, err := os.ReadFile(filepath.Join(w.dir, defaultWatched)); err != nil || len(text) < 10_000 {
		t.Errorf("the finished page has %d bytes, %v", len(text), err)
	}
	if pages < 2 {
		t.Errorf("%d pages were served", pages)
	}
}

// TestWatchedIsGone: a command whose watcher is killed ends.
func TestWatchedIsGone(t *testing.T) {
	modeltest.Path(t, models.StandIn)
	w := watch(t, "--", "cpu", "100000", "--tokens", "2")
	w.until("round 1", func() bool { return strings.Contains(w.out.String(), "[cpu round 1] decode") })
	if err := w.cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-w.ended
	var f *recording.File
	w.until("the end of the run", func() bool {
		entries, err := store.List(w.state)
		if err != nil || len(entries) != 1 {
			return false
		}
		f, err = recording.Open(entries[0].Path)
		return err == nil && len(f.Runs) == 1 && f.Runs[0].End != nil
	})
	if code := f.Runs[0].End.Code; code != exitInterrupted {
		t.Errorf("the run ends with code %d", code)
	}
}

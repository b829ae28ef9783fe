package plan_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/introgen/introgen/bench/plan"
	"github.com/introgen/introgen/metalshim/soft/cache"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/system/machine"
)

// childEnv has this test's own binary stand for introgen.
const childEnv = "INTROGEN_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		child(os.Args)
		return
	}
	os.Exit(m.Run())
}

// child is introgen's part: it is called as NAME MODE -o FILE ARGUMENTS.
func child(args []string) {
	write := func(events ...recording.Event) {
		w, err := recording.Create(args[3])
		if err != nil {
			panic(err)
		}
		for _, e := range append([]recording.Event{&recording.Header{Format: recording.Format, Version: 1, Command: args[1], Args: args[1:]}}, events...) {
			if err := w.Put(e); err != nil {
				panic(err)
			}
		}
		if err := w.Close(); err != nil {
			panic(err)
		}
	}
	switch args[1] {
	case "good":
		write(&recording.Note{Text: os.Getenv("MARK") + " " + os.Getenv(cache.Env)}, &recording.End{At: 1})
	case "record":
		write(&recording.Note{Text: strings.Join(args[4:], " ")}, &recording.End{At: 1})
	case "leave": // as a run that prepares another does
		for _, path := range []string{args[3], filepath.Join(os.Getenv(cache.Env), "kept")} {
			if err := os.WriteFile(path, []byte("left by leave"), 0o600); err != nil {
				panic(err)
			}
		}
	case "found":
		state := "empty"
		if _, err := os.Stat(filepath.Join(os.Getenv(cache.Env), "kept")); err == nil {
			state = "kept"
		}
		b, err := os.ReadFile(args[4])
		if err != nil {
			panic(err)
		}
		write(&recording.Note{Text: state + " " + string(b)}, &recording.End{At: 1})
	case "fail":
		fmt.Fprint(os.Stderr, strings.Repeat("x", 10_000), "\nintrogen: no memory\n")
		os.Exit(1)
	case "killed":
		write()
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case "hang":
		write()
		time.Sleep(time.Hour)
	case "deaf":
		signal.Ignore(os.Interrupt)
		write()
		time.Sleep(time.Hour)
	case "stubborn": // as one that records a program which is deaf
		asked := make(chan os.Signal, 2)
		signal.Notify(asked, os.Interrupt)
		write()
		<-asked
		<-asked
		os.Exit(137)
	case "polite":
		asked := make(chan os.Signal, 1)
		signal.Notify(asked, os.Interrupt)
		write()
		<-asked
		write(&recording.End{At: 1, Code: 130})
		os.Exit(130)
	case "fill":
		c, err := cache.Open(os.Getenv(cache.Env), 0)
		if err != nil {
			panic(err)
		}
		for i := range 6 {
			if err := c.Put("lib", cache.KeyOf(fmt.Sprint(i)), []byte("code"), nil); err != nil {
				panic(err)
			}
		}
		write(&recording.End{At: 1})
	case "count":
		found, _ := filepath.Glob(filepath.Join(os.Getenv(cache.Env), "*.entry"))
		write(&recording.Note{Text: fmt.Sprint(len(found), " ", os.Getenv(cache.Env))}, &recording.End{At: 1})
	}
}

func processes(t *testing.T) *plan.Processes {
	t.Helper()
	t.Setenv(childEnv, "1")
	t.Setenv("TMPDIR", t.TempDir())
	p, err := plan.NewProcesses()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "introgen-plan-*")); len(left) > 0 {
			t.Errorf("left behind: %q", left)
		}
	})
	return p
}

func TestProcesses(t *testing.T) {
	p := processes(t)
	for _, c := range []struct {
		mode    string
		timeout time.Duration
		code    int
		signal  string
		hung    bool
		least   time.Duration
		most    time.Duration
	}{
		{"good", time.Minute, 0, "", false, 0, 10 * time.Second},
		{"fail", time.Minute, 1, "", false, 0, 10 * time.Second},
		{"killed", time.Minute, -1, "SIGKILL", false, 0, 10 * time.Second},
		{"hang", 500 * time.Millisecond, -1, "SIGINT", true, 500 * time.Millisecond, 3 * time.Second},
		{"deaf", 500 * time.Millisecond, -1, "SIGKILL", true, 3500 * time.Millisecond, 10 * time.Second},
		{"stubborn", 500 * time.Millisecond, 137, "", true, 3500 * time.Millisecond, 10 * time.Second},
		{"polite", 500 * time.Millisecond, 130, "", true, 500 * time.Millisecond, 3 * time.Second},
	} {
		before := machine.Clock()
		out := p.Run(t.Context(), plan.Child{Arm: recording.Arm{Args: []string{c.mode, "x"}, Env: map[string]string{"MARK": "seen"}}, Timeout: c.timeout})
		if out.Code != c.code || out.Signal != c.signal || out.Hung != c.hung {
			t.Errorf("%s: %+v", c.mode, out)
		}
		if took := time.Duration(out.Reaped - out.Spawned); machine.Clock() > 0 && (took < c.least || took > c.most || out.Spawned < before || out.Reaped > machine.Clock()) {
			t.Errorf("%s: took %v, want %v to %v", c.mode, took, c.least, c.most)
		}
		switch c.mode {
		case "fail":
			if len(out.Error) > 4<<10 || !strings.HasSuffix(out.Error, "x\nintrogen: no memory") || len(out.Recording) > 0 {
				t.Errorf("fail: %d bytes of stderr end %q, %d of a recording", len(out.Error), out.Error[len(out.Error)-30:], len(out.Recording))
			}
			continue // it wrote no recording, and the one before is gone
		case "good":
			if out.MaxRSS < 1<<20 {
				t.Errorf("good: %d bytes of memory", out.MaxRSS)
			}
		}
		f, err := recording.Read(strings.NewReader(string(out.Recording)), "")
		if err != nil || len(f.Runs) != 1 {
			t.Errorf("%s: recording %q, %v", c.mode, out.Recording, err)
			continue
		}
		args := f.Runs[0].Header.Args
		if len(args) != 4 || args[0] != c.mode || args[1] != "-o" || args[3] != "x" {
			t.Errorf("%s: called as %q", c.mode, args)
		}
		if c.mode == "good" && !strings.HasPrefix(f.Runs[0].Notes[0].Text, "seen ") {
			t.Errorf("good: said %q", f.Runs[0].Notes[0].Text)
		}
	}
}

func TestProcessIsEndedWithTheContext(t *testing.T) {
	p := processes(t)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(300*time.Millisecond, cancel)
	begun := time.Now()
	out := p.Run(ctx, plan.Child{Arm: recording.Arm{Args: []string{"polite"}}, Timeout: time.Minute})
	if took := time.Since(begun); out.Code != 130 || out.Hung || took > 4*time.Second {
		t.Errorf("after %v: %+v", took, out)
	}
	if out = p.Run(ctx, plan.Child{Arm: recording.Arm{Args: []string{"good"}}, Timeout: time.Minute}); out.Code != -1 || out.Spawned != 0 {
		t.Errorf("a process was started after the end: %+v", out)
	}
	if err := p.Pause(ctx, time.Hour); err == nil {
		t.Error("a pause went on")
	}
}

// TestOwnCaches: an arm with an empty cache gets a new folder for each run, one
// with a half-filled cache half of what was filled.
func TestOwnCaches(t *testing.T) {
	p := processes(t)
	said := func(c plan.Child) (n int, folder string) {
		t.Helper()
		c.Timeout = time.Minute
		out := p.Run(t.Context(), c)
		f, err := recording.Read(strings.NewReader(string(out.Recording)), "")
		if err != nil || len(f.Runs) != 1 || len(f.Runs[0].Notes) != 1 {
			t.Fatalf("%+v", out)
		}
		if _, err := fmt.Sscan(f.Runs[0].Notes[0].Text, &n, &folder); err != nil {
			t.Fatal(err)
		}
		return n, folder
	}
	empty := recording.Arm{Name: "e", Args: []string{"count"}, Cache: plan.CacheEmpty}
	n, folder := said(plan.Child{Arm: empty})
	m, other := said(plan.Child{Arm: empty})
	if n != 0 || m != 0 || folder == "" || folder == other {
		t.Errorf("%d entries in %s, %d in %s", n, folder, m, other)
	}
	if _, err := os.Stat(folder); !os.IsNotExist(err) {
		t.Errorf("the folder is still there: %v", err)
	}
	half := recording.Arm{Name: "h", Args: []string{"count"}, Cache: plan.CacheHalf}
	if out := p.Run(t.Context(), plan.Child{Arm: half, Timeout: time.Minute}); out.Code != -1 || !strings.Contains(out.Error, "no run has filled") {
		t.Errorf("%+v", out)
	}
	// Filling is done by the arm's own command line.
	half.Args = []string{"fill"}
	if out := p.Run(t.Context(), plan.Child{Arm: half, Fill: true, Timeout: time.Minute}); out.Code != 0 {
		t.Fatalf("%+v", out)
	}
	half.Args = []string{"count"}
	if out := p.Run(t.Context(), plan.Child{Arm: half, Timeout: time.Minute}); out.Code != -1 {
		t.Errorf("another command line found a cache: %+v", out)
	}
	if n := countHalf(t); n != 3 {
		t.Errorf("%d of 6 entries are there, want half", n)
	}
}

// countHalf copies half of the cache that was filled, as a run of the arm gets it.
func countHalf(t *testing.T) int {
	t.Helper()
	full, err := filepath.Glob(filepath.Join(os.TempDir(), "introgen-plan-*", "cache-*", "*.entry"))
	if err != nil || len(full) != 6 {
		t.Fatalf("the full cache holds %d entries, %v", len(full), err)
	}
	slices.Sort(full)
	to := t.TempDir()
	if err := plan.CopyHalf(to, filepath.Dir(full[0])); err != nil {
		t.Fatal(err)
	}
	copied, _ := filepath.Glob(filepath.Join(to, "*.entry"))
	return len(copied)
}

// TestScratchRemoved: a plan outlives whoever tidies the folder of temporary
// files while it runs.
func TestScratchRemoved(t *testing.T) {
	p := processes(t)
	for i := range 2 {
		out := p.Run(t.Context(), plan.Child{Arm: recording.Arm{Args: []string{"good", "x"}}, Timeout: time.Minute})
		if out.Code != 0 || out.Error != "" || len(out.Recording) == 0 {
			t.Fatalf("run %d: %+v", i+1, out)
		}
		made, _ := filepath.Glob(filepath.Join(os.TempDir(), "introgen-plan-*"))
		if len(made) != 1 {
			t.Fatalf("run %d: %d folders", i+1, len(made))
		}
		if i == 0 {
			if err := os.RemoveAll(made[0]); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestPrepare(t *testing.T) {
	p := processes(t)
	mark := filepath.Join(t.TempDir(), "mark")
	if err := p.Prepare(t.Context(), "echo x > "+mark); err != nil {
		t.Skipf("SKIP: needs sh: %v", err)
	}
	if _, err := os.Stat(mark); err != nil {
		t.Error(err)
	}
	o := plan.Options{Plan: recording.Plan{Arms: arms("good")}, Prepare: "sleep 60; echo", Timeout: 200 * time.Millisecond, Executor: p}
	begun := time.Now()
	if _, err := plan.Run(t.Context(), o); err == nil || time.Since(begun) > 2*time.Second || err.Error() != `the command to prepare a run, "sleep 60; echo": it had not ended after 200ms` {
		t.Errorf("after %v: %v", time.Since(begun), err)
	}
	if err := p.Prepare(t.Context(), "echo no such disk; exit 3"); err == nil || err.Error() != "exit status 3: no such disk" {
		t.Errorf("error %v", err)
	}
}

// TestQuietPrograms: a program that is recorded says last why it failed, so that what
// records it says nothing behind that.
func TestQuietPrograms(t *testing.T) {
	p := processes(t)
	for _, args := range [][]string{{"record", "--", "./p"}, {"record", "--quiet", "--", "./p"}} {
		out := p.Run(t.Context(), plan.Child{Arm: recording.Arm{Args: args}, Timeout: time.Minute})
		f, err := recording.Read(bytes.NewReader(out.Recording), "a run's")
		if err != nil || len(f.Runs) != 1 || len(f.Runs[0].Notes) != 1 || f.Runs[0].Notes[0].Text != "--quiet -- ./p" {
			t.Errorf("%q: %+v, %v", args, f, err)
		}
	}
}

// TestPreparedRuns: the runs that prepare a run share its own folder with it, and its
// cache only where that is to be as they left it; what fails there fails the run.
func TestPreparedRuns(t *testing.T) {
	t.Setenv(childEnv, "1")
	x := processes(t)
	leave := []string{"leave", "-o", plan.Scratch + "/file"}
	for cached, want := range map[string]string{plan.CachePrepared: "kept", plan.CacheEmpty: "empty"} {
		out := x.Run(context.Background(), plan.Child{Run: 1, Timeout: time.Minute, Arm: recording.Arm{Name: "a", Args: []string{"found", plan.Scratch + "/file"},
			Cache: cached, Prepare: [][]string{leave, leave}}})
		if out.Code != 0 || !strings.Contains(string(out.Recording), want+" left by leave") {
			t.Errorf("%s: code %d, %s\n%s", cached, out.Code, out.Error, out.Recording)
		}
		if len(out.Prepared) != 2 || out.Prepared[0] <= 0 || out.Prepared[1] <= 0 {
			t.Errorf("%s: prepared in %v ns", cached, out.Prepared)
		}
	}
	out := x.Run(context.Background(), plan.Child{Run: 1, Timeout: time.Minute, Arm: recording.Arm{Name: "a", Args: []string{"good"}, Prepare: [][]string{leave, {"fail"}}}})
	if out.Code == 0 || !strings.Contains(out.Error, "its preparation by `introgen fail` ended with exit code 1: no memory") {
		t.Errorf("code %d: %s", out.Code, out.Error)
	}
}

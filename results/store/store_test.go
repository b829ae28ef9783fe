package store

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/introgen/introgen/results/recording"
)

func names(t *testing.T, state string) string {
	t.Helper()
	entries, err := List(state)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, filepath.Base(e.Path))
	}
	return strings.Join(out, " ")
}

func TestTheLastOnesAreKept(t *testing.T) {
	state := filepath.Join(t.TempDir(), "a[b]c")
	if got := names(t, state); got != "" {
		t.Errorf("an absent folder holds %q", got)
	}
	var oldest *recording.Writer
	for i := range Kept + 3 {
		w, path, err := Create(state, "cpu")
		if err != nil {
			t.Fatal(err)
		}
		if i == 1 {
			oldest = w // goes on being written
			continue
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := Tidy(state); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
	defer oldest.Close()
	// Somebody else's files are left alone, and are no recordings.
	for _, name := range []string{"notes.txt", "x-cpu.introgen", "0-cpu.introgen", "9223372036854775807-cpu.introgen"} {
		if err := os.WriteFile(filepath.Join(folder(state), name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got := strings.Fields(names(t, state))
	if len(got) != Kept+1 || got[0] != "000023-cpu.introgen" || got[Kept] != "000002-cpu.introgen" || got[Kept-1] != "000004-cpu.introgen" {
		t.Errorf("kept are %q", got)
	}
}

// TestLargeOnesGo: the oldest beyond the size that all may have together go, the
// newest stays whatever its size.
func TestLargeOnesGo(t *testing.T) {
	for _, c := range []struct {
		sizes []int64 // from the newest
		most  int64
		stay  int
	}{
		{[]int64{10, 10, 10}, 30, 3},
		{[]int64{10, 10, 11}, 30, 2},
		{[]int64{40, 1, 1}, 30, 1},
		{[]int64{10, 30, 1}, 30, 1}, // no younger one goes before an older one
		{nil, 30, 0},
	} {
		state := t.TempDir()
		for i := range c.sizes {
			w, path, err := Create(state, "sweep")
			if err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(path, c.sizes[len(c.sizes)-1-i]); err != nil {
				t.Fatal(err)
			}
		}
		entries, err := List(state)
		if err != nil {
			t.Fatal(err)
		}
		if err := removeOldest(entries, c.most); err != nil {
			t.Fatal(err)
		}
		left, err := List(state)
		if err != nil || len(left) != c.stay {
			t.Errorf("of %v with %d bytes %d stay, want %d (%v)", c.sizes, c.most, len(left), c.stay, err)
		}
	}
}

func TestFind(t *testing.T) {
	state := t.TempDir()
	t.Setenv(DirEnv, state)
	t.Chdir(t.TempDir())
	var last string
	for _, command := range []string{"cpu", "metal"} {
		w, path, err := Create(state, command)
		if err != nil {
			t.Fatal(err)
		}
		w.Close()
		last = path
	}
	if got, err := Find("1"); err != nil || got != last || !strings.HasSuffix(got, "-metal.introgen") {
		t.Errorf("1 is %s, %v", got, err)
	}
	for arg, want := range map[string]string{"0": "no recording 0: 2 are kept; `introgen list`", "3": "no recording 3", "absent.introgen": "no file absent.introgen"} {
		if _, err := Find(arg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", arg, err, want)
		}
	}
	if err := os.WriteFile("1", nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if got, err := Find("1"); err != nil || got != "1" {
		t.Errorf("a file called 1 is %s, %v", got, err)
	}
	t.Setenv(DirEnv, "")
	if _, err := Find("2"); err == nil || !strings.Contains(err.Error(), DirEnv) {
		t.Errorf("without a state folder: %v", err)
	}
}

func TestDir(t *testing.T) {
	t.Setenv(DirEnv, "")
	if dir, err := Dir(); dir != "" || err != nil {
		t.Errorf("set to nothing it is %q, %v", dir, err)
	}
	os.Unsetenv(DirEnv) // the Setenv before restores it
	t.Setenv("HOME", "/u/x")
	t.Setenv("XDG_STATE_HOME", "/state")
	want := "/state/introgen"
	if runtime.GOOS == "darwin" {
		want = "/u/x/Library/Application Support/introgen"
	}
	if dir, err := Dir(); dir != want || err != nil {
		t.Errorf("it is %q, %v, want %q", dir, err, want)
	}
	if runtime.GOOS == "darwin" {
		return
	}
	t.Setenv("XDG_STATE_HOME", "relative")
	if dir, err := Dir(); dir != "/u/x/.local/state/introgen" || err != nil {
		t.Errorf("it is %q, %v", dir, err)
	}
}

// TestManyAtOnce: runs that begin at the same time get files of their own.
func TestManyAtOnce(t *testing.T) {
	state := t.TempDir()
	var wg sync.WaitGroup
	var mu sync.Mutex
	paths := map[string]bool{}
	for range 10 {
		wg.Go(func() {
			w, path, err := Create(state, "cpu")
			if err != nil {
				t.Error(err)
				return
			}
			defer w.Close()
			mu.Lock()
			defer mu.Unlock()
			if paths[path] {
				t.Errorf("%s was given twice", path)
			}
			paths[path] = true
		})
	}
	wg.Wait()
}

func TestKeep(t *testing.T) {
	for value, want := range map[string]bool{"": true, "1": true, "0": false} {
		t.Setenv(KeepEnv, value)
		if got, err := Keep(); got != want || err != nil {
			t.Errorf("%q: %v, %v", value, got, err)
		}
	}
	t.Setenv(KeepEnv, "no")
	if _, err := Keep(); err == nil || !strings.Contains(err.Error(), `INTROGEN_KEEP="no": 0 or 1`) {
		t.Errorf("error %v", err)
	}
}

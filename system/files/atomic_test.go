package files

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// names lists a folder, hidden files and all.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func TestCommitReplaces(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.bin")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Create(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Discard()
	if _, err := f.Write([]byte("new")); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(path); string(got) != "old" {
		t.Errorf("before Commit the name holds %q; want the old bytes", got)
	}
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	f.Discard()
	if got, _ := os.ReadFile(path); string(got) != "new" {
		t.Errorf("after Commit the name holds %q", got)
	}
	if got := names(t, dir); len(got) != 1 {
		t.Errorf("the folder holds %q; want the file alone", got)
	}
	if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o644 {
		t.Errorf("mode %v, %v; want 0644", st.Mode(), err)
	}
	if err := f.Commit(); err == nil {
		t.Error("a second Commit succeeded")
	}
}

func TestDiscardLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	f, err := Create(filepath.Join(dir, "a.bin"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	f.Write([]byte("half"))
	f.Discard()
	if got := names(t, dir); len(got) != 0 {
		t.Errorf("after Discard the folder holds %q", got)
	}
}

func TestFailedCommitLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "taken")
	f, err := Create(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(path, "inside"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := f.Commit(); err == nil {
		t.Error("Commit over a folder succeeded")
	}
	if got := names(t, dir); len(got) != 1 || got[0] != "taken" {
		t.Errorf("the folder holds %q; want the one that stood in the way", got)
	}
}

// TestWriteAsTold: a file has the mode that its writer gives, and an unfinished
// one the name.
func TestWriteAsTold(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.bin")
	if err := Write(path, []byte("new"), Options{Mode: 0o600, Unsynced: true}); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(path); string(got) != "new" {
		t.Errorf("the file holds %q", got)
	}
	if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v; want 0600", st.Mode(), err)
	}
	f, err := Create(path, Options{Unfinished: "a.part*"})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Discard()
	if got := names(t, dir); len(got) != 2 || !strings.HasPrefix(got[1], "a.part") {
		t.Errorf("the folder holds %q; want a.bin and an unfinished a.part", got)
	}
}

func TestSweep(t *testing.T) {
	dir := t.TempDir()
	f, err := Create(filepath.Join(dir, "a.bin"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	f.f.Close() // as if killed
	for _, keep := range []string{".hidden", "b.bin", "c.unfinished-1"} {
		if err := os.WriteFile(filepath.Join(dir, keep), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := Sweep(dir, ""); err != nil {
		t.Fatal(err)
	}
	if got := names(t, dir); len(got) != 3 {
		t.Errorf("after Sweep the folder holds %q; want the three that are not unfinished", got)
	}
	if err := Sweep(filepath.Join(dir, "absent"), ""); err != nil {
		t.Errorf("Sweep of an absent folder: %v", err)
	}
}

func TestCreateErrors(t *testing.T) {
	for _, path := range []string{"", t.TempDir() + "/", filepath.Join(t.TempDir(), "no", "such")} {
		if f, err := Create(path, Options{}); err == nil {
			f.Discard()
			t.Errorf("Create(%q) succeeded", path)
		} else if strings.Contains(err.Error(), "unfinished") {
			t.Errorf("Create(%q) names a file that nobody asked for: %v", path, err)
		}
	}
}

// TestCreateKeepsWhatIsNoFile: a rename onto a device or FIFO would succeed, and
// replace it.
func TestCreateKeepsWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(fifo, link); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{os.DevNull: "a device", fifo: "a FIFO", link: "a FIFO", dir: "a directory"} {
		f, err := Create(path, Options{})
		if err == nil {
			f.Discard()
		}
		if err == nil || !strings.Contains(err.Error(), path+": it is "+want) {
			t.Errorf("%s: %v; want an error that says that it is %s", path, err, want)
		}
	}
	if got := names(t, dir); len(got) != 2 {
		t.Errorf("the folder holds %q", got)
	}
}

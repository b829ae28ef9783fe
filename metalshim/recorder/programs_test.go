package recorder

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/introgen/introgen/metalshim/soft/clibrary"
)

// built is the recorder, compiled.
func built(t testing.TB) string {
	t.Helper()
	path, err := Build(t.Context())
	if errors.Is(err, clibrary.ErrCompiler) {
		t.Skipf("SKIP: needs a C compiler: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// compiled is a program of testdata, compiled by the system's cc.
func compiled(t testing.TB, name string, more ...string) string {
	t.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skipf("SKIP: needs cc and the C library's headers: %v", err)
	}
	out := filepath.Join(t.TempDir(), name)
	args := append([]string{"-O1", "-Wall", "-Werror", "-pthread", "-o", out, filepath.Join("testdata", name+".c")}, more...)
	if said, err := exec.CommandContext(t.Context(), cc, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	return out
}

// preloaded is the variable that loads the recorder.
func preloaded(library string) string {
	if runtime.GOOS == "darwin" {
		return "DYLD_INSERT_LIBRARIES=" + library
	}
	return "LD_PRELOAD=" + library
}

// command is a program with the recorder in it, which writes to a folder.
func command(t testing.TB, program string, args ...string) (*exec.Cmd, *Folder, string) {
	t.Helper()
	base := ""
	if s, err := os.Stat("/dev/shm"); err == nil && s.IsDir() {
		base = "/dev/shm"
	}
	dir, err := os.MkdirTemp(base, "recorder-test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	folder, err := OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), preloaded(built(t)), Environment+"="+Setting(dir))
	return cmd, folder, dir
}

// ran runs the command to its end and returns what it wrote.
func ran(t testing.TB, cmd *exec.Cmd) string {
	t.Helper()
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %v\n%s%s", cmd.Args, err, out.String(), said.String())
	}
	if said.Len() > 0 {
		t.Errorf("%v on stderr: %s", cmd.Args, said.String())
	}
	return out.String()
}

// rest is all events of the one ring in a folder.
func rest(t testing.TB, folder *Folder) []Event {
	t.Helper()
	rings := folder.Rings()
	if len(rings) != 1 || len(folder.Refused) > 0 {
		t.Fatalf("%d rings, %v", len(rings), folder.Refused)
	}
	defer rings[0].Close()
	var all []Event
	if skipped := rings[0].Rest(func(e Event) { all = append(all, e) }); skipped > 0 || rings[0].Err() != nil || rings[0].Lost() > 0 {
		t.Errorf("%d slots skipped, %d events lost, %v", skipped, rings[0].Lost(), rings[0].Err())
	}
	return all
}

package plan

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestScratchOfTheKilled: the folder of a program that is no more goes, that of
// one that runs and what others named alike stay.
func TestScratchOfTheKilled(t *testing.T) {
	parent := t.TempDir()
	dead := exec.Command("true")
	if err := dead.Run(); err != nil {
		t.Skipf("SKIP: needs a program that ends: %v", err)
	}
	name := func(pid int, rest string) string {
		return filepath.Join(parent, fmt.Sprintf("%s%d%s", scratchPrefix, pid, rest))
	}
	gone := name(dead.Process.Pid, "-1")
	stays := []string{name(os.Getpid(), "-1"), name(os.Getppid(), "-2"), name(dead.Process.Pid, ""), filepath.Join(parent, scratchPrefix+"x-1")}
	for _, folder := range append([]string{gone}, stays...) {
		if err := os.MkdirAll(filepath.Join(folder, "cache"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	mine, err := newScratch(parent)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(gone); !os.IsNotExist(err) {
		t.Errorf("%s is still there: %v", gone, err)
	}
	for _, folder := range append(stays, mine) {
		if _, err := os.Stat(folder); err != nil {
			t.Error(err)
		}
	}
}

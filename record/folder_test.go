package record

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestRemoveLeft: what a killed introgen left is removed, and nothing else.
func TestRemoveLeft(t *testing.T) {
	ended := exec.Command("true")
	if err := ended.Run(); err != nil {
		t.Skipf("SKIP: needs true: %v", err)
	}
	in := t.TempDir()
	left := fmt.Sprintf("introgen-record-%d-77", ended.Process.Pid)
	for _, name := range []string{left, fmt.Sprintf("introgen-record-%d-77", os.Getpid()), "introgen-record-x-77", "introgen-record-0-1", "other-1-2"} {
		if err := os.MkdirAll(filepath.Join(in, name, "below"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	removeLeft(in)
	all, err := os.ReadDir(in)
	if err != nil || len(all) != 4 {
		t.Errorf("%d folders are left, want 4: %v", len(all), err)
	}
	if _, err := os.Stat(filepath.Join(in, left)); !os.IsNotExist(err) {
		t.Errorf("%s is still there", left)
	}
}

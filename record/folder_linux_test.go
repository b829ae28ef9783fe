package record

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// TestRemoveUnreaped: what an introgen left is removed also where nobody has asked yet
// how that one ended, as in containers whose first process asks for nobody.
func TestRemoveUnreaped(t *testing.T) {
	ended := exec.Command("true")
	if err := ended.Start(); err != nil {
		t.Skipf("SKIP: needs true: %v", err)
	}
	defer ended.Wait()
	for range 1000 {
		if gone(ended.Process.Pid) {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	in := t.TempDir()
	left := filepath.Join(in, fmt.Sprintf("introgen-record-%d-77", ended.Process.Pid))
	if err := os.Mkdir(left, 0o700); err != nil {
		t.Fatal(err)
	}
	removeLeft(in)
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("%s is still there", left)
	}
}

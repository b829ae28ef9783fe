package clang

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A compiler does not outlive the process that started it, even if that is
// killed and can do nothing about it.
func TestNoOrphan(t *testing.T) {
	if path := os.Getenv("CLANG_TEST_SCRIPT"); path != "" {
		Run(context.Background(), Command{Argv: []string{path}})
		return
	}
	dir := t.TempDir()
	pidFile := filepath.Join(dir, "pid")
	path := script(t, dir, "compiler", "echo $$ > "+pidFile+".part; mv "+pidFile+".part "+pidFile+"; exec sleep 100")
	cmd := exec.Command(os.Args[0], "-test.run=^TestNoOrphan$")
	cmd.Env = append(os.Environ(), "CLANG_TEST_SCRIPT="+path)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var text []byte
	for range 3000 {
		var err error
		if text, err = os.ReadFile(pidFile); err == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	cmd.Process.Kill()
	cmd.Wait()
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatalf("the compiler did not start: %v", err)
	}
	if !gone(pid) {
		t.Errorf("the compiler %d still runs", pid)
	}
}

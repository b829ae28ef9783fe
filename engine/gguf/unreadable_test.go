//go:build unix

package gguf_test

import (
	"os"
	"runtime"
	"testing"

	"github.com/introgen/introgen/engine/gguf/gguftest"
)

// asNobody runs f without root's right to read everything; whoever is not root
// has no such right to lose. dropRoot is nil where there is no way to do it.
func asNobody(t *testing.T, f func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		f()
		return
	}
	if dropRoot == nil {
		t.Skip("SKIP: needs a user who is not root, or Linux")
	}
	// The thread is not unlocked, so that it ends with this goroutine, its
	// rights with it.
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		if err := dropRoot(); err != nil {
			done <- err
			return
		}
		f()
		done <- nil
	}()
	if err := <-done; err != nil {
		t.Skipf("SKIP: needs a user who is not root: %v", err)
	}
}

// dropRoot gives up root's rights over files, for the calling thread.
var dropRoot func() error

func TestUnreadable(t *testing.T) {
	path := gguftest.WriteBytes(t, reordered(t, sample(3)))
	if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
	asNobody(t, func() { refuse(t, path, "cannot open: permission denied") })
}

package recorder

import (
	"os"
	"testing"

	"github.com/introgen/introgen/metalshim/shimtest"
)

// runChild plays what a parent asked this program for, where it did.
var runChild = func() bool { return false }

func TestMain(m *testing.M) {
	remove := shimtest.CacheFolder()
	if runChild() {
		return
	}
	code := m.Run()
	remove()
	os.Exit(code)
}

package recorder

import (
	"os"
	"testing"

	"github.com/introgen/introgen/metalshim/shimtest"
)

func TestMain(m *testing.M) {
	remove := shimtest.CacheFolder()
	code := m.Run()
	remove()
	os.Exit(code)
}

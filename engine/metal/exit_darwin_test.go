package metal

import (
	"os"
	"testing"

	"github.com/ebitengine/purego"
)

// TestMain ends the tests through C's exit where INTROGEN_TEST_LEAKS is set:
// leaks --atExit waits for the handlers that this calls and that os.Exit does
// not.
func TestMain(m *testing.M) {
	code := m.Run()
	if os.Getenv("INTROGEN_TEST_LEAKS") != "" {
		if address, err := purego.Dlsym(purego.RTLD_DEFAULT, "exit"); err == nil {
			purego.SyscallN(address, uintptr(code))
		}
	}
	os.Exit(code)
}

package apple

import (
	"os"

	"github.com/ebitengine/purego"
)

// leaksEnv has the tests end through C's exit: leaks --atExit waits for the
// handlers that this calls and that os.Exit does not.
const leaksEnv = "INTROGEN_TEST_LEAKS"

func init() {
	if os.Getenv(leaksEnv) == "" {
		return
	}
	address, err := purego.Dlsym(purego.RTLD_DEFAULT, "exit")
	if err != nil {
		panic(err)
	}
	exit = func(code int) { purego.SyscallN(address, uintptr(code)) }
}

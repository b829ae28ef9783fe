package beside

import (
	"os"
	"os/signal"
	"syscall"
)

// IgnoreSignals has this process end when the program does, whatever that was told:
// a program may have much to do between a signal and its end. They are taken, not
// ignored: what is ignored stays so in the compilers that are run.
func IgnoreSignals() {
	signal.Notify(make(chan os.Signal, 1), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
}

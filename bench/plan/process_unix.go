//go:build unix

package plan

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// ending is the signal that ended a process, if one did, and the most memory
// that it held in bytes.
func ending(s *os.ProcessState) (signal string, maxRSS int64) {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		if signal = unix.SignalName(w.Signal()); signal == "" {
			signal = w.Signal().String()
		}
	}
	if u, ok := s.SysUsage().(*syscall.Rusage); ok {
		maxRSS = u.Maxrss * rssUnit
	}
	return signal, maxRSS
}

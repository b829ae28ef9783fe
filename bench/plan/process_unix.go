//go:build unix

package plan

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// endWithChildren gives a shell a process group of its own, so that what it has
// started is ended with it.
func endWithChildren(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

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

// running says whether there is a process of that number, somebody else's too.
func running(pid int) bool { return syscall.Kill(pid, 0) != syscall.ESRCH }

package clang

import (
	"os/exec"
	"syscall"
)

// ownGroup makes the program the leader of a process group and has the whole
// group killed on cancel. Pdeathsig covers the death of this process.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

package main

import (
	"os/exec"
	"syscall"
)

// endWithWatch has the system ask a command to end where the process that watches it
// is gone.
func endWithWatch(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
}

//go:build !linux

package record

import "golang.org/x/sys/unix"

// driver is that of the devices which a program finds.
const driver = "apple"

// gone says whether a process has ended and its parent has asked how.
func gone(pid int) bool { return unix.Kill(pid, 0) == unix.ESRCH }

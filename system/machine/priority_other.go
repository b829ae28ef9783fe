//go:build unix && !linux

package machine

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// giveWay is the niceness of what others come before.
const giveWay = 10

// GiveWay has the system prefer other processes to this one. What it starts later
// inherits that.
func GiveWay() error {
	if err := unix.Setpriority(unix.PRIO_PROCESS, 0, giveWay); err != nil {
		return fmt.Errorf("the priority of this process: %w", err)
	}
	return nil
}

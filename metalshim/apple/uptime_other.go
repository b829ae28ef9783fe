//go:build !darwin

package apple

import (
	"time"

	"golang.org/x/sys/unix"
)

// uptime is the clock of a stand-in's times.
func uptime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

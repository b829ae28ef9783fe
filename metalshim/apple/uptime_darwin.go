package apple

import (
	"time"

	"golang.org/x/sys/unix"
)

// uptime is the clock of a command buffer's times (mach_absolute_time, which
// stands still while the machine sleeps).
func uptime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_UPTIME_RAW, &t); err != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

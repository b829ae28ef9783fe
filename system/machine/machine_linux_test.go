package machine

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestClockBegins: the clock's zero is the start of the machine, not a date,
// which is set now and then. It may stand still while the machine sleeps.
func TestClockBegins(t *testing.T) {
	now := time.Duration(Clock())
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		t.Skipf("SKIP: needs the time since the machine was started: %v", err)
	}
	if up := time.Duration(info.Uptime+1) * time.Second; now <= 0 || now > up {
		t.Errorf("the clock says %v; the machine has been up for %v", now, up)
	}
}

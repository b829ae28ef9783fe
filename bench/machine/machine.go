// Package machine reads what a measurement needs to know of the machine: facts
// that stay, readings that change while others use it or it grows hot, and the
// clock that all processes share. What cannot be read is negative, empty or 0;
// nothing here is an error, since a measurement without it is still one.
package machine

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/introgen/introgen/results/recording"
)

// Host reads the facts for a recording's header.
func Host() recording.Host {
	h := recording.Host{OS: runtime.GOOS, Arch: runtime.GOARCH, Cores: runtime.NumCPU()}
	h.Name, _ = os.Hostname()
	h.Build, h.CPU, h.MemoryBytes = facts()
	return h
}

// Clock is the system's monotonic clock in nanoseconds, from a point that is
// the same for all processes since the machine was started; 0 where there is
// none. It ties the clocks of recordings to each other and to their parent's.
func Clock() int64 { return clock() }

// Faults are the page faults of this process so far: those that waited for a
// disk and those that did not; negative where the system does not count them.
func Faults() (major, minor int64) {
	if u, ok := usage(); ok {
		return u.major, u.minor
	}
	return -1, -1
}

// used is what processes have taken of the machine.
type used struct {
	cpu          time.Duration // of this process and of its children that have ended
	major, minor int64         // page faults of this process
}

// leastInterval is the shortest time over which the load of others is told:
// systems count it in ticks of 10 ms.
const leastInterval = 100 * time.Millisecond

// Watch reads the state of the machine again and again. The zero Watch is
// ready; it is used by one goroutine.
type Watch struct {
	began bool
	at    time.Time
	busy  time.Duration // of all processes, at that time
	own   time.Duration
}

// Read takes a reading; at is the time to write on it, on the recording's
// clock. OtherCores is counted since the reading before that told it, and
// negative in the first and in one that follows within a tenth of a second. It
// costs less than a millisecond.
func (w *Watch) Read(at int64) recording.Machine {
	m := recording.Machine{At: at, Load: load(), OtherCores: -1, MHz: frequency()}
	m.Throttled, m.Thermal = thermal()
	busy, ok := busyTime()
	u, counted := usage()
	if !ok || !counted {
		return m
	}
	now := time.Now()
	if w.began {
		passed := now.Sub(w.at)
		if passed < leastInterval {
			return m
		}
		// Ticks are coarse: others cannot have used less than nothing.
		m.OtherCores = max(0, (busy-w.busy-(u.cpu-w.own)).Seconds()/passed.Seconds())
	}
	w.began, w.at, w.busy, w.own = true, now, busy, u.cpu
	return m
}

// parseLoad reads the first number of /proc/loadavg: processes that ran or
// waited, averaged over a minute.
func parseLoad(text string) float64 {
	first, _, _ := strings.Cut(text, " ")
	if v, err := strconv.ParseFloat(first, 64); err == nil && v >= 0 {
		return v
	}
	return -1
}

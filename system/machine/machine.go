// Package machine reads what the system tells of the machine: its processor, the
// cores and the memory that this process may use (affinity and control groups
// included), readings that change while others use it or it grows hot, and the
// clock that all processes share. What cannot be read is negative, empty or 0;
// nothing here is an error, since a program and a measurement go on without it.
package machine

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Facts are what stays while the machine runs.
type Facts struct {
	Name        string // its name in a network
	OS          string // runtime.GOOS
	Arch        string // runtime.GOARCH
	Build       string // kernel release, or macOS with its build
	CPU         string
	Cores       int // that the scheduler may use
	MemoryBytes int64
}

// Host reads the facts of this machine.
func Host() Facts {
	h := Facts{OS: runtime.GOOS, Arch: runtime.GOARCH, Cores: runtime.NumCPU(), MemoryBytes: Memory()}
	h.Name, _ = os.Hostname()
	h.Build, h.CPU = names()
	return h
}

// CPUInfo returns what Linux tells of the first processor in /proc/cpuinfo, by the
// names there, and nothing on other systems.
var CPUInfo = sync.OnceValue(func() map[string]string { return ParseCPUInfo(files{root}.text("proc/cpuinfo")) })

// ParseCPUInfo reads the first processor of a file like /proc/cpuinfo.
func ParseCPUInfo(text string) map[string]string {
	first, _, _ := strings.Cut(text, "\n\n")
	info := map[string]string{}
	for line := range strings.Lines(first) {
		if k, v, ok := strings.Cut(line, ":"); ok {
			info[strings.TrimSpace(k)] = strings.TrimSpace(v)
		}
	}
	return info
}

// LargestCache is the level and the size of the first processor's largest cache,
// as Linux tells them: L3 32768K.
func LargestCache() string { return files{root}.largestCache() }

// LastCacheBytes is the size of the first processor's last cache before memory, of
// those that the system tells of; 0 where it tells of none.
func LastCacheBytes() int64 { return lastCache() }

// HugePagesFile is where Linux is told for which memory it is to take huge pages
// (Documentation/admin-guide/mm/transhuge.rst).
const HugePagesFile = "/sys/kernel/mm/transparent_hugepage/enabled"

// HugePages is the mode of transparent huge pages: always, madvise or never. ok is
// false where the system has none to ask for.
func HugePages() (mode string, ok bool) { return files{root}.hugePages() }

// Load is how many processes ran or waited to run, averaged over a minute.
func Load() float64 { return load() }

// Clock is the system's monotonic clock in nanoseconds, from a point that is
// the same for all processes since the machine was started; 0 where there is
// none. It ties the clocks of recordings to each other and to their parent's.
func Clock() int64 {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) != nil {
		return 0
	}
	return t.Nano()
}

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

// Reading is how the machine was at a moment.
type Reading struct {
	At         int64   // on the caller's clock, in nanoseconds
	Load       float64 // processes that ran or waited, averaged over a minute
	OtherCores float64 // cores that other processes kept busy since the last reading
	MHz        float64 // the processors' clock, their mean
	Throttled  int64   // how often processors were slowed down for their heat so far
	Thermal    string  // the hottest place, in words
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

// Read takes a reading; at is the time to write on it. OtherCores is counted since the reading before that told it, and
// negative in the first and in one that follows within a tenth of a second. It
// costs less than a millisecond.
func (w *Watch) Read(at int64) Reading {
	m := Reading{At: at, Load: load(), OtherCores: -1, MHz: frequency()}
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

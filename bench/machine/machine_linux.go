package machine

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

var root = os.DirFS("/")

func facts() (build, cpu string, memory int64) {
	var name unix.Utsname
	if unix.Uname(&name) == nil {
		build = unix.ByteSliceToString(name.Release[:])
	}
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) == nil {
		memory = int64(info.Totalram) * int64(info.Unit)
	}
	return build, files{root}.cpuName(), memory
}

func clock() int64 {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) != nil {
		return 0
	}
	return t.Nano()
}

func load() float64                    { return files{root}.load() }
func busyTime() (time.Duration, bool)  { return files{root}.busy() }
func frequency() float64               { return files{root}.frequency() }
func thermal() (count int64, s string) { return files{root}.thermal() }

package machine

import (
	"time"

	"golang.org/x/sys/unix"
)

func names() (build, cpu string) {
	var name unix.Utsname
	if unix.Uname(&name) == nil {
		build = unix.ByteSliceToString(name.Release[:])
	}
	return build, files{root}.cpuName()
}

func lastCache() int64                 { return files{root}.lastCache() }
func load() float64                    { return files{root}.load() }
func busyTime() (time.Duration, bool)  { return files{root}.busy() }
func frequency() float64               { return files{root}.frequency() }
func thermal() (count int64, s string) { return files{root}.thermal() }

package machine

import (
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"golang.org/x/sys/unix"
)

func names() (build, cpu string) {
	version, _ := unix.Sysctl("kern.osproductversion") // "15.1"
	build, _ = unix.Sysctl("kern.osversion")           // "24B83"
	if version != "" {
		build = fmt.Sprintf("macOS %s (%s)", version, build)
	}
	cpu, _ = unix.Sysctl("machdep.cpu.brand_string")
	return build, cpu
}

// Memory is the machine's memory in bytes.
func Memory() int64 {
	n, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return 0
	}
	return int64(n)
}

// Resident is not known here: what tells it of a process has no system call.
func Resident() (n int64, ok bool) { return 0, false }

// AvailableMemory returns how many bytes of memory the system can give before it must
// end a program; ok is false where it does not tell, as here.
func AvailableMemory() (n int64, ok bool) { return 0, false }

// load reads struct loadavg of <sys/resource.h>: three fixed-point averages of
// 32 bits, and after padding their scale as a long.
func load() float64 {
	b, err := unix.SysctlRaw("vm.loadavg")
	if err != nil || len(b) < 24 {
		return -1
	}
	scale := binary.LittleEndian.Uint64(b[16:])
	if scale == 0 {
		return -1
	}
	return float64(binary.LittleEndian.Uint32(b)) / float64(scale)
}

// lastCache is the second level's size where there is no third, of the fast cores
// where there are several kinds. Nothing tells of the cache that Apple's chips have before
// memory for all of their parts.
func lastCache() int64 {
	for _, name := range []string{"hw.l3cachesize", "hw.perflevel0.l2cachesize", "hw.l2cachesize"} {
		if n := cacheSize(name); n > 0 {
			return n
		}
	}
	return 0
}

// cacheSize is a number of 64 bits or, as hw.perflevel0 has them, of 32.
func cacheSize(name string) int64 {
	if n, err := unix.SysctlUint64(name); err == nil && n <= math.MaxInt64 {
		return int64(n)
	}
	if n, err := unix.SysctlUint32(name); err == nil {
		return int64(n)
	}
	return 0
}

// busyTime is told only by a Mach call (host_processor_info), not by sysctl.
func busyTime() (time.Duration, bool) { return 0, false }

// frequency is known on Intel's processors only.
func frequency() float64 {
	if hz, err := unix.SysctlUint64("hw.cpufrequency"); err == nil && hz > 0 {
		return float64(hz) / 1e6
	}
	return -1
}

// thermal: macOS tells a level, on Intel's processors only, and counts nothing.
func thermal() (throttled int64, level string) {
	if n, err := unix.SysctlUint32("machdep.xcpm.cpu_thermal_level"); err == nil {
		return -1, fmt.Sprintf("level %d of 100", n)
	}
	return -1, ""
}

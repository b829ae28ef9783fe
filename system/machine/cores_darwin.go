package machine

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// PhysicalCores returns the number of fast cores: with slow ones in the team,
// the fast ones would wait for them at every stage.
func PhysicalCores() int {
	for _, name := range []string{"hw.perflevel0.physicalcpu", "hw.physicalcpu"} {
		if n, err := unix.SysctlUint32(name); err == nil && n > 0 {
			return int(n)
		}
	}
	return runtime.NumCPU()
}

package peer

import (
	"os"
	"runtime"
	"syscall"
)

// peakMemory is getrusage's ru_maxrss of a process that ended, in MiB. macOS
// counts it in bytes, the others in KiB.
func peakMemory(p *os.ProcessState) float64 {
	usage, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	unit := 1024.0
	if runtime.GOOS == "darwin" {
		unit = 1
	}
	return float64(usage.Maxrss) * unit / (1 << 20)
}

package peer

import (
	"bytes"
	"fmt"
	"os"
)

// ownPeak forgets how much memory this process once had, and returns how much its peak
// is then, in MiB. Linux counts a child's largest resident memory from the fork on, when
// it still is its parent (exec_mmap keeps the old one's in signal->maxrss): without this
// every process of a program that once took a gigabyte has a peak of one.
func ownPeak() float64 {
	// proc(5): 5 resets the peak to what is resident now. Where that is not allowed,
	// the peak read below tells what cannot be told from it.
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(status) {
		var kib float64
		if n, _ := fmt.Sscanf(string(line), "VmHWM: %f kB", &kib); n == 1 {
			return kib / 1024
		}
	}
	return 0
}

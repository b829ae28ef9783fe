package pages

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// advise asks for pages of a size. A kernel that does not know how says so, and
// then the memory is as good as any.
func advise(b []byte, size Size) {
	switch size {
	case Small:
		_ = unix.Madvise(b, unix.MADV_NOHUGEPAGE)
	case Huge:
		_ = unix.Madvise(b, unix.MADV_HUGEPAGE)
	}
}

// HugeBytes returns how much of the memory huge pages hold at the moment; ok is
// false where the system does not tell.
func (m *Memory) HugeBytes() (n int, ok bool) {
	smaps, err := os.ReadFile("/proc/self/smaps")
	if err != nil || len(m.Bytes) == 0 {
		return 0, false
	}
	start := uint64(uintptr(unsafe.Pointer(unsafe.SliceData(m.Bytes))))
	end := start + uint64(len(m.Bytes))
	inside := false
	for line := range bytes.Lines(smaps) {
		var from, to uint64
		if k, _ := fmt.Sscanf(string(line), "%x-%x ", &from, &to); k == 2 {
			inside = from < end && to > start
			continue
		}
		// "AnonHugePages:     61440 kB"
		if f := bytes.Fields(line); inside && len(f) == 3 && string(f[0]) == "AnonHugePages:" {
			kb, err := strconv.Atoi(string(f[1]))
			if err != nil {
				return 0, false
			}
			n, ok = n+kb<<10, true
		}
	}
	return n, ok
}

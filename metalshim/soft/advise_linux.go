package soft

import "golang.org/x/sys/unix"

// advise asks for large pages where they can help: reading weights is bound
// by memory.
func advise(b []byte) {
	if len(b) >= 4<<20 {
		unix.Madvise(b, unix.MADV_HUGEPAGE)
	}
}

package cpu

import "golang.org/x/sys/unix"

// adviseHuge asks for huge pages. A kernel without them says no, and then the
// memory is as good as any.
func adviseHuge(b []byte) {
	if len(b) > 0 {
		_ = unix.Madvise(b, unix.MADV_HUGEPAGE)
	}
}

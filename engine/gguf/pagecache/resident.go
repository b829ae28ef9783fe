package pagecache

import (
	"fmt"
	"math"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mapped maps the file for the time of do. Mapping touches no page.
func mapped(f *os.File, size int64, do func(b []byte) error) error {
	if size > math.MaxInt {
		return fmt.Errorf("%d bytes cannot be mapped by a 32-bit program", size)
	}
	b, err := unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("mmap: %w", err)
	}
	err = do(b)
	if e := unix.Munmap(b); err == nil && e != nil {
		err = fmt.Errorf("munmap: %w", e)
	}
	return err
}

// resident asks mincore(2), whose answer has a byte for each page, with bit 0
// set where the page is in memory.
func resident(f *os.File, size int64) (share float64, err error) {
	if err := answers(f); err != nil {
		return 0, err
	}
	err = mapped(f, size, func(b []byte) error {
		page := os.Getpagesize()
		pages := make([]byte, (len(b)+page-1)/page)
		_, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), uintptr(unsafe.Pointer(&pages[0])))
		if errno != 0 {
			return fmt.Errorf("mincore: %w", errno)
		}
		in := 0
		for _, p := range pages {
			in += int(p & 1)
		}
		share = float64(in) / float64(len(pages))
		return nil
	})
	return share, err
}

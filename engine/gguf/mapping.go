package gguf

import (
	"fmt"
	"math"
	"os"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mapping is a file mapped for reading.
type mapping struct {
	bytes []byte
	path  string
}

// mapped lists the live mappings, so that Fault can tell a fault in one of
// them, which is the file's fault, from any other, which is a bug.
var mapped struct {
	sync.Mutex
	all []*mapping
}

// mapFile maps size bytes of file. path is for messages.
func mapFile(file *os.File, path string, size int64) (*mapping, error) {
	if size > math.MaxInt {
		return nil, fmt.Errorf("%d bytes cannot be mapped by a 32-bit program", size)
	}
	b, err := unix.Mmap(int(file.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("cannot be mapped: %w; try --io buffered", err)
	}
	m := &mapping{bytes: b, path: path}
	mapped.Lock()
	mapped.all = append(mapped.all, m)
	mapped.Unlock()
	return m, nil
}

func (m *mapping) unmap() error {
	mapped.Lock()
	for i, o := range mapped.all {
		if o == m {
			mapped.all = append(mapped.all[:i], mapped.all[i+1:]...)
			break
		}
	}
	mapped.Unlock()
	b := m.bytes
	m.bytes = nil
	return unix.Munmap(b)
}

// findMapping returns the path of the mapped file and the offset in it that an
// address belongs to.
func findMapping(addr uintptr) (path string, offset uintptr, ok bool) {
	mapped.Lock()
	defer mapped.Unlock()
	for _, m := range mapped.all {
		start := uintptr(unsafe.Pointer(unsafe.SliceData(m.bytes)))
		// The last page is mapped whole.
		if end := start + uintptr(len(m.bytes)); addr >= start && addr < end {
			return m.path, addr - start, true
		}
	}
	return "", 0, false
}

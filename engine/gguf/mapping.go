package gguf

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
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
	mapped.all = slices.DeleteFunc(mapped.all, func(o *mapping) bool { return o == m })
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

// Fault runs f and returns its error. When f touches a page of a mapped file
// that is no longer there, because the file was truncated or its device fails,
// the processor's fault (SIGBUS) comes back as an error that names the file and
// the offset, instead of ending the process. Any other panic passes through.
//
// It covers the goroutine that calls it, and only that one: each worker that
// reads a mapping, in Go or in assembly, runs its loop inside a Fault of its
// own. The cost is that of a deferred call, so it belongs around a phase or a
// worker's life, not around a load. Assembly must keep a frame that the runtime
// can unwind: leave SP and the frame pointer alone except through the frame
// that the assembler sets up. Code in another language (cgo, purego) is not
// covered.
//
// f stops where it faulted: locks that it holds are released only by its own
// deferred calls, and what it wrote is half done.
func Fault(f func() error) (err error) {
	old := debug.SetPanicOnFault(true)
	defer debug.SetPanicOnFault(old)
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		if e, ok := r.(interface {
			runtime.Error
			Addr() uintptr
		}); ok {
			if path, offset, ok := findMapping(e.Addr()); ok {
				err = fmt.Errorf("gguf %s: the mapped file cannot be read at offset %d: it was truncated since it was opened, or its device fails", path, offset)
				return
			}
		}
		panic(r)
	}()
	return f()
}

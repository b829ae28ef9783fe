package gguf

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

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

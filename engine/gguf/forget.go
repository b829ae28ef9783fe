package gguf

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Forget tells the system that b is not read again soon, where b is a part of a mapped
// file: the pages that lie in it whole count no longer as this process's memory. They stay
// in the page cache, and b can be read as before. Of other memory it does nothing.
func Forget(b []byte) {
	if len(b) == 0 {
		return
	}
	address := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	if _, _, ok := findMapping(address); !ok {
		return
	}
	page := uintptr(os.Getpagesize())
	skip := -address & (page - 1)
	if whole := (uintptr(len(b)) - min(skip, uintptr(len(b)))) &^ (page - 1); whole > 0 {
		_ = unix.Madvise(b[skip:skip+whole], unix.MADV_DONTNEED) // advice: it may be declined
	}
}

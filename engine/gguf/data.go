package gguf

import (
	"fmt"
	"io"
	"unsafe"
)

// dataAlign is the alignment of tensor buffers that are read into memory: a
// cache line, as wide as the widest vector register.
const dataAlign = 64

// Data returns the bytes of tensor t of this file. With MMap they are a view of
// the mapping, read-only (a write faults) and valid until Close; read them
// inside Fault. Otherwise they are read into a fresh buffer. Either way they
// begin at an address that is a multiple of 8 at least, in practice of the
// file's Alignment, so that they may be viewed as numbers.
func (f *File) Data(t *Tensor) ([]byte, error) {
	switch {
	case f.data != nil:
		return f.data.bytes[t.Offset : t.Offset+t.Bytes : t.Offset+t.Bytes], nil
	case f.file == nil:
		return nil, fmt.Errorf("gguf %s: tensor %q: the file is closed", f.Path, t.Name)
	}
	b := make([]byte, t.Bytes+dataAlign-1)
	skip := -int(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) & (dataAlign - 1)
	b = b[skip:][:t.Bytes:t.Bytes]
	if n, err := f.file.ReadAt(b, t.Offset); err != nil {
		if err == io.EOF {
			err = fmt.Errorf("the file ends after %d of its %d bytes: it was truncated since it was opened", n, t.Bytes)
		}
		return nil, fmt.Errorf("gguf %s: tensor %q at offset %d: %w", f.Path, t.Name, t.Offset, err)
	}
	return b, nil
}

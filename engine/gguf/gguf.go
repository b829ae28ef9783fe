// Package gguf reads the header of GGUF files, versions 2 and 3, and hands out
// their tensors. Everything that a file claims (counts, lengths, dimensions,
// types, offsets, alignment) is checked before it is used, so that a damaged
// or hostile file ends in one error that says what is wrong and where.
//
// The format is specified in docs/gguf.md of github.com/ggml-org/ggml.
//
// With [MMap], the default, nothing is copied: metadata arrays are decoded when
// they are asked for, and tensors are views of the mapping. [Buffered] and
// [FileIO] read the same header with read(2), in blocks of 8 KiB or each number
// and string by itself; they exist so that what slow reading costs can be
// measured; and so do [Resident] and [Evict], since whether a file lies in the page
// cache makes the largest difference.
//
// A file that another process truncates while it is mapped makes reads of the
// lost pages fault. Code that reads a mapping runs inside [Fault].
package gguf

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"math"
	"os"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"github.com/introgen/introgen/engine/quant"
)

// dataAlign is the alignment of tensor buffers that are read into memory: a
// cache line, as wide as the widest vector register.
const dataAlign = 64

// IO is a way to read a file.
type IO string

const (
	MMap     IO = "mmap"     // map the file; read nothing that is not touched
	Buffered IO = "buffered" // read(2) in blocks of 8 KiB, tensors in one read each
	FileIO   IO = "file"     // read(2) for every number and string of the header
)

// ParseIO returns the reader of that name: mmap, buffered or file.
func ParseIO(s string) (IO, error) {
	switch reader := IO(s); reader {
	case MMap, Buffered, FileIO:
		return reader, nil
	}
	return "", fmt.Errorf("reader %q is not known; it is one of mmap, buffered and file", s)
}

// File is an open GGUF file. Its methods may be called by several goroutines
// at once, but not while Close runs.
type File struct {
	Path       string
	IO         IO
	Version    uint32   // 2 or 3
	Size       int64    // bytes of the file
	DataOffset int64    // where the tensor data begin
	Alignment  int64    // a power of two from 8 to 2^20
	Tensors    []Tensor // in the file's order, without those that are skipped

	// Skipped are the tensors that nothing can be read of: those with a dimension
	// of 0, which converters leave behind for buffers that were empty, and scalars
	// of no dimensions.
	Skipped []Tensor

	head  []byte   // the header: a part of the mapping, or a copy
	meta  [2]int   // where in head the metadata begin and end
	data  *mapping // the whole file, with MMap only
	file  *os.File // without MMap only
	keys  []entry  // in the file's order
	byKey map[string]int
	byTen map[string]int // index in Tensors, or of a skipped one -1 minus that in Skipped
	parts []*File        // the others of a split file
}

// Tensor is an entry of the tensor directory.
type Tensor struct {
	Name string
	Type quant.Type
	// Dims has 1 to 4 dimensions, none of them 0 unless the tensor is skipped, in
	// GGUF's order: Dims[0] is contiguous, so that a matrix has Dims[0] columns
	// and Dims[1] rows.
	Dims   []uint64
	Offset int64 // from the start of the file, or of the part that has it; a multiple of the alignment
	Bytes  int64

	part *File // that has it, where that is another one of a split file
}

// Open reads the header of the GGUF file at path: metadata and tensor
// directory, no tensor data. Errors name the file and, where there is one, the
// offset. What is not a regular file is refused without waiting for it.
func Open(path string, reader IO) (*File, error) {
	f, err := open(path, reader)
	if err != nil {
		return nil, fmt.Errorf("gguf %s: %w", path, err)
	}
	return f, nil
}

func open(path string, reader IO) (_ *File, err error) {
	if _, err := ParseIO(string(reader)); err != nil {
		return nil, err
	}
	file, err := openFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot open: %w", err)
	}
	f := &File{Path: path, IO: reader, file: file}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	if f.Size, err = regularSize(file); err != nil {
		return nil, err
	}
	c := &cursor{size: f.Size}
	if reader == MMap {
		if f.data, err = mapFile(file, path, f.Size); err != nil {
			return nil, err
		}
		// The mapping outlives its descriptor.
		f.file = nil
		if err := file.Close(); err != nil {
			return nil, err
		}
		c.b = f.data.bytes
	} else {
		c.reader = newReader(file, reader)
	}
	return f, Fault(func() error { return f.readHeader(c) })
}

// openFile opens a file for reading. Its error does not name the path, which the
// caller does.
func openFile(path string) (*os.File, error) {
	// O_NONBLOCK: opening a FIFO that nobody writes to must not wait.
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return file, err
}

// regularSize returns the size of a file that can be a GGUF file at all.
func regularSize(file *os.File) (int64, error) {
	st, err := file.Stat()
	switch {
	case err != nil:
		return 0, err
	case st.IsDir():
		return 0, errors.New("is a directory, not a GGUF file")
	case !st.Mode().IsRegular():
		return 0, fmt.Errorf("is %s, not a GGUF file", special(st.Mode()))
	case st.Size() == 0:
		return 0, errors.New("is empty")
	case st.Size() > math.MaxInt:
		return 0, fmt.Errorf("has %d bytes, more than a 32-bit program can address", st.Size())
	}
	return st.Size(), nil
}

// Close unmaps or closes the file; afterwards it has no metadata and no data.
// Tensor views, Values and the strings that they yield are not used any more.
func (f *File) Close() error {
	var errs []error
	f.keys, f.byKey, f.head, f.meta = nil, nil, nil, [2]int{}
	if f.data != nil {
		errs = append(errs, f.data.unmap())
		f.data = nil
	}
	if f.file != nil {
		errs = append(errs, f.file.Close())
		f.file = nil
	}
	for _, p := range f.parts {
		errs = append(errs, p.Close())
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("gguf %s: close: %w", f.Path, err)
	}
	return nil
}

// KeyCount returns the number of metadata keys.
func (f *File) KeyCount() int { return len(f.keys) }

// Keys yields the metadata in the file's order.
func (f *File) Keys() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		for i := range f.keys {
			if !yield(f.keys[i].key, f.value(i)) {
				return
			}
		}
	}
}

// Get returns the value of a metadata key and whether the file has it.
func (f *File) Get(key string) (Value, bool) {
	i, ok := f.byKey[key]
	if !ok {
		return Value{}, false
	}
	return f.value(i), true
}

// Tensor returns the tensor of that name and whether the file has it. A skipped
// one is not found.
func (f *File) Tensor(name string) (*Tensor, bool) {
	i, ok := f.byTen[name]
	if !ok || i < 0 {
		return nil, false
	}
	return &f.Tensors[i], true
}

// SkippedTensor returns the skipped tensor of that name and whether there is one.
func (f *File) SkippedTensor(name string) (*Tensor, bool) {
	i, ok := f.byTen[name]
	if !ok || i >= 0 {
		return nil, false
	}
	return &f.Skipped[-1-i], true
}

// Data returns the bytes of tensor t of this file. With MMap they are a view of
// the mapping, read-only (a write faults) and valid until Close; read them
// inside Fault. Otherwise they are read into a fresh buffer. Either way they
// begin at an address that is a multiple of 8 at least, in practice of the
// file's Alignment, so that they may be viewed as numbers.
func (f *File) Data(t *Tensor) ([]byte, error) {
	switch {
	case t.Bytes == 0:
		return nil, nil // it may lie behind the file's end
	case t.part != nil:
		own := *t
		own.part = nil
		return t.part.Data(&own)
	case f.data != nil:
		return f.data.bytes[t.Offset : t.Offset+t.Bytes : t.Offset+t.Bytes], nil
	case f.file == nil:
		return nil, fmt.Errorf("gguf %s: tensor %q: the file is closed", f.Path, t.Name)
	}
	b := make([]byte, t.Bytes+dataAlign-1)
	skip := -int(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) & (dataAlign - 1)
	b = b[skip:][:t.Bytes:t.Bytes]
	if n, err := f.file.ReadAt(b, t.Offset); err != nil {
		if errors.Is(err, io.EOF) {
			err = fmt.Errorf("the file ends after %d of its %d bytes: it was truncated since it was opened", n, t.Bytes)
		}
		return nil, fmt.Errorf("gguf %s: tensor %q at offset %d: %w", f.Path, t.Name, t.Offset, err)
	}
	return b, nil
}

// Map is the mapping itself, for a device that is to read the tensors where they
// lie, at their Offset, but for those of other parts (Tensor.Beside). It begins at a page boundary and goes on to the end of the
// file's last page, whose rest is zeros. It is read-only and valid until Close. A
// file that is not read with MMap has none: nil.
func (f *File) Map() []byte {
	if f.data == nil {
		return nil
	}
	page := os.Getpagesize()
	return unsafe.Slice(unsafe.SliceData(f.data.bytes), (len(f.data.bytes)+page-1)/page*page)
}

// special names what a file is that is neither regular nor a directory.
func special(m fs.FileMode) string {
	switch {
	case m&fs.ModeNamedPipe != 0:
		return "a FIFO"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeDevice != 0:
		return "a device"
	}
	return "not a regular file"
}

// CheckScales reads every tensor that can be decoded and returns an error that
// names the first whose numbers or block scales are not finite, and where. It
// takes as long as reading the whole file: it is for a file that is suspected,
// because a forward pass met such a number, or verified.
func (f *File) CheckScales() error {
	return Fault(func() error {
		for i := range f.Tensors {
			t := &f.Tensors[i]
			if !t.Type.CanDecode() {
				continue
			}
			data, err := f.Data(t)
			if err != nil {
				return err
			}
			if err := quant.CheckScales(t.Type, data); err != nil {
				return fmt.Errorf("gguf %s: tensor %q: %w", f.Path, t.Name, err)
			}
		}
		return nil
	})
}

// skipped says that nothing can be read of a tensor.
func (t *Tensor) skipped() bool { return len(t.Dims) == 0 || t.Elements() == 0 }

// Elements returns the number of elements of the tensor: 1 where it has no
// dimensions.
func (t *Tensor) Elements() int64 {
	n := int64(1)
	for _, d := range t.Dims {
		n *= int64(d) // checked when the file was opened
	}
	return n
}

// Shape writes the dimensions as "576x49152", contiguous one first, and
// "scalar" where there are none.
func (t *Tensor) Shape() string {
	if len(t.Dims) == 0 {
		return "scalar"
	}
	words := make([]string, len(t.Dims))
	for i, d := range t.Dims {
		words[i] = strconv.FormatUint(d, 10)
	}
	return strings.Join(words, "x")
}

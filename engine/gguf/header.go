package gguf

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"sort"
	"strconv"
	"unicode/utf8"

	"github.com/introgen/introgen/engine/quant"
)

// Limits of the format: docs/gguf.md and, for dimensions, GGML_MAX_DIMS.
const (
	maxKey       = 65535
	maxName      = 64
	maxDims      = 4
	maxNesting   = 4       // arrays in arrays; the specification sets no limit
	minAlignment = 8       // the specification: a multiple of 8
	maxAlignment = 1 << 20 // bounds the padding; the specification sets no limit
	defaultAlign = 32      // without general.alignment

	// maxFile bounds sizes and offsets so that sums of a few cannot overflow.
	maxFile = 1 << 60

	keyAlignment = "general.alignment"
	keyFileType  = "general.file_type"
)

// entry is a metadata key and where its value lies in the header. What it
// takes to make a Value is kept here, so that only using one reads the header.
type entry struct {
	key     string
	kind    Kind
	elem    Kind // of an array
	n       int  // elements of an array
	at      int  // offset of the value, behind its kind
	payload int  // behind the length of a string, behind the head of an array
	end     int
}

// readHeader reads all that stands before the tensor data.
func (f *File) readHeader(c *cursor) error {
	if err := f.readStart(c); err != nil {
		return err
	}
	tensors, err := c.count("tensor count", 8+1+4+4+8)
	if err != nil {
		return err
	}
	keys, err := c.count("metadata key count", 8+1+4+1)
	if err != nil {
		return err
	}
	f.meta[0] = c.p
	if err := f.readKeys(c, keys); err != nil {
		return err
	}
	f.meta[1] = c.p
	if f.Alignment, err = f.alignment(c); err != nil {
		return err
	}
	if err := f.readTensors(c, tensors); err != nil {
		return err
	}
	f.head = c.b[:c.p:c.p]
	return f.place(c.p)
}

// count reads a number of things that take at least size bytes each.
func (c *cursor) count(what string, size uint64) (int, error) {
	at := c.p
	n, err := c.u64(what)
	if err != nil {
		return 0, err
	}
	if n > c.left()/size {
		return 0, fmt.Errorf("%s at offset %d is %d, which the remaining %d bytes of the file cannot hold", what, at, n, c.left())
	}
	return int(n), nil
}

// readStart reads magic and version, and tells apart what is often mistaken
// for a GGUF file.
func (f *File) readStart(c *cursor) error {
	if err := c.need(4, "the magic number"); err != nil {
		return fmt.Errorf("is not a GGUF file: %w", err)
	}
	switch magic := string(c.b[:4]); magic {
	case "GGUF":
	case "FUGG":
		return errors.New("is a big-endian GGUF file; only little-endian ones are read")
	case "vers":
		return errors.New(`is not a GGUF file: it starts with "vers", as a Git LFS pointer does; fetch the file itself (git lfs pull)`)
	default:
		return fmt.Errorf("is not a GGUF file: it starts with %q instead of \"GGUF\"", magic)
	}
	c.p = 4
	v, err := c.u32("the version")
	if err != nil {
		return err
	}
	f.Version = v
	switch {
	case v == 2 || v == 3:
		return nil
	case v&0xffff == 0 && v != 0:
		return fmt.Errorf("is a big-endian GGUF file, version %d; only little-endian ones are read", bits.ReverseBytes32(v))
	}
	return fmt.Errorf("GGUF version %d is not supported; 2 and 3 are", v)
}

// readKeys reads n metadata keys and passes over their values.
func (f *File) readKeys(c *cursor, n int) error {
	f.keys = make([]entry, 0, n)
	f.byKey = make(map[string]int, n)
	for i := range n {
		at := c.p
		raw, err := c.str(maxKey, "the name of a metadata key")
		if err != nil {
			return fmt.Errorf("metadata key %d of %d: %w", i+1, n, err)
		}
		if len(raw) == 0 || !utf8.Valid(raw) {
			return fmt.Errorf("metadata key %d of %d at offset %d is %q; a key is UTF-8 and not empty", i+1, n, at, raw)
		}
		key := string(raw)
		if _, dup := f.byKey[key]; dup {
			return fmt.Errorf("metadata key %q appears twice, again at offset %d", key, at)
		}
		what := "metadata " + printable(key)
		kind, err := c.u32(what)
		if err != nil {
			return err
		}
		e := entry{key: key, kind: Kind(kind), at: c.p}
		if err := c.skipValue(e.kind, 0, what); err != nil {
			return err
		}
		e.end, e.payload = c.p, e.at
		switch e.kind {
		case KindString:
			e.payload += stringHead
		case KindArray:
			e.payload += arrayHead
			e.elem, e.n = arrayOf(c.b[e.at:])
		}
		f.byKey[key] = len(f.keys)
		f.keys = append(f.keys, e)
	}
	return nil
}

// printableBytes is how much of a key a message shows. Keys may have 64 KiB,
// and a damaged file has keys that are anything.
const printableBytes = 80

// printable returns a key as it is, or quoted when a terminal should not get it,
// and cut where it is long.
func printable(key string) string {
	if len(key) > printableBytes {
		return fmt.Sprintf("%q… (%d bytes)", key[:printableBytes], len(key))
	}
	for i := range len(key) {
		if key[i] <= ' ' || key[i] > '~' {
			return strconv.Quote(key)
		}
	}
	return key
}

// skipValue passes over a value of kind k and checks that it is well formed.
// depth counts the arrays around it.
func (c *cursor) skipValue(k Kind, depth int, what string) error {
	switch k {
	case KindString:
		_, err := c.str(noLimit, what)
		return err
	case KindArray:
		return c.skipArray(depth, what)
	}
	size := k.size()
	if size == 0 {
		return fmt.Errorf("%s at offset %d has the unknown value type %d; 0 to 12 are known", what, c.p, uint32(k))
	}
	if err := c.skip(size, what); err != nil {
		return err
	}
	if k == KindBool && c.b[c.p-1] > 1 {
		return fmt.Errorf("%s at offset %d is the bool %d; 0 and 1 are allowed", what, c.p-1, c.b[c.p-1])
	}
	return nil
}

func (c *cursor) skipArray(depth int, what string) error {
	at := c.p
	if depth == maxNesting {
		return fmt.Errorf("%s at offset %d: arrays are nested more than %d deep", what, at, maxNesting)
	}
	elem, err := c.u32(what)
	if err != nil {
		return err
	}
	n, err := c.u64(what)
	if err != nil {
		return err
	}
	k := Kind(elem)
	if k > KindFloat64 {
		return fmt.Errorf("%s at offset %d is an array of the unknown value type %d; 0 to 12 are known", what, at, elem)
	}
	if n > c.left()/k.least() {
		return fmt.Errorf("%s at offset %d is an array of %d, which the remaining %d bytes of the file cannot hold", what, at, n, c.left())
	}
	switch {
	case k == KindString:
		return c.skipStrings(n, what)
	case k == KindArray:
		for range n {
			if err := c.skipArray(depth+1, what); err != nil {
				return err
			}
		}
		return nil
	case k != KindBool && c.reader == nil || n == 0:
		return c.skip(n*k.size(), what)
	}
	// Number by number, as a reader that builds a list of values does. Of bools each
	// is looked at: what is neither 0 nor 1 has no meaning.
	for range n {
		if err := c.skipValue(k, depth, what); err != nil {
			return err
		}
	}
	return nil
}

// alignment returns general.alignment, or what holds without it.
func (f *File) alignment(c *cursor) (int64, error) {
	i, ok := f.byKey[keyAlignment]
	if !ok {
		return defaultAlign, nil
	}
	e := f.keys[i]
	if e.kind != KindUint32 {
		return 0, fmt.Errorf("metadata general.alignment is %v; it must be U32", e.kind)
	}
	a := uint64(word(c.b[e.at:e.end]))
	if a < minAlignment || a > maxAlignment || a&(a-1) != 0 {
		return 0, fmt.Errorf("metadata general.alignment is %d; it must be a power of two from %d to %d", a, minAlignment, maxAlignment)
	}
	return int64(a), nil
}

// readTensors reads the directory of n tensors; offsets stay relative to the
// data until place.
func (f *File) readTensors(c *cursor, n int) error {
	f.Tensors = make([]Tensor, 0, n)
	f.byTen = make(map[string]int, n)
	dims := make([]uint64, 0, 2*n) // most tensors are matrices
	for i := range n {
		at := c.p
		raw, err := c.str(maxName, "the name of a tensor")
		if err != nil {
			return fmt.Errorf("tensor %d of %d: %w", i+1, n, err)
		}
		if len(raw) == 0 || !utf8.Valid(raw) {
			return fmt.Errorf("tensor %d of %d at offset %d is named %q; a name is UTF-8 and not empty", i+1, n, at, raw)
		}
		t := Tensor{Name: string(raw)}
		if _, dup := f.byTen[t.Name]; dup {
			return fmt.Errorf("tensor %q appears twice, again at offset %d", t.Name, at)
		}
		if dims, err = c.tensor(&t, dims); err != nil {
			return fmt.Errorf("tensor %q at offset %d: %w", t.Name, at, err)
		}
		if t.skipped() {
			f.Skipped = append(f.Skipped, t)
			f.byTen[t.Name] = -len(f.Skipped)
			continue
		}
		f.byTen[t.Name] = len(f.Tensors)
		f.Tensors = append(f.Tensors, t)
	}
	return nil
}

// tensor reads what follows a tensor's name. The dimensions are appended to
// dims, of which t.Dims becomes a part.
func (c *cursor) tensor(t *Tensor, dims []uint64) ([]uint64, error) {
	n, err := c.u32("the number of dimensions")
	if err != nil {
		return nil, err
	}
	if n > maxDims {
		return nil, fmt.Errorf("has %d dimensions; at most %d are allowed", n, maxDims)
	}
	first := len(dims)
	for range n {
		d, err := c.u64("a dimension")
		if err != nil {
			return nil, err
		}
		dims = append(dims, d)
	}
	t.Dims = dims[first:len(dims):len(dims)]
	typ, err := c.u32("the tensor type")
	if err != nil {
		return nil, err
	}
	t.Type = quant.Type(typ)
	offset, err := c.u64("the data offset")
	if err != nil {
		return nil, err
	}
	if err := t.measure(); err != nil {
		return nil, err
	}
	if t.Bytes > c.size || offset > uint64(c.size) {
		return nil, fmt.Errorf("its %d bytes at data offset %d do not fit in the file of %d bytes", t.Bytes, offset, c.size)
	}
	t.Offset = int64(offset)
	return dims, nil
}

// measure checks dimensions and type, and works out Bytes.
func (t *Tensor) measure() error {
	if n := len(t.Dims); n > maxDims {
		return fmt.Errorf("has %d dimensions; at most %d are allowed", n, maxDims)
	}
	elems, row := uint64(1), uint64(1)
	if len(t.Dims) > 0 {
		row = t.Dims[0]
	}
	for _, d := range t.Dims {
		hi, lo := bits.Mul64(elems, d)
		if hi != 0 || lo > math.MaxInt64 || d > math.MaxInt64 {
			return fmt.Errorf("has the dimensions %v: their product overflows", t.Dims)
		}
		elems = lo
	}
	if !t.Type.Known() {
		return fmt.Errorf("has the unknown tensor type %d", uint32(t.Type))
	}
	per, size := t.Type.Block()
	if row%uint64(per) != 0 {
		return fmt.Errorf("has rows of %d elements, which do not fill whole %v blocks of %d", row, t.Type, per)
	}
	hi, lo := bits.Mul64(elems/uint64(per), uint64(size))
	if hi != 0 || lo > maxFile {
		return fmt.Errorf("has the dimensions %v of %v: their size in bytes overflows", t.Dims, t.Type)
	}
	t.Bytes = int64(lo)
	return nil
}

// alignUp returns the smallest multiple of align, a power of two, that is not
// below n.
func alignUp(n, align int64) int64 { return (n + align - 1) &^ (align - 1) }

// place turns the tensors' offsets into offsets in the file, and checks that
// the tensors lie aligned, inside the file and apart from each other. headEnd
// is where the directory ends. Tensors without elements lie nowhere.
func (f *File) place(headEnd int) error {
	f.DataOffset = alignUp(int64(headEnd), f.Alignment)
	order := make([]*Tensor, 0, len(f.Tensors)+len(f.Skipped))
	sorted := true
	for _, list := range [][]Tensor{f.Tensors, f.Skipped} {
		for i := range list {
			t := &list[i]
			if t.Offset&(f.Alignment-1) != 0 {
				return fmt.Errorf("tensor %q: data offset %d is not a multiple of the alignment %d", t.Name, t.Offset, f.Alignment)
			}
			t.Offset += f.DataOffset
			if t.Bytes == 0 {
				continue
			}
			if t.Offset > f.Size-t.Bytes {
				return fmt.Errorf("tensor %q: its %d bytes at offset %d end behind the file of %d bytes; the file is truncated or damaged", t.Name, t.Bytes, t.Offset, f.Size)
			}
			sorted = sorted && (len(order) == 0 || order[len(order)-1].Offset <= t.Offset)
			order = append(order, t)
		}
	}
	if !sorted {
		sort.Slice(order, func(i, j int) bool { return order[i].Offset < order[j].Offset })
	}
	for i := 1; i < len(order); i++ {
		a, b := order[i-1], order[i]
		if a.Offset+a.Bytes > b.Offset {
			return fmt.Errorf("tensors %q and %q overlap: bytes %d to %d, and from %d on", a.Name, b.Name, a.Offset, a.Offset+a.Bytes, b.Offset)
		}
	}
	end, of := f.DataOffset, ""
	if len(order) > 0 {
		last := order[len(order)-1]
		end, of = last.Offset+last.Bytes, fmt.Sprintf(" with tensor %q", last.Name)
	}
	// Writers may pad the last tensor like all others; more is another file's.
	if rest := f.Size - end; rest > f.Alignment {
		return fmt.Errorf("%d bytes follow the tensor data, which end%s at offset %d: the file is oversized, as if another one had been written behind it", rest, of, end)
	}
	return nil
}

// Metadata returns the metadata section as it stands in the file, from the
// first key to the end of the last value. With MMap it is a view of the
// mapping.
func (f *File) Metadata() []byte { return f.head[f.meta[0]:f.meta[1]:f.meta[1]] }

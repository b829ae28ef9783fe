package gguf

import (
	"bytes"
	"encoding/binary"
	"io"
	"runtime/metrics"
	"slices"
	"testing"

	"github.com/introgen/introgen/engine/gguf/gguftest"
)

// FuzzHeader: any bytes end in an error or in a file whose every value and
// tensor can be read, whether they are mapped or read, within the memory
// allowed; and writing the file again gives one with the same contents.
// Fuzz it with -fuzzminimizetime 0x: minimizing takes most of the time else.
func FuzzHeader(f *testing.F) {
	le := binary.LittleEndian
	for _, file := range []gguftest.File{
		{},
		{Order: binary.BigEndian},
		{Version: 2, KV: []gguftest.KV{
			{Key: "u8", Value: uint8(200)}, {Key: "i16", Value: int16(-3)}, {Key: "f32", Value: float32(1)},
			{Key: "b", Value: true}, {Key: "s", Value: "text"}, {Key: "u64", Value: uint64(1)}, {Key: "f64", Value: 0.5},
		}},
		{KV: []gguftest.KV{
			{Key: "strings", Value: []string{"a", "", "ccc"}}, {Key: "ints", Value: []int32{1, 2}},
			{Key: "floats", Value: []float32{1}}, {Key: "none", Value: gguftest.Array{Elem: 12}},
			{Key: "nested", Value: []gguftest.Array{{Elem: 8, Count: 1, Items: []any{"x"}}, {Elem: 4}}},
		}},
		{Align: 64, KV: []gguftest.KV{
			{Key: "general.alignment", Value: uint32(64)}, {Key: "general.file_type", Value: uint32(3)},
		}, Tensors: []gguftest.Tensor{
			{Name: "a", Dims: []uint64{2, 3}, Data: make([]byte, 24)},
			{Name: "b", Type: 8, Dims: []uint64{32}, Data: make([]byte, 34)},
			{Name: "c", Type: 1, Dims: []uint64{1, 1, 2, 1}, Data: make([]byte, 4)},
		}},
		{KV: []gguftest.KV{{Key: "split.no", Value: uint16(1)}, {Key: "split.count", Value: uint16(2)}}, Tensors: []gguftest.Tensor{
			{Name: "none", Dims: []uint64{4, 0}},
			{Name: "one", Data: make([]byte, 4)},
		}},
	} {
		b, err := file.Bytes()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
		f.Add(b[:len(b)/2])
		if len(b) > 40 { // a length that is far too large
			long := bytes.Clone(b)
			le.PutUint64(long[24:], 1<<62)
			f.Add(long)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		before := heapAllocs()
		file, err := parse(b, nil)
		_, readErr := parse(nil, bytes.NewReader(b))
		if (err == nil) != (readErr == nil) {
			t.Fatalf("mapped: %v; read: %v", err, readErr)
		}
		if err == nil {
			visit(file)
			rewritten(t, file)
		}
		if n := heapAllocs() - before; n > 64<<20 {
			t.Errorf("%d MiB allocated for %d bytes", n>>20, len(b))
		}
	})
}

// parse reads a header from memory, as Open reads it from a file.
func parse(b []byte, r *bytes.Reader) (*File, error) {
	f := &File{Path: "fuzz", data: &mapping{bytes: b}}
	c := &cursor{b: b}
	f.Size = int64(len(b))
	if r != nil {
		c.reader, f.Size = r, r.Size()
	}
	c.size = f.Size
	return f, f.readHeader(c)
}

// heapAllocs returns the bytes allocated so far.
func heapAllocs() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// visit reads all that a file has.
func visit(f *File) {
	for key, v := range f.Keys() {
		f.Uint32(key)
		f.Float32(key)
		f.Bool(key)
		f.String(key)
		_ = v.String()
		v.Int32s()
		v.Float32s()
		for _, s := range v.Strings() {
			_ = len(s)
		}
		for range v.Elems() {
		}
	}
	f.Part()
	for i := range f.Skipped {
		f.Data(&f.Skipped[i])
	}
}

// rewritten writes f again and holds the copy against it.
func rewritten(t *testing.T, f *File) {
	var b bytes.Buffer
	all := slices.Concat(f.Tensors, f.Skipped)
	w, err := NewWriter(&b, f, 7, all)
	if err != nil {
		t.Fatal(err)
	}
	for i := range all {
		data, err := f.Data(&all[i])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(w, bytes.NewReader(data)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	out, err := parse(b.Bytes(), nil)
	if err != nil {
		t.Fatalf("what was written is refused: %v", err)
	}
	if n, ok, err := out.Uint32(keyFileType); n != 7 || !ok || err != nil {
		t.Errorf("file type %d, %v, %v", n, ok, err)
	}
	if len(out.Tensors) != len(f.Tensors) || len(out.Skipped) != len(f.Skipped) || out.KeyCount() < f.KeyCount() {
		t.Fatalf("%d tensors of %d, %d keys of %d", len(out.Tensors), len(f.Tensors), out.KeyCount(), f.KeyCount())
	}
	for i := range f.Tensors {
		got, err1 := out.Data(&out.Tensors[i])
		want, err2 := f.Data(&f.Tensors[i])
		if err1 != nil || err2 != nil || !bytes.Equal(got, want) {
			t.Errorf("tensor %q differs: %v, %v", f.Tensors[i].Name, err1, err2)
		}
	}
}

// Package gguftest builds small GGUF files for tests. It shares no code with
// the reader: it is written from the specification (docs/gguf.md of
// github.com/ggml-org/ggml), and it writes what it is told to, wrong or not.
package gguftest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// File is a GGUF file to be built. The zero value is an empty file of version 3.
type File struct {
	Magic   string // "GGUF" when empty
	Version uint32 // 3 when 0
	KV      []KV
	Tensors []Tensor
	Align   int // of tensor data, 32 when 0; general.alignment is not added

	// Order is the byte order, little-endian when nil.
	Order binary.ByteOrder
	// TensorCount and KeyCount are stated instead of the true counts.
	TensorCount, KeyCount *uint64
}

// KV is a metadata key and its value: a number type of Go, bool, string, Array,
// or a slice of one of uint8, int32, uint32, float32, string or Array; Raw is
// written as it is, in place of type and value.
type KV struct {
	Key   string
	Value any
}

// Array is an array whose element type is stated: an array in an array, or an
// empty one.
type Array struct {
	Elem  uint32
	Count uint64 // stated; the elements are those of Items
	Items []any
}

// Raw stands for the bytes of a value, its type included.
type Raw []byte

// Tensor is a tensor. Offset is worked out unless it is given.
type Tensor struct {
	Name   string
	Type   uint32
	Dims   []uint64
	Data   []byte
	Offset *uint64 // from the start of the data
}

// Write writes the file into a folder of the test's and returns its path.
func (f File) Write(t testing.TB) string {
	t.Helper()
	b, err := f.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return WriteBytes(t, b)
}

// WriteBytes writes b as a file into a folder of the test's and returns its
// path.
func WriteBytes(t testing.TB, b []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "model.gguf")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Bytes returns the file, padded at its end. The error names a value of a type
// that it cannot write.
func (f File) Bytes() ([]byte, error) {
	w := writer{order: f.Order}
	if w.order == nil {
		w.order = binary.LittleEndian
	}
	w.WriteString(or(f.Magic, "GGUF"))
	w.num(or(f.Version, 3))
	w.num(count(f.TensorCount, len(f.Tensors)))
	w.num(count(f.KeyCount, len(f.KV)))
	for _, kv := range f.KV {
		w.str(kv.Key)
		if err := w.typed(kv.Value); err != nil {
			return nil, fmt.Errorf("key %s: %w", kv.Key, err)
		}
	}
	align := or(f.Align, 32)
	var data []byte
	for _, t := range f.Tensors {
		offset := uint64(len(data))
		data = pad(append(data, t.Data...), align)
		if t.Offset != nil {
			offset = *t.Offset
		}
		w.str(t.Name)
		w.num(uint32(len(t.Dims)))
		for _, d := range t.Dims {
			w.num(d)
		}
		w.num(t.Type)
		w.num(offset)
	}
	return append(pad(w.Bytes(), align), data...), nil
}

func or[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}

func count(stated *uint64, n int) uint64 {
	if stated != nil {
		return *stated
	}
	return uint64(n)
}

func pad(b []byte, align int) []byte {
	for len(b)%align != 0 {
		b = append(b, 0)
	}
	return b
}

// F32 returns the bytes of little-endian numbers, for a tensor of type 0.
func F32(v ...float32) []byte {
	var b []byte
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

type writer struct {
	bytes.Buffer
	order binary.ByteOrder
}

func (w *writer) num(v any) { _ = binary.Write(w, w.order, v) } // a Buffer takes all

func (w *writer) str(s string) {
	w.num(uint64(len(s)))
	w.WriteString(s)
}

// kindOf returns gguf_metadata_value_type for a value that is not a slice.
func kindOf(v any) (uint32, bool) {
	switch v.(type) {
	case uint8:
		return 0, true
	case int8:
		return 1, true
	case uint16:
		return 2, true
	case int16:
		return 3, true
	case uint32:
		return 4, true
	case int32:
		return 5, true
	case float32:
		return 6, true
	case bool:
		return 7, true
	case string:
		return 8, true
	case Array:
		return 9, true
	case uint64:
		return 10, true
	case int64:
		return 11, true
	case float64:
		return 12, true
	}
	return 0, false
}

// typed writes a value's type and the value.
func (w *writer) typed(v any) error {
	switch v := v.(type) {
	case Raw:
		w.Write(v)
		return nil
	case []uint8:
		return w.typed(array(v))
	case []int32:
		return w.typed(array(v))
	case []uint32:
		return w.typed(array(v))
	case []float32:
		return w.typed(array(v))
	case []string:
		return w.typed(array(v))
	case []Array:
		return w.typed(array(v))
	}
	k, ok := kindOf(v)
	if !ok {
		return fmt.Errorf("a value of Go type %T has no GGUF type", v)
	}
	w.num(k)
	return w.value(v)
}

func array[T any](s []T) Array {
	var zero T
	k, _ := kindOf(zero)
	a := Array{Elem: k, Count: uint64(len(s))}
	for _, v := range s {
		a.Items = append(a.Items, v)
	}
	return a
}

func (w *writer) value(v any) error {
	switch v := v.(type) {
	case string:
		w.str(v)
	case Array:
		w.num(v.Elem)
		w.num(v.Count)
		for _, item := range v.Items {
			if err := w.value(item); err != nil {
				return err
			}
		}
	default:
		if _, ok := kindOf(v); !ok {
			return fmt.Errorf("a value of Go type %T has no GGUF type", v)
		}
		w.num(v)
	}
	return nil
}

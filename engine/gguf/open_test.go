package gguf_test

import (
	"fmt"
	"math"
	"os"
	"reflect"
	"testing"
	"unsafe"

	"github.com/introgen/introgen/engine/gguf"
	"github.com/introgen/introgen/engine/gguf/gguftest"
	"github.com/introgen/introgen/engine/quant"
	"github.com/introgen/introgen/models"
	"github.com/introgen/introgen/models/modeltest"
)

var readers = []gguf.IO{gguf.MMap, gguf.Buffered, gguf.FileIO}

// sample has a value of every kind, and tensors whose directory order is not
// that of their data.
func sample(version uint32) gguftest.File {
	at := func(n uint64) *uint64 { return &n }
	q8 := make([]byte, 34*4)
	for i := range q8 {
		q8[i] = byte(i)
	}
	return gguftest.File{
		Version: version,
		KV: []gguftest.KV{
			{Key: "u8", Value: uint8(200)}, {Key: "i8", Value: int8(-3)},
			{Key: "u16", Value: uint16(60000)}, {Key: "i16", Value: int16(-30000)},
			{Key: "u32", Value: uint32(4e9)}, {Key: "i32", Value: int32(-2e9)},
			{Key: "f32", Value: float32(0.1)}, {Key: "bool", Value: true},
			{Key: "string", Value: "läuft\x00"}, {Key: "empty", Value: ""},
			{Key: "u64", Value: uint64(math.MaxUint64)}, {Key: "i64", Value: int64(math.MinInt64)},
			{Key: "f64", Value: 0.1},
			{Key: "strings", Value: []string{"a", "", "ccc", "\xff"}},
			{Key: "int32s", Value: []int32{1, -1, math.MaxInt32}},
			{Key: "float32s", Value: []float32{0.5, -2}},
			{Key: "bytes", Value: []uint8{7, 8, 9}},
			{Key: "none", Value: gguftest.Array{Elem: 12}},
			{Key: "nested", Value: []gguftest.Array{
				{Elem: 8, Count: 2, Items: []any{"x", "yy"}},
				{Elem: 4, Count: 1, Items: []any{uint32(5)}},
			}},
			{Key: "last", Value: uint32(42)},
		},
		Tensors: []gguftest.Tensor{
			{Name: "norm", Type: 0, Dims: []uint64{3}, Data: gguftest.F32(1, -2, 3), Offset: at(160)},
			{Name: "weight", Type: 8, Dims: []uint64{64, 2}, Data: q8, Offset: at(0)},
			{Name: "cube", Type: 1, Dims: []uint64{2, 1, 2, 1}, Data: make([]byte, 8), Offset: at(192)},
		},
	}
}

// reordered returns the sample's bytes with the data put where the offsets say.
func reordered(t testing.TB, f gguftest.File) []byte {
	t.Helper()
	b, err := f.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	// The builder lays data out in directory order: 32, 160, 32 bytes.
	head := len(b) - (32 + 160 + 32)
	norm, weight, cube := b[head:head+32], b[head+32:head+192], b[head+192:]
	out := append([]byte(nil), b[:head]...)
	return append(append(append(out, weight...), norm...), cube...)
}

func TestOpen(t *testing.T) {
	for _, version := range []uint32{2, 3} {
		for _, io := range readers {
			t.Run(fmt.Sprintf("v%d/%s", version, io), func(t *testing.T) {
				raw := reordered(t, sample(version))
				f, err := gguf.Open(gguftest.WriteBytes(t, raw), io)
				if err != nil {
					t.Fatal(err)
				}
				defer f.Close()
				if f.Version != version || f.Size != int64(len(raw)) || f.Alignment != 32 ||
					f.DataOffset != int64(len(raw)-224) || f.IO != io {
					t.Errorf("version %d, size %d, alignment %d, data at %d, reader %s", f.Version, f.Size, f.Alignment, f.DataOffset, f.IO)
				}
				checkMetadata(t, f)
				checkTensors(t, f, raw)
			})
		}
	}
}

func checkMetadata(t *testing.T, f *gguf.File) {
	want := sample(f.Version).KV
	if f.KeyCount() != len(want) {
		t.Fatalf("%d keys, want %d", f.KeyCount(), len(want))
	}
	i := 0
	for key, v := range f.Keys() {
		if key != want[i].Key {
			t.Errorf("key %d is %q, want %q", i, key, want[i].Key)
		}
		checkValue(t, key, v, want[i].Value)
		got, ok := f.Get(key)
		if !ok || !reflect.DeepEqual(got, v) {
			t.Errorf("Get(%q) is not what Keys yields", key)
		}
		i++
	}
	if _, ok := f.Get("missing"); ok {
		t.Error("Get finds a key that is not there")
	}
}

// checkValue compares v with the Go value that the file was built from.
func checkValue(t *testing.T, key string, v gguf.Value, want any) {
	t.Helper()
	var got any
	switch w := want.(type) {
	case uint8, uint16, uint32, uint64:
		got, _ = v.Uint64()
		want = reflect.ValueOf(w).Uint()
	case int8, int16, int32, int64:
		got, _ = v.Int64()
		want = reflect.ValueOf(w).Int()
	case float32:
		got, _ = v.Float64()
		want = float64(w)
	case float64:
		got, _ = v.Float64()
	case bool:
		got, _ = v.Bool()
	case string:
		got, _ = v.Str()
	case []string:
		var s []string
		for i, x := range v.Strings() {
			if i != len(s) {
				t.Errorf("%s: index %d in place %d", key, i, len(s))
			}
			s = append(s, x)
		}
		got = s
	case []int32:
		got, _ = v.Int32s()
	case []float32:
		got, _ = v.Float32s()
	case []uint8:
		checkElems(t, key, v, len(w), func(i int) any { return w[i] })
		return
	case gguftest.Array:
		checkElems(t, key, v, len(w.Items), func(i int) any { return w.Items[i] })
		return
	case []gguftest.Array:
		checkElems(t, key, v, len(w), func(i int) any { return w[i] })
		return
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s = %v (%T), want %v (%T)", key, got, got, want, want)
	}
}

func checkElems(t *testing.T, key string, v gguf.Value, n int, want func(int) any) {
	t.Helper()
	if v.Len() != n {
		t.Errorf("%s has %d elements, want %d", key, v.Len(), n)
	}
	seen := 0
	for i, e := range v.Elems() {
		checkValue(t, fmt.Sprintf("%s[%d]", key, i), e, want(i))
		seen++
	}
	if seen != n {
		t.Errorf("%s yields %d elements, want %d", key, seen, n)
	}
}

func checkTensors(t *testing.T, f *gguf.File, raw []byte) {
	want := []gguf.Tensor{
		{Name: "norm", Type: quant.F32, Dims: []uint64{3}, Offset: f.DataOffset + 160, Bytes: 12},
		{Name: "weight", Type: quant.Q8_0, Dims: []uint64{64, 2}, Offset: f.DataOffset, Bytes: 136},
		{Name: "cube", Type: quant.F16, Dims: []uint64{2, 1, 2, 1}, Offset: f.DataOffset + 192, Bytes: 8},
	}
	if !reflect.DeepEqual(f.Tensors, want) {
		t.Fatalf("tensors %v, want %v", f.Tensors, want)
	}
	for i, elems := range []int64{3, 128, 4} {
		x := &f.Tensors[i]
		if found, ok := f.Tensor(x.Name); !ok || found != x {
			t.Errorf("Tensor(%q) is not the entry of that name", x.Name)
		}
		if x.Elements() != elems {
			t.Errorf("%s has %d elements, want %d", x.Name, x.Elements(), elems)
		}
		data, err := f.Data(x)
		if err != nil {
			t.Fatal(err)
		}
		if string(data) != string(raw[x.Offset:x.Offset+x.Bytes]) {
			t.Errorf("%s: wrong data", x.Name)
		}
		if addr := uintptr(unsafe.Pointer(&data[0])); addr%32 != 0 {
			t.Errorf("%s: data begin at %#x, which is not aligned to 32", x.Name, addr)
		}
	}
	if f.Tensors[2].Shape() != "2x1x2x1" {
		t.Errorf("shape %q", f.Tensors[2].Shape())
	}
	if _, ok := f.Tensor("missing"); ok {
		t.Error("Tensor finds what is not there")
	}
}

// TestGetters: a value of the right kind, a key that is absent, and values that
// do not fit.
func TestGetters(t *testing.T) {
	f, err := gguf.Open(gguftest.WriteBytes(t, reordered(t, sample(3))), gguf.MMap)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	get := map[string]func(string) (any, bool, error){
		"Uint32":  func(k string) (any, bool, error) { v, ok, err := f.Uint32(k); return v, ok, err },
		"Float32": func(k string) (any, bool, error) { v, ok, err := f.Float32(k); return v, ok, err },
		"String":  func(k string) (any, bool, error) { v, ok, err := f.String(k); return v, ok, err },
		"Bool":    func(k string) (any, bool, error) { v, ok, err := f.Bool(k); return v, ok, err },
	}
	for _, c := range []struct {
		fn, key string
		want    any
		err     string
	}{
		{"Uint32", "u32", uint32(4e9), ""}, {"Uint32", "u8", uint32(200), ""},
		{"Uint32", "u64", nil, "metadata u64 is U64; it must be an integer from 0 to 4294967295"},
		{"Uint32", "i32", nil, "metadata i32 is I32"}, {"Uint32", "string", nil, "metadata string is String"},
		{"Float32", "f32", float32(0.1), ""}, {"Float32", "f64", float32(0.1), ""},
		{"Float32", "u32", nil, "it must be F32 or F64"},
		{"String", "string", "läuft\x00", ""}, {"String", "empty", "", ""}, {"String", "strings", nil, "is Array; it must be a string"},
		{"Bool", "bool", true, ""}, {"Bool", "u8", nil, "is U8; it must be a bool"},
	} {
		v, ok, err := get[c.fn](c.key)
		if !ok || !says(err, c.err) || c.err == "" && v != c.want {
			t.Errorf("%s(%s) = %v, %v, %v; want %v and %q", c.fn, c.key, v, ok, err, c.want, c.err)
		}
		if c.err != "" && !says(err, f.Path) {
			t.Errorf("error %v does not name the file", err)
		}
	}
	for name, fn := range get {
		if _, ok, err := fn("missing"); ok || err != nil {
			t.Errorf("%s of a missing key: %v, %v", name, ok, err)
		}
	}
}

// TestAlignment: general.alignment moves the data.
func TestAlignment(t *testing.T) {
	file := gguftest.File{
		Align: 4096,
		KV:    []gguftest.KV{{Key: "general.alignment", Value: uint32(4096)}},
		Tensors: []gguftest.Tensor{
			{Name: "a", Dims: []uint64{1}, Data: gguftest.F32(1)},
			{Name: "b", Dims: []uint64{1}, Data: gguftest.F32(2)},
		},
	}
	f, err := gguf.Open(file.Write(t), gguf.MMap)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.Alignment != 4096 || f.DataOffset != 4096 || f.Tensors[1].Offset != 8192 {
		t.Errorf("alignment %d, data at %d, second tensor at %d", f.Alignment, f.DataOffset, f.Tensors[1].Offset)
	}
}

// TestCheckScales: the first tensor with a bad scale is named; a type that
// cannot be decoded is passed over.
func TestCheckScales(t *testing.T) {
	bad := make([]byte, 3*34)
	bad[2*34], bad[2*34+1] = 1, 0x7e // NaN in binary16, of block 2
	file := tensors(f32("fine", 0),
		gguftest.Tensor{Name: "counts", Type: 26, Dims: []uint64{1}, Data: []byte{255, 255, 255, 255}},
		gguftest.Tensor{Name: "damaged", Type: 8, Dims: []uint64{96}, Data: bad})
	for _, io := range readers {
		f, err := gguf.Open(file.Write(t), io)
		if err != nil {
			t.Fatal(err)
		}
		want := `tensor "damaged": the scale or minimum of Q8_0 block 2 (byte 68 of the tensor) is not a finite number`
		if err := f.CheckScales(); !says(err, want) || !says(err, f.Path) {
			t.Errorf("%s: error %v, want %q", io, err, want)
		}
		f.Close()
	}
	f, err := gguf.Open(tensors(f32("fine", 0)).Write(t), gguf.MMap)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.CheckScales(); err != nil {
		t.Errorf("a sound file: %v", err)
	}
}

// TestNoTensors: a file that has only a vocabulary is a GGUF file.
func TestNoTensors(t *testing.T) {
	b, err := gguftest.File{KV: []gguftest.KV{{Key: "a", Value: uint8(1)}}}.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	for _, io := range readers {
		f, err := gguf.Open(gguftest.WriteBytes(t, b[:24+8+1+4+1]), io) // without padding
		if err != nil {
			t.Fatalf("%s: %v", io, err)
		}
		if len(f.Tensors) != 0 || f.KeyCount() != 1 {
			t.Errorf("%s: %d tensors, %d keys", io, len(f.Tensors), f.KeyCount())
		}
		f.Close()
	}
}

// TestClosed: a closed file has nothing, and does not crash.
func TestClosed(t *testing.T) {
	for _, io := range readers {
		f, err := gguf.Open(gguftest.WriteBytes(t, reordered(t, sample(3))), io)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Errorf("%s: closed twice: %v", io, err)
		}
		if _, ok := f.Get("u8"); ok || f.KeyCount() != 0 || len(f.Metadata()) != 0 {
			t.Errorf("%s: a closed file has metadata", io)
		}
		if _, err := f.Data(&f.Tensors[0]); !says(err, "is closed") {
			t.Errorf("%s: data of a closed file: %v", io, err)
		}
	}
}

// TestStandIn: the facts are those that the PyPI package gguf reports of the
// file.
func TestStandIn(t *testing.T) {
	path := modeltest.Path(t, models.StandIn)
	for _, io := range readers {
		f, err := gguf.Open(path, io)
		if err != nil {
			t.Fatal(err)
		}
		if f.Version != 3 || f.Size != 144811072 || f.DataOffset != 1785664 || f.KeyCount() != 33 || len(f.Tensors) != 272 {
			t.Errorf("%s: version %d, %d bytes, data at %d, %d keys, %d tensors", io, f.Version, f.Size, f.DataOffset, f.KeyCount(), len(f.Tensors))
		}
		x, ok := f.Tensor("blk.0.ffn_down.weight")
		want := gguf.Tensor{Name: "blk.0.ffn_down.weight", Type: quant.Q8_0, Dims: []uint64{1536, 576}, Offset: 31868992, Bytes: 940032}
		if !ok || !reflect.DeepEqual(*x, want) {
			t.Errorf("%s: %v, want %v", io, x, want)
		}
		tokens, _ := f.Get("tokenizer.ggml.tokens")
		merges, _ := f.Get("tokenizer.ggml.merges")
		if tokens.Len() != 49152 || merges.Len() != 48900 {
			t.Errorf("%s: %d tokens and %d merges", io, tokens.Len(), merges.Len())
		}
		for i, s := range tokens.Strings() {
			if i == 36828 && s != "ĠRust" {
				t.Errorf("%s: token 36828 is %q", io, s)
			}
		}
		f.Close()
	}
}

// TestMap: the map goes on to the end of its last page, and holds each tensor at
// its offset; a file that is read has none.
func TestMap(t *testing.T) {
	path := gguftest.WriteBytes(t, reordered(t, sample(3)))
	for _, io := range readers {
		f, err := gguf.Open(path, io)
		if err != nil {
			t.Fatal(err)
		}
		m := f.Map()
		if io != gguf.MMap {
			if m != nil {
				t.Errorf("%s: a map of %d bytes", io, len(m))
			}
			f.Close()
			continue
		}
		page := os.Getpagesize()
		if at := uintptr(unsafe.Pointer(&m[0])); at%uintptr(page) != 0 || len(m)%page != 0 || int64(len(m)) < f.Size || int64(len(m)-page) >= f.Size {
			t.Errorf("the map of %d bytes is at %#x with %d bytes, want whole pages of %d", f.Size, at, len(m), page)
		}
		for i := range f.Tensors {
			if data, err := f.Data(&f.Tensors[i]); err != nil || &m[f.Tensors[i].Offset] != &data[0] {
				t.Errorf("tensor %s is not in the map at its offset, %v", f.Tensors[i].Name, err)
			}
		}
		for i, b := range m[f.Size:] {
			if b != 0 {
				t.Fatalf("byte %d behind the file is %d", i, b)
			}
		}
		if f.Close(); f.Map() != nil {
			t.Error("a closed file has a map")
		}
	}
}

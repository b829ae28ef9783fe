package gguf_test

import (
	"bytes"
	"testing"

	"github.com/introgen/introgen/engine/gguf"
	"github.com/introgen/introgen/engine/gguf/gguftest"
	"github.com/introgen/introgen/engine/quant"
)

// TestSkipped: tensors without elements, whose data offset is that of the next
// tensor or lies behind the end of the file, and scalars of no dimensions are
// set apart; the others are what they are without them.
func TestSkipped(t *testing.T) {
	at := func(n uint64) *uint64 { return &n }
	file := gguftest.File{Tensors: []gguftest.Tensor{
		{Name: "a", Dims: []uint64{2}, Data: gguftest.F32(1, 2)},
		{Name: "none", Dims: []uint64{0}, Offset: at(32)},
		{Name: "b", Dims: []uint64{3}, Data: gguftest.F32(3, 4, 5), Offset: at(32)},
		{Name: "no rows", Type: uint32(quant.Q8_0), Dims: []uint64{32, 0}, Offset: at(32)},
		{Name: "scalar", Data: gguftest.F32(7), Offset: at(64)},
		{Name: "no columns", Dims: []uint64{0, 5, 6}, Offset: at(96)},
		{Name: "c", Dims: []uint64{1}, Data: gguftest.F32(8), Offset: at(96)},
		{Name: "behind the end", Type: 27, Dims: []uint64{0}, Offset: at(128)},
	}}
	b, err := file.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	b = b[:len(b)-28] // no padding behind the last tensor
	for _, io := range []gguf.IO{gguf.MMap, gguf.Buffered, gguf.FileIO} {
		f, err := gguf.Open(gguftest.WriteBytes(t, b), io)
		if err != nil {
			t.Fatalf("%s: %v", io, err)
		}
		defer f.Close()
		want := map[string][]byte{"a": gguftest.F32(1, 2), "b": gguftest.F32(3, 4, 5), "c": gguftest.F32(8)}
		if len(f.Tensors) != len(want) || len(f.Skipped) != 5 {
			t.Errorf("%s: %d tensors, %d skipped", io, len(f.Tensors), len(f.Skipped))
		}
		for name, data := range want {
			x, ok := f.Tensor(name)
			if _, skipped := f.SkippedTensor(name); !ok || skipped {
				t.Fatalf("%s: %s: found %v, skipped %v", io, name, ok, skipped)
			}
			if got, err := f.Data(x); err != nil || !bytes.Equal(got, data) {
				t.Errorf("%s: %s: %v, %v", io, name, got, err)
			}
		}
		for name, shape := range map[string]string{"none": "0", "no rows": "32x0", "scalar": "scalar", "no columns": "0x5x6", "behind the end": "0"} {
			x, skipped := f.SkippedTensor(name)
			if _, ok := f.Tensor(name); ok || !skipped || x.Shape() != shape {
				t.Errorf("%s: %s: found %v, skipped %v", io, name, ok, skipped)
			}
		}
		if x, _ := f.SkippedTensor("scalar"); x.Elements() != 1 || x.Bytes != 4 {
			t.Errorf("scalar: %d elements, %d bytes", x.Elements(), x.Bytes)
		}
	}
	for want, tensors := range map[string][]gguftest.Tensor{
		`tensor "x" appears twice`:   {{Name: "x", Dims: []uint64{0}}, {Name: "x", Dims: []uint64{0}}},
		`tensor "y" appears twice`:   {{Name: "y", Dims: []uint64{0}}, {Name: "y", Dims: []uint64{1}, Data: make([]byte, 4)}},
		`"z" and "s" overlap`:        {{Name: "s", Data: make([]byte, 4)}, {Name: "z", Dims: []uint64{1}, Data: make([]byte, 4), Offset: at(0)}},
		"offset 8 is not a multiple": {{Name: "x", Dims: []uint64{0}, Offset: at(8)}},
	} {
		refuse(t, gguftest.File{Tensors: tensors}.Write(t), want)
	}
}

// TestParts: each part of a split file says which of how many it is and what
// merges them. The keys and the names are those that llama-gguf-split writes.
func TestParts(t *testing.T) {
	open := func(no, count any) *gguf.File {
		t.Helper()
		var file gguftest.File
		for key, v := range map[string]any{"split.no": no, "split.count": count} {
			if v != nil {
				file.KV = append(file.KV, gguftest.KV{Key: key, Value: v})
			}
		}
		f, err := gguf.Open(file.Write(t), gguf.MMap)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	for _, c := range []struct {
		no, count any
		want      string // "" is whole
	}{
		{uint16(0), uint16(2), "is part 1 of 2 of a split file (metadata split.no, split.count); merge the parts with `llama-gguf-split --merge FIRST-PART OUT`"},
		{uint16(1), uint16(2), "is part 2 of 2"},
		{uint32(6), uint32(12), "is part 7 of 12"},
		{nil, uint16(3), "is part 1 of 3"},
		{nil, nil, ""},
		{uint16(0), uint16(0), ""}, // merged
		{uint16(0), uint16(1), ""},
		{uint16(2), uint16(2), "metadata split.no is 2 of 2 parts"},
		{uint16(1), nil, "metadata split.no is 1 of 1 parts"},
		{uint16(0), "two", "metadata split.count is String"},
		{int8(-1), uint16(2), "metadata split.no is I8"},
	} {
		err := open(c.no, c.count).CheckWhole()
		if (err == nil) != (c.want == "") || c.want != "" && !says(err, c.want) {
			t.Errorf("%v of %v: %v, want %q", c.no, c.count, err, c.want)
		}
	}
	f := open(uint16(1), uint16(2))
	f.Path = "models/m-00002-of-00002.gguf"
	if err := f.CheckWhole(); !says(err, "`llama-gguf-split --merge m-00001-of-00002.gguf OUT`") {
		t.Errorf("a part's name: %v", err)
	}
}

func TestValueString(t *testing.T) {
	long := bytes.Repeat([]byte("x"), 100)
	for want, v := range map[string]any{
		"7": uint8(7), "-3": int64(-3), "0.25": float32(0.25), "1e-05": float32(1e-5), "true": true, `"a\n"`: "a\n",
		"[2, 4]": []int32{2, 4}, `["a"]`: []string{"a"}, "[]": gguftest.Array{Elem: 4},
		`"` + string(long[:80]) + `"… (100 bytes)`: string(long),
	} {
		f, err := gguf.Open(gguftest.File{KV: []gguftest.KV{{Key: "k", Value: v}}}.Write(t), gguf.MMap)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := f.Get("k"); got.String() != want {
			t.Errorf("%v is written as %s, want %s", v, got, want)
		}
		f.Close()
	}
	f, err := gguf.Open(gguftest.File{KV: []gguftest.KV{{Key: "k", Value: make([]uint8, 600)}}}.Write(t), gguf.MMap)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if v, _ := f.Get("k"); !bytes.HasSuffix([]byte(v.String()), []byte(", 0, … (600 values)]")) {
		t.Errorf("a long array: %s", v)
	} // What a message shows of arrays in arrays, and of many texts, is bounded too.
	inner := gguftest.Array{Elem: 9, Count: 2, Items: []any{gguftest.Array{Elem: 0, Count: 1, Items: []any{uint8(7)}}, gguftest.Array{Elem: 0, Count: 1, Items: []any{uint8(8)}}}}
	texts := make([]string, 500)
	for i := range texts {
		texts[i] = string(long)
	}
	f, err = gguf.Open(gguftest.File{KV: []gguftest.KV{{Key: "k", Value: gguftest.Array{Elem: 9, Count: 2, Items: []any{inner, gguftest.Array{Elem: 4}}}}, {Key: "t", Value: texts}}}.Write(t), gguf.MMap)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if v, _ := f.Get("k"); v.String() != "[array of 2, array of 0]" {
		t.Errorf("arrays in an array: %s", v)
	}
	if v, _ := f.Get("t"); len(v.String()) > 20_000 || !bytes.HasSuffix([]byte(v.String()), []byte("… (500 values)]")) {
		t.Errorf("many texts take %d bytes", len(v.String()))
	}
}

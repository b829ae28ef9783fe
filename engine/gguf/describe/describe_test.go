package describe

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/introgen/introgen/engine/gguf"
	"github.com/introgen/introgen/engine/gguf/gguftest"
)

func open(t *testing.T) *gguf.File {
	t.Helper()
	file := gguftest.File{
		KV: []gguftest.KV{
			{Key: "llama.block_count", Value: uint32(30)},
			{Key: "general.architecture", Value: "llama"},
			{Key: "tokenizer.ggml.tokens", Value: []string{"a", "b", "c"}},
			{Key: "tokenizer.ggml.token_type", Value: []int32{1, 1, 3}},
			{Key: "z.text", Value: "two\nlines \x1b[31m\xff<|im_start|>"},
			{Key: "z.eps", Value: float32(1e-5)},
			{Key: "z.base", Value: float32(100000)},
			{Key: "z.half", Value: 0.5},
			{Key: "z.big", Value: float32(1e16)},
			{Key: "z.nan", Value: float32(math.NaN())},
			{Key: "z.minf", Value: math.Inf(-1)},
			{Key: "z.u64", Value: uint64(math.MaxUint64)},
			{Key: "z.i8", Value: int8(-7)},
			{Key: "z.no", Value: false},
		},
		Tensors: []gguftest.Tensor{
			{Name: "w", Type: 8, Dims: []uint64{32, 2}, Data: make([]byte, 68)},
			{Name: "norm", Type: 0, Dims: []uint64{2}, Data: gguftest.F32(1, 2)},
			{Name: "bad\x1bname", Type: 0, Dims: []uint64{1}, Data: gguftest.F32(3)},
		},
	}
	f, err := gguf.Open(file.Write(t), gguf.MMap)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// TestText: offsets and sizes are added up by hand from the format; values are written as Rust's
// {:?} writes them, which is where the experiment's listing comes from.
func TestText(t *testing.T) {
	f := open(t)
	want := `read via mmap 0.423 ms; file 768 bytes; tensor data starts at 608; 14 metadata keys; 3 tensors
read via buffered 9.15 ms (3 tensors)
  general.architecture = String("llama")
  llama.block_count = U32(30)
  tokenizer.ggml.token_type = array of 3
  tokenizer.ggml.tokens = array of 3
  z.base = F32(100000.0)
  z.big = F32(1e16)
  z.eps = F32(1e-5)
  z.half = F64(0.5)
  z.i8 = I8(-7)
  z.minf = F64(-inf)
  z.nan = F32(NaN)
  z.no = Bool(false)
  z.text = String("two\nlines \x1b[31m\xff<|im_start|>")
  z.u64 = U64(18446744073709551615)
tensor         type  shape  offset  bytes
w              Q8_0  32x2   608     68
norm           F32   2      704     8
"bad\x1bname"  F32   1      736     4
2 tensors of F32, 12 bytes
1 tensors of Q8_0, 68 bytes
`
	reads := []Read{{gguf.MMap, 423 * time.Microsecond}, {gguf.Buffered, 9150 * time.Microsecond}}
	var b strings.Builder
	if err := Text(&b, f, Options{Reads: reads, Tensors: true}); err != nil {
		t.Fatal(err)
	}
	if b.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", b.String(), want)
	}
	b.Reset()
	if err := Text(&b, f, Options{}); err != nil {
		t.Fatal(err)
	}
	_, want, _ = strings.Cut(want, "ms; ")
	first, rest, _ := strings.Cut(want, "\n")
	_, rest, _ = strings.Cut(rest, "\n") // the line of the second read
	keys, _, _ := strings.Cut(rest, "tensor  ")
	if want := first + "\n" + keys; b.String() != want {
		t.Errorf("without reads and tensors:\n%s\nwant:\n%s", b.String(), want)
	}
}

func TestJSON(t *testing.T) {
	f := open(t)
	var b strings.Builder
	err := JSON(&b, f, Options{Reads: []Read{{gguf.FileIO, 1500 * time.Microsecond}}, Tensors: true})
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	d := json.NewDecoder(strings.NewReader(b.String()))
	d.UseNumber()
	if err := d.Decode(&got); err != nil {
		t.Fatalf("%v in:\n%s", err, b.String())
	}
	type object = map[string]any
	type list = []any
	n := func(s string) json.Number { return json.Number(s) }
	want := object{
		"file": f.Path, "bytes": n("768"), "version": n("3"), "alignment": n("32"),
		"data_offset": n("608"), "key_count": n("14"), "tensor_count": n("3"),
		"reads": list{object{"io": "file", "ms": n("1.5")}},
		"metadata": object{
			"general.architecture":      object{"type": "String", "value": "llama"},
			"llama.block_count":         object{"type": "U32", "value": n("30")},
			"tokenizer.ggml.tokens":     object{"type": "Array", "elem": "String", "len": n("3")},
			"tokenizer.ggml.token_type": object{"type": "Array", "elem": "I32", "len": n("3")},
			"z.text": object{"type": "String", "escaped": true,
				"value": `two\nlines \x1b[31m\xff<|im_start|>`},
			"z.eps":  object{"type": "F32", "value": n("1e-5")},
			"z.base": object{"type": "F32", "value": n("100000.0")},
			"z.half": object{"type": "F64", "value": n("0.5")},
			"z.big":  object{"type": "F32", "value": n("1e16")},
			"z.nan":  object{"type": "F32", "value": "NaN"},
			"z.minf": object{"type": "F64", "value": "-inf"},
			"z.u64":  object{"type": "U64", "value": n("18446744073709551615")},
			"z.i8":   object{"type": "I8", "value": n("-7")},
			"z.no":   object{"type": "Bool", "value": false},
		},
		"types": object{
			"F32":  object{"tensors": n("2"), "bytes": n("12")},
			"Q8_0": object{"tensors": n("1"), "bytes": n("68")},
		},
		"tensors": list{
			object{"name": "w", "type": "Q8_0", "dims": list{n("32"), n("2")}, "offset": n("608"), "bytes": n("68")},
			object{"name": "norm", "type": "F32", "dims": list{n("2")}, "offset": n("704"), "bytes": n("8")},
			object{"name": "bad\x1bname", "type": "F32", "dims": list{n("1")}, "offset": n("736"), "bytes": n("4")},
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

// TestOddities: what keeps a file or a tensor from being used is said, and the
// values of arrays that may be a value for each layer are written.
func TestOddities(t *testing.T) {
	file := gguftest.File{
		KV: []gguftest.KV{
			{Key: "split.no", Value: uint16(1)}, {Key: "split.count", Value: uint16(3)},
			{Key: "llama.attention.head_count_kv", Value: []int32{2, 4}},
			{Key: "z.scales", Value: []float32{0.5, 1}},
			{Key: "z.none", Value: gguftest.Array{Elem: 4}},
		},
		Tensors: []gguftest.Tensor{
			{Name: "__index_timestep_zero__", Dims: []uint64{0}},
			{Name: "scalar", Data: gguftest.F32(1)},
		},
	}
	f, err := gguf.Open(file.Write(t), gguf.MMap)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var b strings.Builder
	if err := Text(&b, f, Options{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"; 0 tensors\n", "part 2 of 3 of a split file; what runs a model takes the first and reads the others beside it\n",
		"skipped: tensor __index_timestep_zero__, F32 of shape 0, which has no elements\n", "skipped: tensor scalar, F32 of no dimensions\n",
		"llama.attention.head_count_kv = array of 2: 2, 4\n", "z.scales = array of 2: 0.5, 1\n", "z.none = array of 0\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in:\n%s", want, b.String())
		}
	}
	b.Reset()
	if err := JSON(&b, f, Options{}); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Part, Parts int
		Skipped     []struct{ Name string }
		Metadata    map[string]struct{ Values []float64 }
	}
	if err := json.Unmarshal([]byte(b.String()), &got); err != nil {
		t.Fatal(err)
	}
	if got.Part != 2 || got.Parts != 3 || len(got.Skipped) != 2 || !reflect.DeepEqual(got.Metadata["llama.attention.head_count_kv"].Values, []float64{2, 4}) {
		t.Errorf("JSON: %+v", got)
	}
}

func TestTimeReads(t *testing.T) {
	path := open(t).Path
	reads, err := TimeReads(path, gguf.Buffered)
	if err != nil {
		t.Fatal(err)
	}
	var order []gguf.IO
	for _, r := range reads {
		order = append(order, r.IO)
		if r.Time <= 0 {
			t.Errorf("%s took %v", r.IO, r.Time)
		}
	}
	if want := []gguf.IO{gguf.Buffered, gguf.MMap, gguf.FileIO}; !reflect.DeepEqual(order, want) {
		t.Errorf("order %v, want %v", order, want)
	}
	if _, err := TimeReads(path+".missing", gguf.MMap); err == nil {
		t.Error("a missing file gave no error")
	}
}

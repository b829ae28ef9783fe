package transformer_test

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/introgen/introgen/engine/gguf/gguftest"
)

// with returns f with key i having another value.
func with(f gguftest.File, i int, v any) gguftest.File {
	f.KV = slices.Clone(f.KV)
	f.KV[i].Value = v
	return f
}

// alteredKeys drops, renames and alters each metadata key of f: its value in
// several ways, and its type.
func alteredKeys(f gguftest.File) []change {
	var out []change
	for i, kv := range f.KV {
		field := "metadata " + kv.Key
		names := []string{kv.Key}
		if kv.Key == "general.alignment" {
			names = append(names, "alignment")
		}
		dropped := f
		dropped.KV = slices.Delete(slices.Clone(f.KV), i, i+1)
		out = append(out, change{field + " dropped", names, dropped})
		renamed := dropped
		renamed.KV = append(slices.Clone(dropped.KV), gguftest.KV{Key: kv.Key + "x", Value: kv.Value})
		out = append(out, change{field + " renamed", names, renamed})
		for _, v := range values(kv.Value) {
			out = append(out, change{field + v.name, names, with(f, i, v.value)})
		}
	}
	return out
}

// named is a value, and how it is called.
type named struct {
	name  string
	value any
}

// values are other values than v, of its type and of others.
func values(v any) []named {
	var out []named
	add := func(v any, format string, a ...any) { out = append(out, named{fmt.Sprintf(format, a...), v}) }
	switch v := v.(type) {
	case uint16:
		for _, x := range []uint16{v + 1, v + 7} {
			add(x, " = U16(%d)", x)
		}
		add("x", ` = String("x")`)
	case uint32:
		for _, x := range []uint32{v + 1, v - 1, 2 * v, 0, 1 << 31, math.MaxUint32} {
			if x != v {
				add(x, " = U32(%d)", x)
			}
		}
		add(uint64(v), " = U64, the same number")
		add([]uint32{v, v}, " of each layer, the same number")
		add([]uint32{v, v + 1}, " = Array of %d and %d", v, v+1)
		add(float32(v), " = F32(%d)", v)
		add("x", ` = String("x")`)
		add(true, " = Bool(true)")
	case float32:
		for _, x := range []float32{2 * v, -v, 0, float32(math.NaN()), float32(math.Inf(1))} {
			add(x, " = F32(%v)", x)
		}
		add(float64(v), " = F64, the same number")
		add([]float32{v}, " = Array(F32 %v)", v)
		add(uint32(v), " = U32(%d)", uint32(v))
		add("x", ` = String("x")`)
		add(true, " = Bool(true)")
	case bool:
		add(!v, " = Bool(%v)", !v)
		add(uint32(1), " = U32(1)")
		add(float32(1), " = F32(1)")
		add([]uint32{1}, " = Array(U32 1)")
		add("x", ` = String("x")`)
	case string:
		add("", ` = String("")`)
		add(v+"x", " = String(%q)", v+"x")
		add(uint32(1), " = U32(1)")
		add([]string{v}, " = Array(String)")
	case []string:
		add(v[:len(v)-1], " without the last")
		add(append(slices.Clone(v), "zz yy"), " with one more")
		add(append([]string{"zz qq"}, v[1:]...), "[0] = %q", "zz qq")
		add(append([]string{v[1]}, v[1:]...), "[0] = [1]")
		add(append([]string{"\xff"}, v[1:]...), "[0] = not UTF-8")
		add(gguftest.Array{Elem: 8}, " = nothing")
		add("x", ` = String("x")`)
	case []int32:
		add(v[:len(v)-1], " without the last")
		add(append(slices.Clone(v), 1), " with one more")
		for _, x := range []int32{5, 3, 9, -1} {
			add(append([]int32{x}, v[1:]...), "[0] = %d", x)
		}
		if len(v) > 262 {
			add(slices.Concat(v[:262], []int32{1}, v[263:]), "[262] = 1")
		}
		add("x", ` = String("x")`)
		add(float32(1), " = F32(1)")
	case []uint32:
		add(v[:len(v)-1], " without the last")
		add(append(slices.Clone(v), v[0]), " with one more")
		add(append([]uint32{v[0] + 1}, v[1:]...), "[0] = %d", v[0]+1)
		add([]uint32{v[0] + 2, v[0] + 2}, " = %d each", v[0]+2)
		add(v[0], ", the one number: of each layer, the same number")
		add("x", ` = String("x")`)
	}
	return out
}

// alteredTensors alters each tensor of f: its name, type, dimensions, offset and
// data.
func alteredTensors(f gguftest.File) []change {
	var out []change
	for i, x := range f.Tensors {
		add := func(what string, alter func(*gguftest.Tensor), names ...string) {
			g := f
			g.Tensors = slices.Clone(f.Tensors)
			alter(&g.Tensors[i])
			out = append(out, change{"tensor " + x.Name + " " + what, append(names, x.Name), g})
		}
		dropped := f
		dropped.Tensors = slices.Clone(f.Tensors)
		dropped.Tensors[i].Name, dropped.Tensors[i].Dims, dropped.Tensors[i].Offset = "gone", []uint64{0}, new(uint64)
		// Where the last one is gone, its data follow those of the others.
		out = append(out, change{"tensor " + x.Name + " dropped", []string{x.Name, "the file is oversized"}, dropped})
		add("renamed", func(x *gguftest.Tensor) { x.Name += "x" })
		add("named as another", func(y *gguftest.Tensor) { y.Name = f.Tensors[(i+1)%len(f.Tensors)].Name }, f.Tensors[(i+1)%len(f.Tensors)].Name)
		for _, typ := range []uint32{0, 1, 8, 24, 30, 99} {
			if typ != x.Type {
				add(fmt.Sprintf("of type %d", typ), func(x *gguftest.Tensor) { x.Type = typ })
			}
		}
		for d := range x.Dims {
			for _, n := range []uint64{x.Dims[d] + 32, x.Dims[d] - 32, 1, 0, 1 << 40} {
				if n < 1<<63 && n != x.Dims[d] {
					add(fmt.Sprintf("with dimension %d of %d", d, n), func(x *gguftest.Tensor) {
						x.Dims = slices.Clone(x.Dims)
						x.Dims[d] = n
					}, "the file is oversized")
				}
			}
		}
		add("without dimensions", func(x *gguftest.Tensor) { x.Dims = nil })
		add("with a trailing dimension of 1", func(x *gguftest.Tensor) { x.Dims = append(slices.Clone(x.Dims), 1) })
		add("with a leading dimension of 1", func(x *gguftest.Tensor) { x.Dims = append([]uint64{1}, x.Dims...) })
		add("with a dimension of 2 more", func(x *gguftest.Tensor) { x.Dims = append(slices.Clone(x.Dims), 2) })
		for _, at := range []uint64{*x.Offset + 32, *x.Offset + 1, *x.Offset - 32, 1 << 20, 1 << 62} {
			add(fmt.Sprintf("at %d", at), func(x *gguftest.Tensor) { x.Offset = &at })
		}
		for at, what := range map[int]string{0: "with another first number", -1: "with another last number"} {
			add(what, func(y *gguftest.Tensor) { y.Data = altered(x, at) })
		}
		if x.Type == 0 {
			for _, v := range []float32{float32(math.NaN()), float32(math.Inf(1))} {
				add(fmt.Sprintf("with a %v", v), func(y *gguftest.Tensor) { y.Data = floats(x.Data, 0, func(float32) float32 { return v }) })
			}
		}
	}
	return out
}

// altered returns the data of x with the first or, with at -1, the last number
// changed: of blocks of Q8_0, whose scale comes first, the first scale and the last
// number.
func altered(x gguftest.Tensor, at int) []byte {
	if x.Type == 0 {
		n := len(x.Data) / 4
		return floats(x.Data, (at+n)%n, func(v float32) float32 { return v + 1 })
	}
	data := slices.Clone(x.Data)
	if at < 0 {
		data[len(data)-1] ^= 0x20
	} else {
		data[1] ^= 0x04
	}
	return data
}

// alteredStructure alters what is neither key nor tensor.
func alteredStructure(t *testing.T, f gguftest.File) []change {
	t.Helper()
	number := func(n int) *uint64 { u := uint64(n); return &u }
	add := func(field string, alter func(*gguftest.File)) change {
		g := f
		alter(&g)
		return change{field: field, file: g}
	}
	out := []change{
		add("magic number", func(f *gguftest.File) { f.Magic = "GGML" }),
		add("version 1", func(f *gguftest.File) { f.Version = 1 }),
		add("version 2", func(f *gguftest.File) { f.Version = 2 }),
		add("version 4", func(f *gguftest.File) { f.Version = 4 }),
		add("tensor count less 1", func(f *gguftest.File) { f.TensorCount = number(len(f.Tensors) - 1) }),
		add("tensor count and 1", func(f *gguftest.File) { f.TensorCount = number(len(f.Tensors) + 1) }),
		add("tensor count 0", func(f *gguftest.File) { f.TensorCount = number(0) }),
		add("key count less 1", func(f *gguftest.File) { f.KeyCount = number(len(f.KV) - 1) }),
		add("key count and 1", func(f *gguftest.File) { f.KeyCount = number(len(f.KV) + 1) }),
		add("order of the keys", func(f *gguftest.File) { f.KV = slices.Clone(f.KV); slices.Reverse(f.KV) }),
		add("order of the tensors", func(f *gguftest.File) { f.Tensors = place(gguftest.File{Tensors: reversed(f.Tensors)}).Tensors }),
		add("key twice", func(f *gguftest.File) { f.KV = append(slices.Clone(f.KV), f.KV[0]) }),
	}
	for i, x := range f.Tensors {
		if pad := -len(x.Data) & 31; pad > 0 {
			out = append(out, add("padding behind "+x.Name, func(f *gguftest.File) {
				f.Tensors = slices.Clone(f.Tensors)
				f.Tensors[i].Data = append(slices.Clone(x.Data), slices.Repeat([]byte{0xaa}, pad)...)
			}))
		}
	}
	return out
}

func reversed(x []gguftest.Tensor) []gguftest.Tensor {
	x = slices.Clone(x)
	slices.Reverse(x)
	return x
}

// listed are the names of a kind in testdata/llama.cpp.txt.
func listed(t *testing.T, kind string) []string {
	t.Helper()
	file, err := os.Open("testdata/llama.cpp.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var names []string
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if name, ok := strings.CutPrefix(lines.Text(), kind+" "); ok {
			names = append(names, name)
		}
	}
	if err := lines.Err(); err != nil || len(names) == 0 {
		t.Fatalf("%d names, %v", len(names), err)
	}
	return names
}

// addedKeys adds each key that llama.cpp knows for some architecture and f, a file of
// one, does not have, and some that nobody knows, with several values.
func addedKeys(t *testing.T, f gguftest.File, of string) []change {
	t.Helper()
	names := listed(t, "key")
	for _, name := range listed(t, "arch") {
		names = append(names, of+"."+name)
	}
	names = append(names, of+".", of+".foo", of+".rope.scaling.low_freq_factor", of+".attention", of+".attention.head_dim", of+".LOGIT_SCALE", "other.logit_scale")
	var out []change
	for _, name := range names {
		if slices.ContainsFunc(f.KV, func(kv gguftest.KV) bool { return kv.Key == name }) {
			continue
		}
		for _, v := range []any{uint32(0), uint32(1), float32(0.5), float32(3), true, "x", []int32{1, 2}} {
			g := f
			g.KV = append(slices.Clone(f.KV), gguftest.KV{Key: name, Value: v})
			out = append(out, change{fmt.Sprintf("added metadata %s = %s", name, shown(v)), []string{name}, g})
		}
	}
	return out
}

func shown(v any) string {
	kind := map[string]string{"uint32": "U32", "float32": "F32", "bool": "Bool", "string": "String", "[]int32": "Array"}[fmt.Sprintf("%T", v)]
	return fmt.Sprintf("%s(%v)", kind, v)
}

// addedTensors adds each tensor that llama.cpp knows for some architecture and f
// does not have, in a layer and behind the last, whole, empty and as a scalar.
func addedTensors(t *testing.T, f gguftest.File) []change {
	t.Helper()
	var names []string
	for _, name := range append(listed(t, "tensor"), "any.thing", "blk.N.any.thing") {
		for _, end := range []string{".weight", ".bias", ".scale", ".input_scale"} {
			names = append(names, strings.ReplaceAll(name, "N", "0")+end)
		}
		names = append(names, strings.ReplaceAll(name, "N", "2")+".weight")
	}
	slices.Sort(names)
	end := uint64(0)
	for _, x := range f.Tensors {
		end = max(end, *x.Offset+uint64(len(x.Data)+31)&^31)
	}
	var out []change
	for _, name := range slices.Compact(names) {
		if slices.ContainsFunc(f.Tensors, func(x gguftest.Tensor) bool { return x.Name == name }) {
			continue
		}
		for kind, x := range map[string]gguftest.Tensor{
			"tensor":       {Dims: []uint64{48}, Data: gguftest.F32(make([]float32, 48)...)},
			"empty tensor": {Dims: []uint64{0}},
			"scalar":       {Data: gguftest.F32(2)},
		} {
			if kind != "tensor" && !strings.HasSuffix(name, ".weight") && !strings.HasSuffix(name, ".input_scale") {
				continue // two of the four endings say enough
			}
			x.Name, x.Offset = name, &end
			g := f
			g.Tensors = append(slices.Clone(f.Tensors), x)
			out = append(out, change{"added " + kind + " " + name, []string{name}, g})
		}
	}
	return out
}

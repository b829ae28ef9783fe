package transformertest

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/introgen/introgen/engine/gguf/gguftest"
	"github.com/introgen/introgen/engine/quant"
)

// Case is a small random model of an architecture, and what other programs answer.
// scripts/reference/architectures.py made the figures: the logits are those of
// transformers, where everything is float64, and the ids those of llama.cpp.
//
// Where the two differ, the case avoids it: windows of mistral and phi3, which
// llama.cpp does not apply, are longer than what is run; and factors of LongRoPE,
// which transformers chooses by the positions so far and llama.cpp by those of the
// context, are the same for both.
type Case struct {
	Name         string    // its family of models, and what is particular
	Architecture string    // general.architecture
	Prompt       []int32   // token ids
	Logits       []float64 // of all tokens, after Prompt
	Next         []int32   // the greedy ids that follow Prompt
	Margin       float64   // by which the best logit leads the second, at the narrowest of Next

	caseFile
}

// caseFile is what a case's file is drawn from.
type caseFile struct {
	Seed    uint64
	Layers  int
	Keys    []caseKey
	Tensors []caseTensor
	SHA256  string // of names and F32 data of all tensors
}

// caseKey is a metadata entry: name, kind and value.
type caseKey struct {
	name string
	kind string
	data json.RawMessage
}

// UnmarshalJSON reads the three elements of an array.
func (k *caseKey) UnmarshalJSON(b []byte) error {
	return json.Unmarshal(b, &[]any{&k.name, &k.kind, &k.data})
}

// value is what gguftest.KV takes.
func (k *caseKey) value() (any, error) {
	switch k.kind {
	case "u32":
		return parsed[uint32](k.data)
	case "f32":
		return parsed[float32](k.data)
	case "string":
		return parsed[string](k.data)
	case "bools":
		const typeBool = 7
		items, err := parsed[[]any](k.data)
		return gguftest.Array{Elem: typeBool, Count: uint64(len(items)), Items: items}, err
	}
	return nil, fmt.Errorf("key %s is of the unknown kind %q", k.name, k.kind)
}

func parsed[T any](b []byte) (v T, err error) {
	err = json.Unmarshal(b, &v)
	return v, err
}

// caseTensor is a tensor, of F32. That of layer 0 stands for those of all layers.
type caseTensor struct {
	Name        string
	Dims        []uint64 // GGUF's order
	Scale, Mean float32  // of what is drawn
	Values      []float32
}

//go:embed testdata/architectures.json
var architectures []byte

var cases = sync.OnceValues(func() ([]Case, error) { return parsed[[]Case](architectures) })

// Cases returns all cases, those of a family one after another.
func Cases() []Case {
	all, err := cases()
	if err != nil {
		panic("testdata/architectures.json: " + err.Error())
	}
	return all
}

// Family is the class of models: the architecture, or mistral, whose files say llama.
func (c *Case) Family() string {
	family, _, _ := strings.Cut(c.Name, "-")
	return family
}

// Vocab is the number of tokens.
func (c *Case) Vocab() int { return len(c.Logits) }

// Writable returns the file of the case, of F32.
func (c *Case) Writable(t testing.TB) *Writable {
	t.Helper()
	w := &Writable{}
	for _, k := range c.Keys {
		v, err := k.value()
		if err != nil {
			t.Fatalf("case %s: %v", c.Name, err)
		}
		w.Keys = append(w.Keys, Key{k.name, v})
	}
	d := drawer{state: c.Seed, at: map[string][]byte{}}
	add := func(x *caseTensor, name string) {
		n := 1
		for _, dim := range x.Dims {
			n *= int(dim)
		}
		if x.Values != nil {
			d.at[name] = gguftest.F32(x.Values...)
		} else {
			d.draw(name, n, x.Scale, x.Mean)
		}
		w.Tensors = append(w.Tensors, Tensor{name, quant.F32, x.Dims, d.at[name]})
	}
	const first = "blk.0."
	for i := range c.Tensors {
		if x := &c.Tensors[i]; !strings.HasPrefix(x.Name, first) {
			add(x, x.Name)
		}
	}
	for layer := range c.Layers {
		for i := range c.Tensors {
			x := &c.Tensors[i]
			if rest, ok := strings.CutPrefix(x.Name, first); ok {
				add(x, fmt.Sprintf("blk.%d.%s", layer, rest))
			}
		}
	}
	return w
}

// Write writes the case's file, of F32, after edits into a folder of the test, and
// returns its path.
func (c *Case) Write(t testing.TB, edits ...func(*Writable)) string {
	t.Helper()
	w := c.Writable(t)
	for _, edit := range edits {
		edit(w)
	}
	return w.write(t)
}

// Quantized is Write with matrices of a type, whose blocks are drawn: the figures are
// not this file's. Rows that are no whole number of blocks are Q8_0, as llama.cpp
// quantizes them to a larger type, and F32 where not even that is possible.
func (c *Case) Quantized(t testing.TB, typ quant.Type, edits ...func(*Writable)) string {
	t.Helper()
	r := rand.New(rand.NewPCG(c.Seed, uint64(typ)))
	return c.Write(t, append([]func(*Writable){func(w *Writable) {
		for i := range w.Tensors {
			x := &w.Tensors[i]
			if len(x.Dims) != 2 {
				continue
			}
			cols, rows := int(x.Dims[0]), int(x.Dims[1])
			for _, as := range []quant.Type{typ, quant.Q8_0} {
				if elems, _ := as.Block(); cols%elems == 0 {
					x.Type, x.Data = as, RandomBits(t, r, as, rows, cols)
					break
				}
			}
		}
	}}, edits...)...)
}

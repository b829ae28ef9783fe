package transformer

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/introgen/introgen/engine/gguf"
	"github.com/introgen/introgen/engine/quant"
)

// Matrix is a weight as the file holds it: Rows rows of Cols elements of Type,
// one after another. Data is a view of the file where that is mapped: read it
// inside gguf.Fault, and not after the file is closed.
type Matrix struct {
	Name       string
	Type       quant.Type
	Rows, Cols int
	RowBytes   int
	Data       []byte // Rows x RowBytes
}

// Row returns the bytes of row i.
func (m *Matrix) Row(i int) []byte {
	return m.Data[i*m.RowBytes : (i+1)*m.RowBytes : (i+1)*m.RowBytes]
}

// Block is one layer. The biases, and the norms that an architecture may lack, are nil
// where the model has none. Q, K and V are views of one matrix where the architecture
// keeps them in one (FusedQKV), and so are Gate and Up (FusedGateUp).
type Block struct {
	Heads   int // query heads
	KVHeads int // key and value heads; divides Heads
	FFN     int // values inside the feed-forward
	Window  int // attention reaches this many positions back, the own one included; 0 is all

	AttnNorm       []float32 // Hidden
	Q              Matrix    // Heads x HeadDim rows of Hidden
	K, V           Matrix    // KVHeads x HeadDim rows of Hidden
	O              Matrix    // Hidden rows of Heads x HeadDim
	QB, KB, VB, OB []float32 // one value for each row
	FFNNorm        []float32 // Hidden
	Gate, Up       Matrix    // FFN rows of Hidden
	Down           Matrix    // Hidden rows of FFN

	GateB, UpB, DownB []float32 // one value for each row

	QNorm, KNorm              []float32 // HeadDim: of HeadNorms
	AttnPostNorm, FFNPostNorm []float32 // Hidden: of PostNorms
	QKV, GateUp               Matrix    // the whole matrices of FusedQKV and FusedGateUp
}

// Model is a model's parameters and weights. It holds views of the file
// that it was loaded from, which must stay open.
type Model struct {
	Architecture *Architecture
	Params
	Embedding   Matrix // Vocab rows of Hidden
	Blocks      []Block
	OutputNorm  []float32 // Hidden
	Output      Matrix    // Vocab rows of Hidden; Embedding where the model ties them
	Tied        bool
	RopeFactors []float32 // RopeDim/2 divisors of the frequencies, or nil
}

// Load reads hyper-parameters and the tensor directory, checks that every
// tensor is there with the shape that the parameters ask for and a type that
// can be decoded, and decodes the vectors; of the matrices it only takes views.
// A key or tensor that it does not know is an error: the file may be meant for
// another forward pass. Errors name the file and the key or tensor.
func Load(f *gguf.File) (*Model, error) {
	var m *Model
	err := gguf.Fault(func() (err error) {
		m, err = load(f)
		if err != nil {
			err = fmt.Errorf("model %s: %w", f.Path, err)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return m, nil
}

func load(f *gguf.File) (*Model, error) {
	if err := f.CheckWhole(); err != nil {
		return nil, err
	}
	arch, err := readArchitecture(f)
	if err != nil {
		return nil, err
	}
	p, err := readParams(f, arch)
	if err != nil {
		return nil, err
	}
	m := &Model{Architecture: known[arch], Params: p}
	l := loader{f: f, arch: arch, layers: p.Layers, used: map[string]bool{}}
	said := func(n int, key string) dim { return dim{n, arch + "." + key} }
	if t, ok := f.Tensor("token_embd.weight"); ok && len(t.Dims) >= 2 {
		if t.Dims[1] > math.MaxInt32 {
			return nil, errNoVocab
		}
		m.Vocab = int(t.Dims[1])
	}
	hidden, ffn := said(p.Hidden, "embedding_length"), said(p.FFN, "feed_forward_length")
	vocab := dim{m.Vocab, "rows of token_embd.weight"}
	q := said(p.Heads*p.HeadDim, "attention.head_count times "+arch+".attention.key_length")
	kv := said(p.KVHeads*p.HeadDim, "attention.head_count_kv times "+arch+".attention.key_length")
	m.Embedding = l.matrix("token_embd.weight", vocab, hidden)
	m.OutputNorm = l.vector("output_norm.weight", hidden, true)
	m.Output, m.Tied = m.Embedding, true
	_, own := f.Tensor("output.weight")
	_, empty := f.SkippedTensor("output.weight")
	if own || empty {
		m.Output, m.Tied = l.matrix("output.weight", vocab, hidden), false
	}
	m.RopeFactors = l.vector("rope_freqs.weight", dim{p.RopeDim / 2, "half of " + arch + ".rope.dimension_count"}, false)
	for i, v := range m.RopeFactors {
		if !(v > 0) || math.IsInf(float64(v), 0) {
			l.fail(fmt.Errorf("tensor rope_freqs.weight: factor %d is %v; it must be a positive number", i, v))
		}
	}
	for i := 0; i < p.Layers && l.err == nil; i++ {
		name := func(s string) string { return fmt.Sprintf("blk.%d.%s", i, s) }
		m.Blocks = append(m.Blocks, Block{
			Heads: p.Heads, KVHeads: p.KVHeads, FFN: p.FFN,
			AttnNorm: l.vector(name("attn_norm.weight"), hidden, true),
			Q:        l.matrix(name("attn_q.weight"), q, hidden),
			K:        l.matrix(name("attn_k.weight"), kv, hidden),
			V:        l.matrix(name("attn_v.weight"), kv, hidden),
			O:        l.matrix(name("attn_output.weight"), hidden, q),
			QB:       l.vector(name("attn_q.bias"), q, false),
			KB:       l.vector(name("attn_k.bias"), kv, false),
			VB:       l.vector(name("attn_v.bias"), kv, false),
			OB:       l.vector(name("attn_output.bias"), hidden, false),
			FFNNorm:  l.vector(name("ffn_norm.weight"), hidden, true),
			Gate:     l.matrix(name("ffn_gate.weight"), ffn, hidden),
			Up:       l.matrix(name("ffn_up.weight"), ffn, hidden),
			Down:     l.matrix(name("ffn_down.weight"), hidden, ffn),
			GateB:    l.vector(name("ffn_gate.bias"), ffn, false),
			UpB:      l.vector(name("ffn_up.bias"), ffn, false),
			DownB:    l.vector(name("ffn_down.bias"), hidden, false),
		})
	}
	if l.err != nil {
		return nil, l.err
	}
	if err := checkTensors(f, arch, p.Layers, l.used); err != nil {
		return nil, err
	}
	return m, checkVocab(f, arch, m.Vocab)
}

// checkVocab compares the rows of the embedding with what else says how many
// tokens there are.
func checkVocab(f *gguf.File, arch string, rows int) error {
	n, ok, err := f.Uint32(arch + ".vocab_size")
	if err != nil {
		return err
	}
	if ok && int64(n) != int64(rows) {
		return fmt.Errorf("metadata %s.vocab_size is %d, but tensor token_embd.weight has %d rows; they must be as many", arch, n, rows)
	}
	if v, ok := f.Get("tokenizer.ggml.tokens"); ok && v.Len() != rows {
		return fmt.Errorf("metadata tokenizer.ggml.tokens has %d elements, but tensor token_embd.weight has %d rows; they must be as many", v.Len(), rows)
	}
	return nil
}

// dim is a dimension that a tensor must have, and what says so.
type dim struct {
	n  int
	of string
}

// loader takes tensors out of a file and keeps the first error.
type loader struct {
	f      *gguf.File
	arch   string
	layers int
	used   map[string]bool // by name
	err    error
}

func (l *loader) fail(err error) {
	if l.err == nil {
		l.err = err
	}
}

// tensor returns the tensor of that name, whose shape must be dims; a missing
// tensor is nil, and an error where it is needed.
func (l *loader) tensor(name string, needed bool, dims ...dim) *gguf.Tensor {
	l.used[name] = true
	t, ok := l.f.Tensor(name)
	if !ok {
		if t, ok := l.f.SkippedTensor(name); ok {
			l.misshapen(t, dims)
		} else if layer, _ := split(name); needed && layer >= 0 {
			l.fail(fmt.Errorf("tensor %s is missing, though metadata %s.block_count is %d", name, l.arch, l.layers))
		} else if needed {
			l.fail(fmt.Errorf("tensor %s is missing", name))
		}
		return nil
	}
	for i, d := range t.Dims {
		want := uint64(1) // trailing dimensions of 1 change nothing
		if i < len(dims) {
			want = uint64(dims[i].n)
		}
		if d != want || len(t.Dims) < len(dims) {
			l.misshapen(t, dims)
			return nil
		}
	}
	if !t.Type.CanDecode() {
		l.fail(fmt.Errorf("tensor %s has type %s, which cannot be decoded", name, t.Type))
		return nil
	}
	return t
}

func (l *loader) misshapen(t *gguf.Tensor, dims []dim) {
	var shape, of []string
	for _, d := range dims {
		shape, of = append(shape, strconv.Itoa(d.n)), append(of, d.of)
	}
	l.fail(fmt.Errorf("tensor %s has shape %s; the hyper-parameters ask for %s (%s)", t.Name, t.Shape(), strings.Join(shape, "x"), strings.Join(of, ", ")))
}

// matrix returns a weight of rows x cols that must be there.
func (l *loader) matrix(name string, rows, cols dim) Matrix {
	t := l.tensor(name, true, cols, rows)
	if t == nil {
		return Matrix{}
	}
	data, err := l.f.Data(t)
	if err != nil {
		l.fail(err)
		return Matrix{}
	}
	rb, err := t.Type.RowBytes(cols.n)
	if err == nil && rb*rows.n != len(data) {
		err = fmt.Errorf("%d bytes of data for %d rows of %d", len(data), rows.n, rb)
	}
	if err != nil {
		l.fail(fmt.Errorf("tensor %s: %w", name, err))
		return Matrix{}
	}
	return Matrix{Name: name, Type: t.Type, Rows: rows.n, Cols: cols.n, RowBytes: rb, Data: data}
}

// vector decodes a vector of n values, which is nil where it is missing.
func (l *loader) vector(name string, n dim, needed bool) []float32 {
	t := l.tensor(name, needed, n)
	if t == nil {
		return nil
	}
	switch t.Type {
	case quant.F32, quant.F16, quant.BF16:
	default:
		l.fail(fmt.Errorf("tensor %s has type %s; norms, biases and factors are F32, F16 or BF16", name, t.Type))
		return nil
	}
	data, err := l.f.Data(t)
	if err != nil {
		l.fail(err)
		return nil
	}
	v := make([]float32, n.n)
	if err := quant.Dequantize(v, t.Type, data); err != nil {
		l.fail(fmt.Errorf("tensor %s: %w", name, err))
	}
	return v
}

// Rotary returns how layer's heads are turned in a run that reaches so many positions.
func (m *Model) Rotary(layer, positions int) Rotary {
	return Rotary{m.Frequencies(m.RopeFactors), 1}
}

// Bytes returns the size of the matrices that a forward pass of one token
// reads, in bytes.
func (m *Model) Bytes() int64 {
	n := int64(len(m.Output.Data))
	for i := range m.Blocks {
		b := &m.Blocks[i]
		for _, w := range []*Matrix{&b.Q, &b.K, &b.V, &b.O, &b.Gate, &b.Up, &b.Down} {
			n += int64(len(w.Data))
		}
	}
	return n
}

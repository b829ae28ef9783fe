package transformer

import (
	"fmt"
	"math"

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
	RopeFactors []float32 // RopeDim/2 divisors of the frequencies (rope_freqs.weight), or nil; Rotary has all that turns heads

	// SaysFloat32 says that general.dtype is 0. Nothing is computed otherwise for it
	// here; candle's qwen3 looks at it.
	SaysFloat32 bool

	rope rope
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
	p, err := readHyper(f, arch)
	if err != nil {
		return nil, err
	}
	m := &Model{Architecture: arch, Params: p.Params, rope: p.rope}
	dtype, given, err := f.Uint32("general.dtype")
	m.SaysFloat32 = err == nil && given && dtype == 0
	l := loader{f: f, arch: arch, layers: p.Layers, used: map[string]bool{}}
	if t, ok := f.Tensor("token_embd.weight"); ok && len(t.Dims) >= 2 {
		if t.Dims[1] > math.MaxInt32 {
			return nil, errNoVocab
		}
		m.Vocab = int(t.Dims[1])
	}
	hidden, vocab := l.said(p.Hidden, "embedding_length"), dim{m.Vocab, "rows of token_embd.weight"}
	m.Embedding = l.matrix("token_embd.weight", vocab, hidden)
	m.OutputNorm = l.vector("output_norm.weight", hidden, true)
	m.Output, m.Tied = m.Embedding, true
	if l.has("output.weight") {
		m.Output, m.Tied = l.matrix("output.weight", vocab, hidden), false
	}
	l.factors(m)
	for i := 0; i < p.Layers && l.err == nil; i++ {
		m.Blocks = append(m.Blocks, l.block(i, &p))
	}
	if l.err != nil {
		return nil, l.err
	}
	if err := checkTensors(f, arch, p.Layers, l.used); err != nil {
		return nil, err
	}
	return m, checkVocab(f, arch.Name, m.Vocab)
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

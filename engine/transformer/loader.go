package transformer

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/introgen/introgen/engine/gguf"
	"github.com/introgen/introgen/engine/quant"
)

// dim is a dimension that a tensor must have, and what says so.
type dim struct {
	n  int
	of string
}

// loader takes tensors out of a file and keeps the first error.
type loader struct {
	f      *gguf.File
	arch   *Architecture
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
			l.fail(missing(name, l.arch, l.layers))
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

// said is a dimension that the metadata state, under a key of the architecture.
func (l *loader) said(n int, key string) dim { return dim{n, l.arch.Name + "." + key} }

// has says whether the file has a tensor of that name, be it one without elements.
func (l *loader) has(name string) bool {
	_, whole := l.f.Tensor(name)
	_, empty := l.f.SkippedTensor(name)
	return whole || empty
}

// layerName is the name of a tensor of layer i.
func layerName(i int, name string) string { return fmt.Sprintf("blk.%d.%s", i, name) }

// block takes the tensors of layer i.
func (l *loader) block(i int, p *hyper) Block {
	arch, own := l.arch, p.layers[i]
	hidden, ffn := l.said(p.Hidden, "embedding_length"), l.said(own.ffn, "feed_forward_length")
	ofHeads := " times " + arch.Name + ".attention.key_length"
	q := l.said(own.heads*p.HeadDim, "attention.head_count"+ofHeads)
	kv := l.said(own.kvHeads*p.HeadDim, "attention.head_count_kv"+ofHeads)
	head := l.said(p.HeadDim, "attention.key_length")
	norm := func(name string, n dim, has bool) []float32 {
		if !has {
			return nil
		}
		return l.vector(layerName(i, name+".weight"), n, true)
	}
	matrix := func(name string, rows, cols dim) Matrix { return l.matrix(layerName(i, name+".weight"), rows, cols) }
	bias := func(name string, rows dim) []float32 {
		if !slices.Contains(arch.biases, name) {
			return nil
		}
		return l.vector(layerName(i, name+".bias"), rows, false)
	}
	b := Block{Heads: own.heads, KVHeads: own.kvHeads, FFN: own.ffn, Window: own.window}
	b.AttnNorm = norm("attn_norm", hidden, true)
	if arch.FusedQKV {
		all := dim{q.n + 2*kv.n, q.of + " and twice " + kv.of}
		b.QKV = matrix("attn_qkv", all, hidden)
		b.Q, b.K, b.V = b.QKV.rows(0, q.n), b.QKV.rows(q.n, kv.n), b.QKV.rows(q.n+kv.n, kv.n)
		if v := bias("attn_qkv", all); v != nil {
			b.QB, b.KB, b.VB = v[:q.n:q.n], v[q.n:q.n+kv.n:q.n+kv.n], v[q.n+kv.n:]
		}
	} else {
		b.Q, b.K, b.V = matrix("attn_q", q, hidden), matrix("attn_k", kv, hidden), matrix("attn_v", kv, hidden)
		b.QB, b.KB, b.VB = bias("attn_q", q), bias("attn_k", kv), bias("attn_v", kv)
	}
	b.QNorm, b.KNorm = norm("attn_q_norm", head, arch.HeadNorms), norm("attn_k_norm", head, arch.HeadNorms)
	b.O, b.OB = matrix("attn_output", hidden, q), bias("attn_output", hidden)
	b.AttnPostNorm = norm("post_attention_norm", hidden, arch.PostNorms)

	b.FFNNorm = norm("ffn_norm", hidden, true)
	if arch.FusedGateUp {
		b.GateUp = matrix("ffn_up", l.said(2*ffn.n, "feed_forward_length twice"), hidden)
		b.Gate, b.Up = b.GateUp.rows(0, ffn.n), b.GateUp.rows(ffn.n, ffn.n)
	} else {
		b.Gate, b.Up = matrix("ffn_gate", ffn, hidden), matrix("ffn_up", ffn, hidden)
		b.GateB, b.UpB = bias("ffn_gate", ffn), bias("ffn_up", ffn)
	}
	b.Down, b.DownB = matrix("ffn_down", hidden, ffn), bias("ffn_down", hidden)
	b.FFNPostNorm = norm("post_ffw_norm", hidden, arch.PostNorms)
	return b
}

// rows returns a view of n rows of m, from one on.
func (m *Matrix) rows(from, n int) Matrix {
	if m.Data == nil {
		return Matrix{}
	}
	v := *m
	v.Rows, v.Data = n, m.Data[from*m.RowBytes:(from+n)*m.RowBytes:(from+n)*m.RowBytes]
	return v
}

// factors takes the divisors of the frequencies that the architecture may have.
func (l *loader) factors(m *Model) {
	take := func(name string, needed bool) []float32 {
		v := l.vector(name, dim{m.RopeDim / 2, "half of " + l.arch.Name + ".rope.dimension_count"}, needed)
		for i, x := range v {
			if !(x > 0) || math.IsInf(float64(x), 0) {
				l.fail(fmt.Errorf("tensor %s: factor %d is %v; it must be a positive number", name, i, x))
			}
		}
		return v
	}
	const long, short = "rope_factors_long.weight", "rope_factors_short.weight"
	switch scaled := m.rope.scaling == longropeScaling; {
	case scaled || l.arch.factors == longRope:
		needed := scaled || l.has(long) || l.has(short)
		m.rope.long, m.rope.short = take(long, needed), take(short, needed)
	case l.arch.factors == ropeFreqs:
		m.RopeFactors = take("rope_freqs.weight", false)
	}
}

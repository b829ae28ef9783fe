package transformer

import (
	"fmt"
	"math"

	"github.com/introgen/introgen/engine/gguf"
	"github.com/introgen/introgen/engine/quant"
)

// Reference is the forward pass in float64, over dequantized weights, written
// to be read: the oracle of the engines' tests. It is slow.
//
// The arithmetic is that of the llama architecture: RMS norm (arXiv:1910.07467),
// rotary embedding of interleaved pairs (arXiv:2104.09864), grouped-query
// attention (arXiv:2305.13245) and SwiGLU (arXiv:2002.05202).
type Reference struct {
	m     *Model
	freqs []float64
	k, v  [][][]float64 // [layer][position][KVHeads x HeadDim]
}

// NewReference returns a reference pass with an empty cache.
func NewReference(m *Model) *Reference {
	return &Reference{
		m: m, freqs: m.Frequencies(m.RopeFactors),
		k: make([][][]float64, m.Layers), v: make([][][]float64, m.Layers),
	}
}

// Step passes ids, whose first token stands at position pos, and returns the
// logits of the last one. Positions [0, pos) must have been passed before.
func (r *Reference) Step(ids []int32, pos int) ([]float64, error) {
	var logits []float64
	err := gguf.Fault(func() (err error) {
		logits, err = r.step(ids, pos)
		return err
	})
	return logits, err
}

func (r *Reference) step(ids []int32, pos int) ([]float64, error) {
	m := r.m
	if len(ids) == 0 || pos < 0 || m.Layers > 0 && pos > len(r.k[0]) {
		return nil, fmt.Errorf("reference: %d tokens at position %d", len(ids), pos)
	}
	xs := make([][]float64, len(ids))
	row := make([]float32, m.Hidden)
	for t, id := range ids {
		if id < 0 || int(id) >= m.Vocab {
			return nil, fmt.Errorf("reference: token %d is not in the vocabulary of %d", id, m.Vocab)
		}
		if err := quant.Dequantize(row, m.Embedding.Type, m.Embedding.Row(int(id))); err != nil {
			return nil, err
		}
		xs[t] = widen(row)
	}
	for l := range m.Blocks {
		if err := r.layer(l, xs, pos); err != nil {
			return nil, err
		}
	}
	last := xs[len(xs)-1:]
	out, err := matmul(&m.Output, nil, norms(last, m.OutputNorm, m.RMSEps))
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

// layer adds block l to the residual streams xs.
func (r *Reference) layer(l int, xs [][]float64, pos int) error {
	m, w := r.m, &r.m.Blocks[l]
	xn := norms(xs, w.AttnNorm, m.RMSEps)
	q, err := matmul(&w.Q, w.QB, xn)
	if err != nil {
		return err
	}
	k, err := matmul(&w.K, w.KB, xn)
	if err != nil {
		return err
	}
	v, err := matmul(&w.V, w.VB, xn)
	if err != nil {
		return err
	}
	r.k[l], r.v[l] = r.k[l][:pos], r.v[l][:pos]
	att := make([][]float64, len(xs))
	for t := range xs {
		r.rope(q[t], pos+t)
		r.rope(k[t], pos+t)
		r.k[l], r.v[l] = append(r.k[l], k[t]), append(r.v[l], v[t])
		att[t] = r.attend(l, q[t])
	}
	o, err := matmul(&w.O, w.OB, att)
	if err != nil {
		return err
	}
	add(xs, o)

	xn = norms(xs, w.FFNNorm, m.RMSEps)
	gate, err := matmul(&w.Gate, w.GateB, xn)
	if err != nil {
		return err
	}
	up, err := matmul(&w.Up, w.UpB, xn)
	if err != nil {
		return err
	}
	for t := range gate {
		for i, g := range gate[t] {
			gate[t][i] = g / (1 + math.Exp(-g)) * up[t][i]
		}
	}
	down, err := matmul(&w.Down, w.DownB, gate)
	if err != nil {
		return err
	}
	add(xs, down)
	return nil
}

// rope turns the pairs of every head of x by the angles of position pos.
func (r *Reference) rope(x []float64, pos int) {
	for h := 0; h < len(x); h += r.m.HeadDim {
		for i, f := range r.freqs {
			s, c := math.Sincos(float64(pos) * f)
			a, b := x[h+2*i], x[h+2*i+1]
			x[h+2*i], x[h+2*i+1] = a*c-b*s, a*s+b*c
		}
	}
}

// attend returns the attention of one token's queries over the cached positions.
func (r *Reference) attend(l int, q []float64) []float64 {
	m := r.m
	out := make([]float64, len(q))
	p := make([]float64, len(r.k[l]))
	for h := range m.Heads {
		at, kv := h*m.HeadDim, h/(m.Heads/m.KVHeads)*m.HeadDim
		top := math.Inf(-1)
		for i, k := range r.k[l] {
			p[i] = 0
			for j := range m.HeadDim {
				p[i] += q[at+j] * k[kv+j]
			}
			p[i] /= math.Sqrt(float64(m.HeadDim))
			top = max(top, p[i])
		}
		var sum float64
		for i := range p {
			p[i] = math.Exp(p[i] - top)
			sum += p[i]
		}
		for i, v := range r.v[l] {
			for j := range m.HeadDim {
				out[at+j] += p[i] / sum * v[kv+j]
			}
		}
	}
	return out
}

// norms returns the RMS norms of xs, weighted by w.
func norms(xs [][]float64, w []float32, eps float32) [][]float64 {
	out := make([][]float64, len(xs))
	for t, x := range xs {
		var sum float64
		for _, v := range x {
			sum += v * v
		}
		s := 1 / math.Sqrt(sum/float64(len(x))+float64(eps))
		out[t] = make([]float64, len(x))
		for i, v := range x {
			out[t][i] = v * s * float64(w[i])
		}
	}
	return out
}

// matmul returns w times each of xs, plus bias where there is one.
func matmul(w *Matrix, bias []float32, xs [][]float64) ([][]float64, error) {
	out := make([][]float64, len(xs))
	for t := range out {
		out[t] = make([]float64, w.Rows)
	}
	row := make([]float32, w.Cols)
	for r := range w.Rows {
		if err := quant.Dequantize(row, w.Type, w.Row(r)); err != nil {
			return nil, fmt.Errorf("tensor %s: %w", w.Name, err)
		}
		for t, x := range xs {
			var sum float64
			for i, v := range row {
				sum += float64(v) * x[i]
			}
			if bias != nil {
				sum += float64(bias[r])
			}
			out[t][r] = sum
		}
	}
	return out, nil
}

func add(xs, ys [][]float64) {
	for t, x := range xs {
		for i := range x {
			x[i] += ys[t][i]
		}
	}
}

func widen(x []float32) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(v)
	}
	return out
}

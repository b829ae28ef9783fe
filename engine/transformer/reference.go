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
// The arithmetic is that of the model's Architecture: RMS norm (arXiv:1910.07467),
// rotary embedding (arXiv:2104.09864), grouped-query attention (arXiv:2305.13245),
// over a window where a layer has one (arXiv:2310.06825), and a gated feed-forward
// (arXiv:2002.05202).
type Reference struct {
	m      *Model
	rotary []Rotary      // by layer
	k, v   [][][]float64 // [layer][position][KVHeads x HeadDim]
}

// NewReference returns a reference pass with an empty cache, for a run that reaches
// no position beyond those that the model knew before it was scaled.
func NewReference(m *Model) *Reference { return NewReferenceOf(m, 0) }

// NewReferenceOf returns a reference pass for a run that reaches so many positions.
func NewReferenceOf(m *Model, positions int) *Reference {
	r := &Reference{m: m, k: make([][][]float64, m.Layers), v: make([][][]float64, m.Layers)}
	for l := range m.Blocks {
		r.rotary = append(r.rotary, m.Rotary(l, positions))
	}
	return r
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
		if m.Architecture.ScaledEmbedding {
			// The root is a float32 in the programs that models are made with.
			scale := float64(float32(math.Sqrt(float64(m.Hidden))))
			for i := range xs[t] {
				xs[t][i] *= scale
			}
		}
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
		if m.Architecture.HeadNorms {
			normHeads(q[t], w.QNorm, m.RMSEps)
			normHeads(k[t], w.KNorm, m.RMSEps)
		}
		r.rope(l, q[t], pos+t)
		r.rope(l, k[t], pos+t)
		r.k[l], r.v[l] = append(r.k[l], k[t]), append(r.v[l], v[t])
		att[t] = r.attend(l, q[t])
	}
	o, err := matmul(&w.O, w.OB, att)
	if err != nil {
		return err
	}
	if m.Architecture.PostNorms {
		o = norms(o, w.AttnPostNorm, m.RMSEps)
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
			gate[t][i] = activate(m.Architecture.Activation, g) * up[t][i]
		}
	}
	down, err := matmul(&w.Down, w.DownB, gate)
	if err != nil {
		return err
	}
	if m.Architecture.PostNorms {
		down = norms(down, w.FFNPostNorm, m.RMSEps)
	}
	add(xs, down)
	return nil
}

// activate is the function of the gate.
func activate(a Activation, x float64) float64 {
	if a == GELU {
		return x / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x)))
	}
	return x / (1 + math.Exp(-x))
}

// rope turns the pairs of every head of x by the angles of position pos.
func (r *Reference) rope(l int, x []float64, pos int) {
	rotary := &r.rotary[l]
	for h := 0; h < len(x); h += r.m.HeadDim {
		for i, f := range rotary.Frequencies {
			at, to := h+2*i, h+2*i+1
			if r.m.Architecture.Rotation == Halves {
				at, to = h+i, h+i+r.m.RopeDim/2
			}
			s, c := math.Sincos(float64(pos) * f)
			a, b := x[at], x[to]
			x[at], x[to] = rotary.Scale*(a*c-b*s), rotary.Scale*(a*s+b*c)
		}
	}
}

// attend returns the attention of one token's queries over the cached positions.
func (r *Reference) attend(l int, q []float64) []float64 {
	m, w := r.m, &r.m.Blocks[l]
	keys, values := r.k[l], r.v[l]
	if from := len(keys) - w.Window; w.Window > 0 && from > 0 {
		keys, values = keys[from:], values[from:]
	}
	out := make([]float64, len(q))
	p := make([]float64, len(keys))
	for h := range w.Heads {
		at, kv := h*m.HeadDim, h/(w.Heads/w.KVHeads)*m.HeadDim
		top := math.Inf(-1)
		for i, k := range keys {
			p[i] = 0
			for j := range m.HeadDim {
				p[i] += q[at+j] * k[kv+j]
			}
			p[i] *= float64(m.AttnScale)
			top = max(top, p[i])
		}
		var sum float64
		for i := range p {
			p[i] = math.Exp(p[i] - top)
			sum += p[i]
		}
		for i, v := range values {
			for j := range m.HeadDim {
				out[at+j] += p[i] / sum * v[kv+j]
			}
		}
	}
	return out
}

// normHeads replaces each head of x by its RMS norm, weighted by w.
func normHeads(x []float64, w []float32, eps float32) {
	for h := 0; h < len(x); h += len(w) {
		copy(x[h:], norms([][]float64{x[h : h+len(w)]}, w, eps)[0])
	}
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

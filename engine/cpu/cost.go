package cpu

import (
	"slices"
	"strings"

	"github.com/introgen/introgen/engine/cpu/kernel"
	"github.com/introgen/introgen/engine/transformer"
)

// Operation is what a stage of a pass computes, whichever threads do it: the norm
// in front of a stage, which of one token each thread computes for itself, is one of
// its own.
//
// Bytes are those of weights, of the KV cache and of activations, each counted once,
// however many threads read it. Operations are additions, subtractions, multiplications,
// divisions, comparisons and values of a function (root, exp) on numbers, one
// each, so that a multiply-add is two. They are those of the definition of what is
// computed: to quantize and dequantize adds nothing. So count the kernels of Metal too.
type Operation struct {
	Layer  int    // the block, from 0; −1 outside of the blocks
	Name   string // in the model's terms: one of the constants
	Kernel string // what computes it: "mul_q8_0"
	Set    string // the instruction set of that; "" where it has none of its own
	Read   int64  // bytes
	// Written is the bytes that are written; what is added to is also read.
	Written int64
	Ops     int64
}

// The names of operations, in the order of a pass: where GGUF has a tensor for it, the
// tensor's.
const (
	OpPack         = "pack weights" // when the model is built
	OpEmbedding    = "token_embd"   // the rows of the tokens
	OpAttnNorm     = "attn_norm"
	OpQKV          = "attn_qkv" // the three products, and the norms and rotation of the heads of queries and keys
	OpAttention    = "attention"
	OpAttnQuantize = "attn_quantize"       // where a head is not whole blocks
	OpAttnOutput   = "attn_output"         // and its sum with the residual stream
	OpAttnPostNorm = "post_attention_norm" // of what attention adds, and that sum; attn_output has none then
	OpFFNNorm      = "ffn_norm"
	OpFFNGateUp    = "ffn_gate_up"   // both products, and SwiGLU or its like
	OpFFNDown      = "ffn_down"      // and its sum with the residual stream
	OpFFNPostNorm  = "post_ffw_norm" // of what the feed-forward adds, and that sum; ffn_down has none then
	OpOutputNorm   = "output_norm"
	OpOutput       = "output"
)

// places is where the operations of a stage stand among those of its pass.
type places struct{ post, norm, own int }

// embedding is the place of the first operation of every pass but that of packing.
const embedding = 0

// operations are what a pass of so many tokens at the position under way is made of.
// What depends on the position alone is computed anew in every pass.
func (e *Engine) operations(p *pass, tokens int) []Operation {
	if p.operations == nil {
		p.operations = make([]Operation, p.count)
		if p.stages[0].kind != packing {
			p.operations[embedding] = e.embeddingCost(tokens)
		}
		for i, s := range p.stages {
			if p.places[i].post > 0 {
				p.operations[p.places[i].post] = e.postNormCost(s)
			}
			if p.places[i].norm > 0 {
				p.operations[p.places[i].norm] = e.normCost(s)
			}
			p.operations[p.places[i].own] = e.cost(s)
		}
		return p.operations
	}
	for i, s := range p.stages {
		if s.kind == attend {
			p.operations[p.places[i].own] = e.cost(s)
		}
	}
	return p.operations
}

// place gives the operations of a pass their places.
func (p *pass) place() {
	if p.stages[0].kind != packing {
		p.count = embedding + 1
	}
	for _, s := range p.stages {
		at := places{}
		if s.post != nil {
			at.post = p.count
			p.count++
		}
		if s.tokens == 1 && (s.kind == qkv || s.kind == gateUp || s.kind == head) {
			at.norm = p.count
			p.count++
		}
		at.own = p.count
		p.count++
		p.places = append(p.places, at)
	}
}

// Bytes of so many values, as floats and as a panel has them: 16 bits each, and for each
// block a scale and a sum.
func floatBytes(values int) int64 { return 4 * int64(values) }
func panelBytes(values int) int64 { return int64(values/kernel.Block) * (2*kernel.Block + 4 + 4) }

// written is the bytes of activations that a stage leaves for the matrices behind
// it: floats, and a panel where there is one.
func written(v *vectors, values int) int64 {
	n := floatBytes(values)
	if v.panel != nil {
		n += panelBytes(values)
	}
	return n
}

// product adds to o what matrices cost that are multiplied with the same activations:
// each row with each of the tokens, and a bias added to each of the products.
func product(o *Operation, tokens int, biases [][]float32, ms ...*matrix) {
	fast, slow := false, false
	for _, w := range ms {
		fast, slow = fast || w.fast > 0, slow || w.slow()
		o.Read += int64(w.Rows) * int64(w.RowBytes)
		o.Ops += 2 * int64(w.Rows) * int64(w.Cols) * int64(tokens)
	}
	in := tokens * ms[0].Cols
	if fast {
		o.Read += panelBytes(in)
	}
	if slow {
		o.Read += floatBytes(in)
	}
	for _, b := range biases {
		o.Read += floatBytes(len(b))
		o.Ops += int64(len(b)) * int64(tokens)
	}
}

// kernelOf names the kernels that multiply matrices with so many tokens.
func kernelOf(tokens int, ms ...*matrix) string {
	var names []string
	add := func(kind string, w *matrix) {
		if n := kind + "_" + strings.ToLower(w.Type.String()); !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	for _, w := range ms {
		switch {
		case w.fast == 0:
		case w.tiles != nil:
			add("tile", w)
		case tokens == 1:
			add("mul", w)
		default: // rows are brought into the order of tiles first
			add("pack_tile", w)
		}
		if w.slow() {
			add("dot", w)
		}
	}
	return strings.Join(names, "+")
}

// cacheBytes is what the keys and values of so many positions of a layer take.
func (e *Engine) cacheBytes(b *block, positions int) int64 {
	return 2 * int64(positions) * int64(b.KVHeads) * int64(cachedBytes(e.m.HeadDim))
}

func (e *Engine) embeddingCost(tokens int) Operation {
	w := &e.m.Embedding
	o := Operation{Layer: -1, Name: OpEmbedding, Kernel: "expand_" + strings.ToLower(w.Type.String()),
		Read: int64(tokens) * int64(w.RowBytes), Written: floatBytes(tokens * w.Cols)}
	if e.m.Architecture.ScaledEmbedding {
		o.Ops = int64(tokens * w.Cols)
	}
	return o
}

// normOps is what an RMS norm of so many values computes, of so many vectors together: a
// square and a sum, and two products, of each value; and of each vector the mean, the
// epsilon, the root and its reciprocal.
func normOps(values, vectors int) int64 { return 4*int64(values) + 4*int64(vectors) }

// postNormCost is what it costs to norm the sum that waits for a stage, and to add it to
// the residual stream.
func (e *Engine) postNormCost(s stage) Operation {
	o := Operation{Layer: s.layer, Name: OpAttnPostNorm, Kernel: "rms_norm", Set: e.set.Name}
	if s.kind != normFFN && s.kind != gateUp {
		o.Layer, o.Name = s.layer-1, OpFFNPostNorm
	}
	values := s.tokens * e.m.Hidden
	o.Read = 2*floatBytes(values) + floatBytes(e.m.Hidden)
	o.Written = floatBytes(values)
	o.Ops = normOps(values, s.tokens) + int64(values)
	return o
}

// normCost is what the norm costs that a stage is, or starts from.
func (e *Engine) normCost(s stage) Operation {
	o := Operation{Layer: s.layer, Kernel: "rms_norm", Set: e.set.Name}
	switch s.kind {
	case normAttn, qkv:
		o.Name = OpAttnNorm
	case normFFN, gateUp:
		o.Name = OpFFNNorm
	default:
		o.Layer, o.Name = -1, OpOutputNorm
	}
	values := s.tokens * e.m.Hidden
	o.Read = floatBytes(values) + floatBytes(e.m.Hidden)
	o.Written = written(&e.xn, values)
	o.Ops = normOps(values, s.tokens)
	return o
}

// cost is what a stage costs beside its norm.
func (e *Engine) cost(s stage) Operation {
	o := Operation{Layer: s.layer, Set: e.set.Name}
	m, tokens := e.m, int64(s.tokens)
	var b *block
	width := 0
	if s.layer < len(e.blocks) {
		b = &e.blocks[s.layer]
		width = b.Heads * m.HeadDim
	}
	residual := func(name string, w *matrix, bias, post []float32) {
		o.Name, o.Kernel = name, kernelOf(s.tokens, w)
		product(&o, s.tokens, [][]float32{bias}, w)
		o.Written = floatBytes(s.tokens * w.Rows)
		if post == nil {
			o.Read += o.Written
			o.Ops += tokens * int64(w.Rows)
		}
	}
	switch s.kind {
	case normAttn, normFFN:
		return e.normCost(s)
	case qkv:
		o.Name, o.Kernel = OpQKV, kernelOf(s.tokens, &b.q, &b.k, &b.v)
		product(&o, s.tokens, [][]float32{b.QB, b.KB, b.VB}, &b.q, &b.k, &b.v)
		o.Read += 2 * floatBytes(s.tokens*e.angles())
		o.Written = floatBytes(s.tokens*width) + e.cacheBytes(b, s.tokens)
		o.Ops += 3 * tokens * int64((b.Heads+b.KVHeads)*m.RopeDim)
		if b.QNorm != nil {
			o.Read += floatBytes(len(b.QNorm) + len(b.KNorm))
			heads := s.tokens * (b.Heads + b.KVHeads)
			o.Ops += normOps(heads*m.HeadDim, heads)
		}
	case attend:
		o.Name, o.Kernel = OpAttention, "attend"
		first, _ := b.reach(e.pos + s.first)
		_, last := b.reach(e.pos + s.first + s.tokens - 1)
		o.Read = floatBytes(s.tokens*width) + e.cacheBytes(b, last-first)
		att := b.att.of(s.tokens)
		o.Written = floatBytes(s.tokens * width)
		if att.panel != nil && m.HeadDim%kernel.Block == 0 {
			o.Written += panelBytes(s.tokens * width)
		}
		for t := range s.tokens {
			from, to := b.reach(e.pos + s.first + t)
			n := int64(to - from)
			// A product with each key and each value; of each score the scale, the
			// largest, the difference from that, exp and the sum; the division at the end.
			o.Ops += int64(b.Heads) * (n*(4*int64(m.HeadDim)+5) + int64(m.HeadDim))
		}
	case quantAtt:
		o.Name, o.Kernel = OpAttnQuantize, "quantize"
		o.Read, o.Written = floatBytes(s.tokens*width), panelBytes(s.tokens*width)
	case project:
		residual(OpAttnOutput, &b.o, b.OB, b.AttnPostNorm)
	case gateUp:
		o.Name, o.Kernel = OpFFNGateUp, kernelOf(s.tokens, &b.gate, &b.up)
		product(&o, s.tokens, [][]float32{b.GateB, b.UpB}, &b.gate, &b.up)
		o.Written = written(b.h.of(s.tokens), s.tokens*b.FFN)
		o.Ops += e.gateOps() * tokens * int64(b.FFN)
	case down:
		residual(OpFFNDown, &b.down, b.DownB, b.FFNPostNorm)
	case head:
		o.Layer, o.Name, o.Kernel = -1, OpOutput, kernelOf(s.tokens, &e.output)
		product(&o, s.tokens, nil, &e.output)
		o.Written = floatBytes(m.Vocab)
		o.Ops += int64(m.Vocab) // to find the largest
	case packing:
		o.Layer, o.Name = -1, OpPack
		var names []string
		for _, j := range e.jobs {
			o.Read += int64(j.end-j.row) * int64(j.w.RowBytes)
			if n := "pack_" + strings.ToLower(j.w.Type.String()); !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
		o.Kernel, o.Written = strings.Join(names, "+"), o.Read
	}
	return o
}

// gateOps is what the gate computes of each value: exp, a sum, a quotient and a product;
// and for GELU the exponent, which is x times a number and x³ times another.
func (e *Engine) gateOps() int64 {
	if e.m.Architecture.Activation == transformer.GELU {
		return 4 + 4
	}
	return 4
}

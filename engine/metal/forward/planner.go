package forward

import (
	"encoding/binary"
	"fmt"
	"iter"
	"math"
)

// Planner makes the steps of one model. It remembers, between forward passes,
// which buffers hold the weights, the masks and the keys and values of each
// layer, but never what is in them. It is used by one goroutine at a time.
type Planner struct {
	builder
	config Config
	w      *weights
	built  bool

	cos, sin, negInf Buf
	embedding        Buf // the table as float32
	output           Buf // the output matrix in its blocks, or as float32
	outputNorm       Buf
	layers           []layer
	masks            map[[2]int]Buf // by tokens and keys

	logits Buf // of the latest forward pass
}

// layer is what a layer keeps on the device.
type layer struct {
	layerWeights
	number int // from 0
	bufs   struct{ q, k, v, o, gate, down, up, attnNorm, ffnNorm Buf }

	// The keys and values of the positions [0, cached), each kvHeads × cached
	// × headDim; no buffers where cached is 0.
	keys, values Buf
	cached       int
}

// New checks that candle's plan can run the model.
func New(c Config) (*Planner, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	w, err := c.resolve()
	if err != nil {
		return nil, err
	}
	return &Planner{builder: builder{architecture: c.Architecture}, config: c, w: w, masks: map[[2]int]Buf{}}, nil
}

// Cached is the number of positions whose keys and values are on the device.
func (p *Planner) Cached() int {
	if len(p.layers) == 0 {
		return 0
	}
	return p.layers[0].cached
}

// CacheBytes is what these keys and values take, as float32.
func (p *Planner) CacheBytes() int64 {
	const keyAndValue, float32Bytes = 2, 4
	c := &p.config
	return keyAndValue * float32Bytes * int64(c.Layers) * int64(c.KVHeads) * int64(c.HeadDim) * int64(p.Cached())
}

// Build is the steps that make the rotary tables and bring the weights to the
// device (from_gguf in quantized_llama.rs). They are run once, to their end,
// before any other.
func (p *Planner) Build() iter.Seq[*Step] {
	return p.sequence(func() {
		p.outside(PartRotary)
		p.rotaryTables()
		p.outside(PartWeights)
		p.negInf = p.upload(floats(float32(math.Inf(-1))))

		embedding := p.uploadWeight(p.w.embedding)
		p.embedding = p.expand(p.w.embedding, embedding)
		p.outputNorm = p.uploadWeight(p.w.outputNorm)
		p.expandAll(uploaded{p.w.outputNorm, &p.outputNorm})
		p.output = embedding // tied
		if p.config.OwnOutput {
			p.output = p.uploadWeight(p.w.output)
		}
		for i, w := range p.w.layers {
			l := layer{layerWeights: w, number: i}
			p.part.Layer = i
			b := &l.bufs
			b.q, b.k, b.v, b.o = p.uploadWeight(w.q), p.uploadWeight(w.k), p.uploadWeight(w.v), p.uploadWeight(w.o)
			b.gate, b.down, b.up = p.uploadWeight(w.gate), p.uploadWeight(w.down), p.uploadWeight(w.up)
			p.matrices(uploaded{w.gate, &b.gate}, uploaded{w.down, &b.down}, uploaded{w.up, &b.up})
			b.attnNorm, b.ffnNorm = p.uploadWeight(w.attnNorm), p.uploadWeight(w.ffnNorm)
			p.matrices(uploaded{w.q, &b.q}, uploaded{w.k, &b.k}, uploaded{w.v, &b.v}, uploaded{w.o, &b.o})
			p.expandAll(uploaded{w.attnNorm, &b.attnNorm}, uploaded{w.ffnNorm, &b.ffnNorm})
			p.layers = append(p.layers, l)
		}
		p.outside(PartWeights)
		p.matrices(uploaded{p.w.output, &p.output})
		if p.config.OwnOutput {
			p.release(embedding) // from_gguf keeps it to its end
		}
		p.emit(Step{Op: Synchronize})
		p.built = true
	})
}

// rotaryTables makes cos and sin of every position times every frequency.
func (p *Planner) rotaryTables() {
	pairs := p.config.RopeDim / 2
	theta := p.upload(floats(p.config.theta()...))
	positions := make([]byte, 0, 4*MaxPositions)
	for i := range uint32(MaxPositions) {
		positions = binary.LittleEndian.AppendUint32(positions, i)
	}
	arange := p.upload(positions)
	index := p.unary("Cast", "cast_u32_f32", arange, MaxPositions)
	angles := p.alloc(MaxPositions * pairs)
	p.gemm(gemm{batch: 1, m: MaxPositions, n: pairs, k: 1, strideA: MaxPositions, strideB: pairs}, index, theta, angles)
	p.cos = p.unary("Unary", "cos_f32", angles, MaxPositions*pairs)
	p.sin = p.unary("Unary", "sin_f32", angles, MaxPositions*pairs)
	p.release(theta, arange, index, angles)
}

// uploaded is a weight, and the buffer that it lies in.
type uploaded struct {
	w   Weight
	buf *Buf
}

// expandAll puts each weight as float32 in place of its buffer.
func (p *Planner) expandAll(weights ...uploaded) {
	for _, u := range weights {
		blocks := *u.buf
		*u.buf = p.expand(u.w, blocks)
		p.release(blocks)
	}
}

// matrices are weights to multiply by: those that candle has no matrix kernel
// for are expanded.
func (p *Planner) matrices(weights ...uploaded) {
	for _, u := range weights {
		if u.w.Format.Float() {
			p.expandAll(u)
		}
	}
}

// expand makes the elements of w, which the GPU has as blocks, float32: candle
// gets them back, dequantizes them on the CPU, and uploads the result.
func (p *Planner) expand(w Weight, blocks Buf) Buf {
	staging := p.fetch(blocks, w.bytes())
	x := p.result(Step{Op: UploadExpanded, Src: staging, Name: w.Name, Bytes: 4 * w.Rows * w.Cols})
	p.release(staging)
	return x
}

// checkStep says why a forward pass cannot be made.
func (p *Planner) checkStep(ids []uint32, pos int) error {
	switch {
	case !p.built:
		return fmt.Errorf("metal plan: a forward pass before the model was built")
	case len(ids) == 0:
		return fmt.Errorf("metal plan: a forward pass over no tokens")
	case pos < 0 || pos > p.Cached():
		return fmt.Errorf("metal plan: position %d does not follow the %d positions passed before", pos, p.Cached())
	}
	if most, whose := Positions(p.config.Context); len(ids) > most-pos {
		return &LimitError{Position: pos, Tokens: len(ids), Positions: most, Whose: whose}
	}
	for i, id := range ids {
		if int(id) >= p.config.Vocab {
			return fmt.Errorf("metal plan: token %d of %d is %d; the vocabulary has %d entries", i, len(ids), id, p.config.Vocab)
		}
	}
	return nil
}

// Step is one forward pass over ids, the first of which stands at position
// pos, up to the greedy next token, which the Take step hands out as a uint32.
// A caller that stops before the end must not use the planner again.
func (p *Planner) Step(ids []uint32, pos int) (iter.Seq[*Step], error) {
	if err := p.checkStep(ids, pos); err != nil {
		return nil, err
	}
	return p.sequence(func() {
		p.release(p.logits)
		p.logits = 0
		tokens := p.upload(words(ids))
		p.logits = p.forward(tokens, len(ids), pos)
		p.outside(PartNext)
		next := p.argmax(p.logits, p.config.Vocab)
		p.take(next, 4)
		p.release(next, tokens)
	}), nil
}

// ReadLogits hands out the logits of the latest Step: Vocab float32 values.
func (p *Planner) ReadLogits() (iter.Seq[*Step], error) {
	if p.logits == 0 {
		return nil, fmt.Errorf("metal plan: logits before the first forward pass")
	}
	return p.sequence(func() {
		p.outside(PartLogits)
		p.take(p.logits, 4*p.config.Vocab)
	}), nil
}

func (p *Planner) sequence(body func()) iter.Seq[*Step] {
	return func(yield func(*Step) bool) {
		p.yield, p.stopped = yield, false
		body()
		p.yield = nil
	}
}

func floats(v ...float32) []byte {
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

func words(v []uint32) []byte {
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, x)
	}
	return b
}

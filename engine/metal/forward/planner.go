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
	model  model
	w      *weights
	built  bool

	cos, sin   tensor // rows of RopeDim/2, one for each position
	negInf     Buf
	embedding  Buf    // the table as float32
	output     loaded // the output matrix in its blocks, or as float32
	outputNorm loaded
	layers     []layer
	masks      map[[2]int]Buf // by tokens and keys

	logits Buf // of the latest forward pass
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
	return &Planner{builder: builder{architecture: c.Architecture}, config: c, model: models[c.Model], w: w, masks: map[[2]int]Buf{}}, nil
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
// device, in the order of candle's from_gguf. They are run once, to their end,
// before any other.
func (p *Planner) Build() iter.Seq[*Step] {
	return p.sequence(func() {
		p.model.build(p)
		p.emit(Step{Op: Synchronize})
		p.built = true
	})
}

// load uploads weights.
func (p *Planner) load(weights ...*loaded) {
	for _, w := range weights {
		if w.Name != "" {
			w.buf = p.uploadWeight(w.Weight)
		}
	}
}

// expandAll puts each weight as float32 in place of its buffer.
func (p *Planner) expandAll(weights ...*loaded) {
	for _, w := range weights {
		if w.buf == 0 {
			continue
		}
		blocks := w.buf
		w.buf = p.expand(w.Weight, blocks)
		p.release(blocks)
	}
}

// matrices are weights to multiply by: those that candle has no matrix kernel
// for are expanded.
func (p *Planner) matrices(weights ...*loaded) {
	for _, w := range weights {
		if w.Format.Float() {
			p.expandAll(w)
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
	if most, whose := p.config.positions(); len(ids) > most-pos {
		return &LimitError{Position: pos, Tokens: len(ids), Positions: most, Whose: whose}
	}
	if m, ok := p.model.(interface {
		checkPass(c *Config, n, pos int) error
	}); ok {
		if err := m.checkPass(&p.config, len(ids), pos); err != nil {
			return err
		}
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
		p.logits = p.model.forward(p, tokens, len(ids), pos)
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

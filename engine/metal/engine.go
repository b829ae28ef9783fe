package metal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"unsafe"

	"github.com/introgen/introgen/engine"
	"github.com/introgen/introgen/engine/gguf"
	"github.com/introgen/introgen/engine/metal/forward"
	"github.com/introgen/introgen/engine/metal/kernels"
	"github.com/introgen/introgen/engine/metal/pool"
	"github.com/introgen/introgen/engine/metal/signatures"
	"github.com/introgen/introgen/engine/quant"
	"github.com/introgen/introgen/engine/transformer"
	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/trace/names"
)

// Engine is a model on a Metal device. It implements engine.Model.
type Engine struct {
	d       *Device
	planner *forward.Planner
	needs   *forward.Needs // nil where nothing is compiled by phases
	weights map[string]weight
	bufs    map[forward.Buf]*pool.Item[*buffer]
	context int    // positions
	whose   string // limit that is
	vocab   int
	logits  []float32
	taken   []byte // what the latest Take step handed out

	file   *gguf.File         // whose map the device reads; nil where all was copied
	views  []*buffer          // of that map
	placed map[string]*buffer // the tensors in it
}

var (
	_ engine.Model   = (*Engine)(nil)
	_ engine.Bounded = (*Engine)(nil)
)

// weight is a tensor as it is uploaded.
type weight struct {
	typ     quant.Type
	data    []byte
	decoded bool // by transformer.Load: data is not in the file
}

// errClosed is what a closed engine answers.
var errClosed = errors.New("metal: the model was closed")

// New brings the model to the device, whose file must stay open meanwhile, and
// makes its rotary tables. What candle's plan cannot run is an error before
// anything is uploaded.
func (d *Device) New(m *transformer.Model) (*Engine, error) { return d.build(m, nil) }

// NewMapped is New, except that the device reads the matrices in the map of f,
// from which m was loaded, as far as Place finds them a place there. f must stay
// open until the engine is closed, which waits for what is in flight.
func (d *Device) NewMapped(m *transformer.Model, f *gguf.File) (*Engine, error) {
	if f.Map() == nil {
		return nil, fmt.Errorf("metal: weights that are not copied need a mapped file, %s was opened with %s: only %s maps it", f.Path, f.IO, gguf.MMap)
	}
	return d.build(m, f)
}

// build makes an engine over the map of f, or where that is nil, over copies.
func (d *Device) build(m *transformer.Model, f *gguf.File) (*Engine, error) {
	if d.failed != nil {
		return nil, d.failed
	}
	if err := check(m); err != nil {
		return nil, err
	}
	e := &Engine{d: d, weights: weightsOf(m), bufs: map[forward.Buf]*pool.Item[*buffer]{}, vocab: m.Vocab}
	e.context, e.whose = forward.Positions(m.Architecture.Name, m.Context)
	var err error
	if e.planner, err = forward.New(d.plan().config(m, e.weights)); err != nil {
		return nil, err
	}
	if f != nil {
		err = e.mapWeights(f)
	}
	if err == nil {
		err = e.foresee(m)
	}
	if err == nil {
		// Reading the weights may meet a file that has shrunk.
		err = gguf.Fault(func() error { return e.run(e.planner.Build()) })
	}
	e.weights = nil
	if err != nil {
		e.free()
		return nil, noRoom(err)
	}
	return e, nil
}

// Fit says what of set does not fit the kernels that m needs, an *signatures.Error, or
// what of m there is no plan for. It reads the sources, and costs about
// 0.2 s for candle's.
func Fit(set *kernels.Set, m *transformer.Model, a Arithmetic) error {
	if err := check(m); err != nil {
		return err
	}
	return signatures.Check(set, plan{arithmetic: a}.config(m, weightsOf(m)))
}

// plan is whose arithmetic the device's engines compute.
func (d *Device) plan() plan {
	return plan{d.arithmetic, d.positions, d.metal.Info().Architecture}
}

// weightsOf lists the tensors by their names in the file. Norms and biases, which
// transformer.Load has decoded, go up as float32.
func weightsOf(m *transformer.Model) map[string]weight {
	w := map[string]weight{}
	matrix := func(x *transformer.Matrix) {
		if x.Name != "" {
			w[x.Name] = weight{typ: x.Type, data: x.Data}
		}
	}
	vector := func(name string, v []float32) {
		if v != nil {
			w[name] = weight{typ: quant.F32, data: bytesOf(v), decoded: true}
		}
	}
	matrix(&m.Embedding)
	matrix(&m.Output)
	vector("output_norm.weight", m.OutputNorm)
	for i := range m.Blocks {
		b := &m.Blocks[i]
		// What is fused stands behind its parts, which may bear its name.
		for _, x := range []*transformer.Matrix{&b.Q, &b.K, &b.V, &b.O, &b.Gate, &b.Up, &b.Down, &b.QKV, &b.GateUp} {
			matrix(x)
		}
		of := func(name string) string { return fmt.Sprintf("blk.%d.%s", i, name) }
		vector(of("attn_norm.weight"), b.AttnNorm)
		vector(of("ffn_norm.weight"), b.FFNNorm)
		vector(of("attn_q_norm.weight"), b.QNorm)
		vector(of("attn_k_norm.weight"), b.KNorm)
		vector(of("post_attention_norm.weight"), b.AttnPostNorm)
		vector(of("post_ffw_norm.weight"), b.FFNPostNorm)
		if b.QKV.Name != "" {
			if b.QB != nil {
				vector(of("attn_qkv.bias"), slices.Concat(b.QB, b.KB, b.VB))
			}
			continue
		}
		for _, bias := range biases(b) {
			vector(of(bias.of+".bias"), bias.values)
		}
	}
	return w
}

// bytesOf is the memory of v. Every platform that Metal or its software driver
// runs on is little-endian, as GGUF is.
func bytesOf(v []float32) []byte {
	if len(v) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&v[0])), 4*len(v))
}

// Step implements engine.Model.
func (e *Engine) Step(ids []int32, pos int) (int32, error) {
	if e.planner == nil {
		return 0, errClosed
	}
	words := make([]uint32, len(ids))
	for i, id := range ids {
		words[i] = uint32(id) // a negative id is beyond every vocabulary
	}
	steps, err := e.planner.Step(words, pos)
	if err != nil {
		return 0, err
	}
	e.logits = nil
	if e.needs != nil {
		// What cannot be foreseen is compiled where it is needed.
		list, _ := e.needs.Next(len(ids), pos)
		e.d.begin(list)
	}
	if err := e.run(steps); err != nil {
		return 0, err
	}
	return int32(binary.LittleEndian.Uint32(e.taken)), nil
}

// Logits implements engine.Model. It copies them from the device when first
// asked after a Step, which costs a command buffer of its own.
func (e *Engine) Logits() ([]float32, error) {
	if e.planner == nil {
		return nil, errClosed
	}
	if e.logits != nil {
		return e.logits, nil
	}
	steps, err := e.planner.ReadLogits()
	if err != nil {
		return nil, err
	}
	if err := e.run(steps); err != nil {
		return nil, err
	}
	logits := make([]float32, e.vocab)
	for i := range logits {
		v := math.Float32frombits(binary.LittleEndian.Uint32(e.taken[4*i:]))
		if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, &engine.NonFiniteError{Layer: -1, Where: "output", Value: v}
		}
		logits[i] = v
	}
	e.logits = logits
	return logits, nil
}

// Context implements engine.Model: the model's own context, or the 4096
// positions of candle's rotary tables.
func (e *Engine) Context() int { return e.context }

// ContextLimit implements engine.Bounded.
func (e *Engine) ContextLimit() string { return e.whose }

// CacheBytes is what the keys and values of the positions take that have passed.
func (e *Engine) CacheBytes() int64 { return e.planner.CacheBytes() }

// Close implements engine.Model. The device stays open.
func (e *Engine) Close() error {
	if e.planner == nil {
		return nil
	}
	e.planner = nil
	e.free()
	return nil
}

// free gives all buffers back to the pools and releases them.
func (e *Engine) free() {
	for _, item := range e.bufs {
		item.Free()
	}
	clear(e.bufs)
	e.unmapWeights()
	e.d.sweep()
}

// run does the steps in order. After an error the planner no longer knows what
// is on the device, so neither the engine nor its device is used again.
func (e *Engine) run(steps iter.Seq[*forward.Step]) error {
	if e.d.failed != nil {
		return e.d.failed
	}
	for s := range steps {
		if err := e.do(s); err != nil {
			err = e.d.outside(e.blame(err))
			e.d.abandon()
			e.d.failed = fmt.Errorf("metal: the device is unusable since an earlier failure: %w", err)
			return err
		}
	}
	return nil
}

func (e *Engine) do(s *forward.Step) (err error) {
	var item *pool.Item[*buffer]
	switch s.Op {
	case forward.Upload:
		item, err = e.d.upload(s.Data)
	case forward.UploadWeight:
		span := metalshim.Begin(e.d.metal, names.SpanWeights, s.Name, int64(len(e.weights[s.Name].data)))
		item, err = e.weight(s.Name)
		span.End()
	case forward.UploadExpanded:
		span := metalshim.Begin(e.d.metal, names.SpanWeights, s.Name, int64(s.Bytes))
		item, err = e.expand(s)
		span.End()
	case forward.Alloc:
		item, err = e.d.take(&e.d.private, s.Bytes, metalshim.Private)
	case forward.Stage:
		item, err = e.d.take(&e.d.shared, s.Bytes, metalshim.Shared)
	case forward.Free:
		e.bufs[s.Buf].Free()
		delete(e.bufs, s.Buf)
		return nil
	case forward.Run:
		return e.d.dispatch(s.Dispatch, e.find)
	case forward.Copy:
		return e.d.blit(e.bufs[s.Buf].Buffer, e.bufs[s.Src].Buffer, s)
	case forward.Fill:
		return e.d.fill(e.bufs[s.Buf].Buffer, s)
	case forward.Wait:
		return e.d.wait()
	case forward.Synchronize:
		return e.d.synchronize()
	case forward.Take:
		e.taken = append(e.taken[:0], e.bufs[s.Src].Buffer.Contents()[:s.Bytes]...)
		return nil
	default:
		return fmt.Errorf("metal: step %v is unknown", s.Op)
	}
	if err != nil {
		return err
	}
	e.bufs[s.Buf] = item
	return nil
}

func (e *Engine) find(b forward.Buf) (*buffer, error) {
	item, ok := e.bufs[b]
	if !ok {
		return nil, fmt.Errorf("buffer %d of the plan is not on the device", b)
	}
	return item.Buffer, nil
}

// expand decodes a tensor on the CPU and uploads it as float32.
func (e *Engine) expand(s *forward.Step) (*pool.Item[*buffer], error) {
	w := e.weights[s.Name]
	values := make([]float32, s.Bytes/4)
	if err := quant.Dequantize(values, w.typ, e.bufs[s.Src].Buffer.Contents()[:len(w.data)]); err != nil {
		return nil, fmt.Errorf("tensor %s: %w", s.Name, err)
	}
	return e.d.upload(bytesOf(values))
}

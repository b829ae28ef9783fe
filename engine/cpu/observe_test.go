package cpu_test

import (
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/introgen/introgen/engine/cpu"
	"github.com/introgen/introgen/engine/quant"
	"github.com/introgen/introgen/engine/transformer/transformertest"
	"github.com/introgen/introgen/models"
	"github.com/introgen/introgen/models/modeltest"
)

// seen is an observer that keeps all that it is told.
type seen struct {
	began  time.Time
	passes []onePass
}

type onePass struct {
	operations []cpu.Operation
	work       [][]cpu.Work
}

func (s *seen) Now() time.Duration { return time.Since(s.began) }

func (s *seen) Passed(operations []cpu.Operation, work [][]cpu.Work) {
	p := onePass{operations: slices.Clone(operations)}
	for _, w := range work {
		p.work = append(p.work, slices.Clone(w))
	}
	s.passes = append(s.passes, p)
}

// sum adds up the operations of a pass that have the name, of all layers.
func (p onePass) sum(name string) (n int, read, written, ops int64) {
	for _, o := range p.operations {
		if name == "" || o.Name == name {
			n, read, written, ops = n+1, read+o.Read, written+o.Written, ops+o.Ops
		}
	}
	return n, read, written, ops
}

// cost is what an operation is held to, by hand.
type cost struct {
	layer              int
	name, kernel       string
	read, written, ops int64
}

func held(t *testing.T, p onePass, set string, want []cost) {
	t.Helper()
	for _, w := range want {
		at := slices.IndexFunc(p.operations, func(o cpu.Operation) bool { return o.Layer == w.layer && o.Name == w.name })
		if at < 0 {
			t.Errorf("there is no %s of layer %d", w.name, w.layer)
			continue
		}
		of := set
		if w.name == cpu.OpEmbedding {
			of = "" // plain Go
		}
		if o := p.operations[at]; o != (cpu.Operation{Layer: w.layer, Name: w.name, Kernel: w.kernel, Set: of, Read: w.read, Written: w.written, Ops: w.ops}) {
			t.Errorf("%+v, by hand %+v", o, w)
		}
	}
}

// TestStepCosts holds a decode step of SmolLM2-135M in Q8_0 to figures computed by hand
// from its shapes: hidden 576, 9 heads and 3 of keys and values of 64, feed-forward
// 1536, vocabulary 49152, 30 layers; a block of 32 values takes 34 bytes in the
// file, 72 in a panel and 68 in the cache. Step 1 after 13 tokens looks at 14 positions.
func TestStepCosts(t *testing.T) {
	m := model(t, modeltest.Path(t, models.StandIn))
	for _, packed := range []cpu.Pack{cpu.PackOff, cpu.PackOn} {
		s := &seen{began: time.Now()}
		e := newEngine(t, m, cpu.Options{Threads: 2, Pack: packed, Observer: s})
		next, err := e.Step(transformertest.Prompt, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Step([]int32{next}, len(transformertest.Prompt)); err != nil {
			t.Fatal(err)
		}
		set, product := e.Describe().Set, "mul_q8_0"
		if packed == cpu.PackOn {
			product = "tile_q8_0"
			held(t, s.passes[0], set, []cost{{-1, cpu.OpPack, "pack_q8_0", 142_884_864, 142_884_864, 0}})
			s.passes = s.passes[1:]
		}
		if len(s.passes) != 2 {
			t.Fatalf("%d passes, not 2", len(s.passes))
		}
		step := s.passes[1]
		held(t, step, set, []cost{
			{-1, cpu.OpEmbedding, "expand_q8_0", 612, 2304, 0},
			{0, cpu.OpAttnNorm, "rms_norm", 2 * 2304, 2304 + 18*72, 4*576 + 4},
			{0, cpu.OpQKV, product, 960*612 + 1296 + 512, 4*576 + 6*136, 2*960*576 + 3*12*64},
			{29, cpu.OpAttention, "attend", 2304 + 2*14*3*136, 2304 + 1296, 9 * (14*(2*64+2*64+5) + 64)},
			{29, cpu.OpAttnOutput, product, 576*612 + 1296 + 2304, 2304, 2*576*576 + 576},
			{7, cpu.OpFFNNorm, "rms_norm", 2 * 2304, 2304 + 18*72, 4*576 + 4},
			{7, cpu.OpFFNGateUp, product, 2*1536*612 + 1296, 4*1536 + 48*72, 2*2*1536*576 + 4*1536},
			{7, cpu.OpFFNDown, product, 576*1632 + 48*72 + 2304, 2304, 2*1536*576 + 576},
			{-1, cpu.OpOutputNorm, "rms_norm", 2 * 2304, 2304 + 18*72, 4*576 + 4},
			{-1, cpu.OpOutput, product, 49152*612 + 1296, 4 * 49152, 2*49152*576 + 49152},
		})
		// Every matrix is read once: their bytes in the file, and beside them only
		// activations, norms and the cache, of which a layer has less than 50 kB.
		n, read, _, ops := step.sum("")
		weights := int64(30*(960*612+576*612+2*1536*612+576*1632) + 49152*612)
		if weights != m.Bytes() || read < weights || read > weights+30*50_000 || n != 1+30*7+2 {
			t.Errorf("%d operations read %d bytes, the matrices have %d", n, read, m.Bytes())
		}
		if multiply := 2 * int64(30*(960*576+576*576+3*1536*576)+49152*576); ops < multiply || ops > multiply*102/100 {
			t.Errorf("%d operations, %d of them in products with matrices", ops, multiply)
		}
	}
}

// TestPromptCosts holds a prompt of three tokens to figures by hand, in a model with
// biases whose heads of 16 are not whole blocks: hidden 64, 4 heads and 2 of
// keys and values, feed-forward 160, vocabulary 80, 2 layers. In the last layer
// only the last token goes on.
func TestPromptCosts(t *testing.T) {
	m := model(t, transformertest.Write(t, transformertest.Config{Type: quant.Q8_0, Embedding: quant.Q8_0, Bias: true, FFNBias: true, FFN: 160}))
	s := &seen{began: time.Now()}
	e := newEngine(t, m, cpu.Options{Threads: 2, Observer: s})
	if _, err := e.Step([]int32{1, 2, 3}, 0); err != nil {
		t.Fatal(err)
	}
	const panel = 6 * 72 // of 3 tokens of 64 values
	held(t, s.passes[0], e.Describe().Set, []cost{
		{-1, cpu.OpEmbedding, "expand_q8_0", 3 * 68, 768, 0},
		{0, cpu.OpAttnNorm, "rms_norm", 768 + 256, 768 + panel, 4*192 + 3*4},
		{0, cpu.OpQKV, "pack_tile_q8_0", 128*68 + panel + 4*128 + 2*4*3*16, 3 * (4*64 + 4*68), 2*128*64*3 + 128*3 + 3*3*6*16},
		{0, cpu.OpAttention, "attend", 768 + 2*3*2*68, 768, 4 * ((1+2+3)*(2*16+2*16+5) + 3*16)},
		{0, cpu.OpAttnQuantize, "quantize", 768, panel, 0},
		{0, cpu.OpAttnOutput, "pack_tile_q8_0", 64*68 + panel + 256 + 768, 768, 2*64*64*3 + 192 + 192},
		{0, cpu.OpFFNNorm, "rms_norm", 768 + 256, 768 + panel, 4*192 + 3*4},
		{0, cpu.OpFFNGateUp, "pack_tile_q8_0", 2*160*68 + panel + 2*640, 4*480 + 15*72, 2*2*160*64*3 + 2*160*3 + 4*480},
		{0, cpu.OpFFNDown, "pack_tile_q8_0", 64*170 + 15*72 + 256 + 768, 768, 2*160*64*3 + 192 + 192},
		{1, cpu.OpAttention, "attend", 256 + 2*3*2*68, 256, 4 * (3*(2*16+2*16+5) + 16)},
		{1, cpu.OpAttnOutput, "mul_q8_0", 64*68 + 2*72 + 256 + 256, 256, 2*64*64 + 64 + 64},
		{-1, cpu.OpOutputNorm, "rms_norm", 256 + 256, 256 + 2*72, 4*64 + 4},
		{-1, cpu.OpOutput, "mul_q8_0", 80*68 + 2*72, 4 * 80, 2*80*64 + 80},
	})
}

// TestGemmaCosts holds a prompt of nine tokens, and the step behind it, to figures by hand,
// where heads and what is added are normed, halves are turned, the gate is GELU and
// attention reaches five positions: hidden 64, 4 heads and 2 of keys and values of 16,
// feed-forward 96, vocabulary 80, 2 layers.
func TestGemmaCosts(t *testing.T) {
	m := model(t, transformertest.Write(t, transformertest.Config{Architecture: "gemma3", Type: quant.Q8_0, Embedding: quant.Q8_0, Window: 5}))
	s := &seen{began: time.Now()}
	e := newEngine(t, m, cpu.Options{Threads: 2, Observer: s})
	if _, err := e.Step([]int32{1, 2, 3, 4, 5, 6, 7, 8, 9}, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Step([]int32{10}, 9); err != nil {
		t.Fatal(err)
	}
	const panel = 2 * 72 // of 64 values
	held(t, s.passes[0], e.Describe().Set, []cost{
		{-1, cpu.OpEmbedding, "expand_q8_0", 9 * 68, 9 * 256, 9 * 64},
		{0, cpu.OpQKV, "pack_tile_q8_0", 128*68 + 9*panel + 9*2*4*8 + 2*4*16, 9 * (4*64 + 4*68), 9 * (2*128*64 + 3*6*16 + 6*(4*16+4))},
		{0, cpu.OpAttention, "attend", 9*256 + 2*9*2*68, 9 * 256, 4 * ((1+2+3+4+5*5)*(2*16+2*16+5) + 9*16)},
		{0, cpu.OpAttnOutput, "pack_tile_q8_0", 64*68 + 9*panel, 9 * 256, 9 * 2 * 64 * 64},
		{0, cpu.OpAttnPostNorm, "rms_norm", 9*2*256 + 256, 9 * 256, 9 * (4*64 + 4 + 64)},
		{0, cpu.OpFFNPostNorm, "rms_norm", 9*2*256 + 256, 9 * 256, 9 * (4*64 + 4 + 64)},
		{1, cpu.OpAttention, "attend", 256 + 2*5*2*68, 256, 4 * (5*(2*16+2*16+5) + 16)},
		{1, cpu.OpAttnPostNorm, "rms_norm", 3 * 256, 256, 4*64 + 4 + 64},
	})
	held(t, s.passes[1], e.Describe().Set, []cost{
		{-1, cpu.OpEmbedding, "expand_q8_0", 68, 256, 64},
		{0, cpu.OpAttnNorm, "rms_norm", 512, 256 + panel, 4*64 + 4},
		{1, cpu.OpQKV, "mul_q8_0", 128*68 + panel + 2*4*8 + 2*4*16, 4*64 + 4*68, 2*128*64 + 3*6*16 + 6*(4*16+4)},
		{1, cpu.OpAttention, "attend", 256 + 2*5*2*68, 256, 4 * (5*(2*16+2*16+5) + 16)},
		{1, cpu.OpAttnOutput, "mul_q8_0", 64*68 + panel, 256, 2 * 64 * 64},
		{1, cpu.OpAttnPostNorm, "rms_norm", 3 * 256, 256, 4*64 + 4 + 64},
		{1, cpu.OpFFNNorm, "rms_norm", 512, 256 + panel, 4*64 + 4},
		{1, cpu.OpFFNGateUp, "mul_q8_0", 2*96*68 + panel, 4*96 + 3*72, 2*2*96*64 + 8*96},
		{1, cpu.OpFFNDown, "mul_q8_0", 64*102 + 3*72, 256, 2 * 96 * 64},
		{0, cpu.OpFFNPostNorm, "rms_norm", 3 * 256, 256, 4*64 + 4 + 64},
		{1, cpu.OpFFNPostNorm, "rms_norm", 3 * 256, 256, 4*64 + 4 + 64},
		{-1, cpu.OpOutputNorm, "rms_norm", 512, 256 + panel, 4*64 + 4},
	})
	if n, _, _, _ := s.passes[1].sum(""); n != 1+2*10+2 {
		t.Errorf("%d operations", n)
	}
	if got := e.CacheBytes(); got != 10*2*2*2*68 {
		t.Errorf("the cache of 10 positions has %d bytes", got)
	}
}

// TestLayerCosts: what layers of several sizes cost is each one's own, and the cache has
// what all of them have together.
func TestLayerCosts(t *testing.T) {
	m := model(t, transformertest.Write(t, transformertest.Config{Type: quant.Q8_0, Embedding: quant.Q8_0, HeadDim: 32,
		LayerHeads: []int{4, 2}, LayerKVHeads: []int{1, 2}, LayerFFN: []int{64, 128}}))
	s := &seen{began: time.Now()}
	e := newEngine(t, m, cpu.Options{Threads: 1, Observer: s})
	if _, err := e.Step([]int32{5}, 0); err != nil {
		t.Fatal(err)
	}
	const panel = 2 * 72 // of 64 values
	held(t, s.passes[0], e.Describe().Set, []cost{
		{0, cpu.OpQKV, "mul_q8_0", 192*68 + panel + 2*4*32, 4*128 + 2*68, 2*192*64 + 3*5*32},
		{1, cpu.OpQKV, "mul_q8_0", 192*68 + panel + 2*4*32, 4*64 + 4*68, 2*192*64 + 3*4*32},
		{0, cpu.OpAttention, "attend", 512 + 2*68, 512 + 4*72, 4 * (133 + 32)},
		{1, cpu.OpAttention, "attend", 256 + 2*2*68, 256 + 2*72, 2 * (133 + 32)},
		{0, cpu.OpFFNGateUp, "mul_q8_0", 2*64*68 + panel, 4*64 + 2*72, 2*2*64*64 + 4*64},
		{1, cpu.OpFFNDown, "mul_q8_0", 64*136 + 4*72 + 256, 256, 2*128*64 + 64},
	})
	if got := e.CacheBytes(); got != 2*68*(1+2) {
		t.Errorf("the cache of a position has %d bytes", got)
	}
}

// TestSlowCosts: what has no fast kernel is multiplied as floats, and is named so.
func TestSlowCosts(t *testing.T) {
	m := model(t, transformertest.Write(t, transformertest.Config{Type: quant.F16, Embedding: quant.F16}))
	s := &seen{began: time.Now()}
	e := newEngine(t, m, cpu.Options{Threads: 1, Observer: s})
	if _, err := e.Step([]int32{5}, 0); err != nil {
		t.Fatal(err)
	}
	held(t, s.passes[0], e.Describe().Set, []cost{
		{-1, cpu.OpEmbedding, "expand_f16", 128, 256, 0},
		{0, cpu.OpAttnNorm, "rms_norm", 512, 256, 260},
		{1, cpu.OpFFNDown, "dot_f16", 64*96*2 + 4*96 + 256, 256, 2*64*96 + 64},
		{-1, cpu.OpOutput, "dot_f16", 80*128 + 256, 320, 2*80*64 + 80},
	})
}

// TestObserver: observed, an engine gives the same answers; what each thread did comes in
// order, and no stage begins on any thread before the one before it has ended on
// all; every operation was done by somebody, within the call.
func TestObserver(t *testing.T) {
	all := maps.Clone(shapes)
	maps.Copy(all, architectures)
	for name, c := range all {
		t.Run(name, func(t *testing.T) {
			m := model(t, transformertest.Write(t, c))
			for _, o := range []cpu.Options{{Threads: 1}, {Threads: 3}, {Threads: 2, Pack: cpu.PackOn}} {
				alone := newEngine(t, m, o)
				s := &seen{began: time.Now()}
				o.Observer = s
				e := newEngine(t, m, o)
				if o.Pack == cpu.PackOn && e.Describe().Packed {
					check(t, s.passes[0], 0, s.Now())
					s.passes = nil
				}
				at := 0
				for _, ids := range [][]int32{{1, 2, 3, 4, 5}, {6}, {7}} {
					want, err := alone.Step(ids, at)
					if err != nil {
						t.Fatal(err)
					}
					began := s.Now()
					got, err := e.Step(ids, at)
					if err != nil || got != want {
						t.Fatalf("%d, %v; unobserved %d", got, err, want)
					}
					at += len(ids)
					check(t, s.passes[len(s.passes)-1], began, s.Now())
				}
				if len(s.passes) != 3 {
					t.Errorf("%d passes, not 3", len(s.passes))
				}
			}
		})
	}
}

func check(t *testing.T, p onePass, began, ended time.Duration) {
	t.Helper()
	first, last := make([]time.Duration, len(p.operations)), make([]time.Duration, len(p.operations))
	for tid, work := range p.work {
		at := began
		for _, w := range work {
			if w.Start < at || w.End < w.Start {
				t.Fatalf("thread %d: %+v begins before %v", tid, w, at)
			}
			at = w.End
			if first[w.Operation] == 0 || w.Start < first[w.Operation] {
				first[w.Operation] = w.Start
			}
			last[w.Operation] = max(last[w.Operation], w.End)
		}
		if at > ended {
			t.Fatalf("thread %d worked until %v, the call until %v", tid, at, ended)
		}
	}
	before := time.Duration(0)
	for i, o := range p.operations {
		if last[i] == 0 {
			t.Fatalf("nobody did %+v", o)
		}
		// The norms of one token belong to the stage behind them, and what waits to be
		// added to several to the norm behind it.
		own := i > 0 && slices.Contains([]string{cpu.OpAttnNorm, cpu.OpFFNNorm, cpu.OpOutputNorm, cpu.OpAttnPostNorm, cpu.OpFFNPostNorm}, p.operations[i-1].Name)
		if first[i] < before && !own {
			t.Fatalf("%+v begins before %+v has ended", o, p.operations[i-1])
		}
		before = last[i]
	}
}

// TestObservedChunks: a long prompt is several passes; one that fails is not told.
func TestObservedChunks(t *testing.T) {
	m := model(t, transformertest.Write(t, transformertest.Config{Context: 3 * cpu.Chunk}))
	s := &seen{began: time.Now()}
	var stop error
	e := newEngine(t, m, cpu.Options{Threads: 2, Observer: s, Cancelled: func() error { return stop }})
	if _, err := e.Step(make([]int32, 2*cpu.Chunk+1), 0); err != nil {
		t.Fatal(err)
	}
	if len(s.passes) != 3 {
		t.Fatalf("%d passes, not 3", len(s.passes))
	}
	// The attention of the second pass looks at 86 positions at the last, each of two
	// heads of a key and a value, whose 16 numbers take a block of 32, 68 bytes.
	tokens := (2*cpu.Chunk + 1) / 3
	held(t, s.passes[1], e.Describe().Set, []cost{{0, cpu.OpAttention, "attend", int64(4*tokens*64 + 2*2*2*tokens*68), int64(4 * tokens * 64),
		4 * (int64(tokens*(tokens+1+2*tokens)/2)*(2*16+2*16+5) + int64(tokens)*16)}})
	stop = errors.New("enough")
	if _, err := e.Step([]int32{1}, 0); !errors.Is(err, stop) {
		t.Fatal(err)
	}
	if len(s.passes) != 3 {
		t.Error("a pass was told that did not take place")
	}
}

// BenchmarkObserver decodes by turns with nobody observing and with somebody who keeps
// what it is told: the best and the median step of each.
func BenchmarkObserver(b *testing.B) {
	m := model(b, modeltest.Path(b, models.StandIn))
	observer := &keeper{began: time.Now()}
	alone, observed := newEngine(b, m, cpu.Options{}), newEngine(b, m, cpu.Options{Observer: observer})
	var steps [2][]time.Duration
	for i := 0; b.Loop(); i++ {
		at := i % 20
		for k := range 2 {
			e := []*cpu.Engine{alone, observed}[(i+k)%2]
			if at == 0 {
				if _, err := e.Step(transformertest.Prompt, 0); err != nil {
					b.Fatal(err)
				}
			}
			start := time.Now()
			if _, err := e.Step(transformertest.Greedy[at:at+1], len(transformertest.Prompt)+at); err != nil {
				b.Fatal(err)
			}
			steps[(i+k)%2] = append(steps[(i+k)%2], time.Since(start))
		}
	}
	for i, name := range []string{"alone", "observed"} {
		slices.Sort(steps[i])
		b.ReportMetric(float64(steps[i][0].Microseconds()), name+"-best-µs")
		b.ReportMetric(float64(steps[i][len(steps[i])/2].Microseconds()), name+"-median-µs")
	}
}

// keeper keeps the last pass.
type keeper struct {
	began time.Time
	last  onePass
}

func (k *keeper) Now() time.Duration { return time.Since(k.began) }

func (k *keeper) Passed(operations []cpu.Operation, work [][]cpu.Work) {
	k.last = onePass{slices.Clone(operations), make([][]cpu.Work, len(work))}
	for i, w := range work {
		k.last.work[i] = slices.Clone(w)
	}
}

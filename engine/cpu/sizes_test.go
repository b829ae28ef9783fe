//go:build unix

package cpu_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/introgen/introgen/engine/cpu"
	"github.com/introgen/introgen/engine/cpu/kernel"
	"github.com/introgen/introgen/engine/cpu/pages/pagestest"
	"github.com/introgen/introgen/engine/quant"
	"github.com/introgen/introgen/engine/transformer"
	"github.com/introgen/introgen/engine/transformer/transformertest"
)

// around returns the sizes below, at and above each of at, step apart.
func around(step int, at ...int) []int {
	var all []int
	for _, n := range at {
		all = append(all, n-step, n, n+step)
	}
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(n int) bool { return n < 1 })
}

// step is the tokens from to to-1 of a text, passed together.
type step struct{ from, to int }

// expected is a model, a text, and what float64 makes of it.
type expected struct {
	m      *transformer.Model
	ids    []int32
	steps  []step
	logits [][]float64
}

// expect passes a text of so many tokens: prompt of them together, then one,
// two, and one again, as far as the context goes.
func expect(t *testing.T, m *transformer.Model, prompt int) *expected {
	t.Helper()
	x := &expected{m: m}
	at := 0
	for _, n := range []int{prompt, 1, 2, 1} {
		if n = min(n, m.Context-at); n > 0 {
			x.steps = append(x.steps, step{at, at + n})
			at += n
		}
	}
	for i := range at {
		x.ids = append(x.ids, int32((i*i+3*i+1)%m.Vocab))
	}
	ref := transformer.NewReference(m)
	for _, s := range x.steps {
		l, err := ref.Step(x.ids[s.from:s.to], s.from)
		if err != nil {
			t.Fatal(err)
		}
		x.logits = append(x.logits, l)
	}
	return x
}

// compare passes the text to e and returns the largest error of a logit, and
// whether each step's token is the one of float64. A token that is not, by more
// than that error, fails the test, and so does one that is not the first of the
// engine's own largest logits.
func (x *expected) compare(t *testing.T, e *cpu.Engine) (worst float64, same bool) {
	t.Helper()
	same = true
	for i, s := range x.steps {
		id, err := e.Step(x.ids[s.from:s.to], s.from)
		if err != nil {
			t.Fatal(err)
		}
		got, err := e.Logits()
		if err != nil {
			t.Fatal(err)
		}
		best := 0
		for j, w := range x.logits[i] {
			worst = max(worst, math.Abs(float64(got[j])-w))
			if got[j] != got[j] {
				t.Fatalf("step %d: logit %d is %v", i, j, got[j])
			}
			if got[j] > got[best] {
				best = j
			}
		}
		if best != int(id) {
			t.Fatalf("step %d: token %d, but %d is the first of the largest logits", i, id, best)
		}
		top := slices.Max(x.logits[i])
		if gap := top - x.logits[i][id]; gap > 0 {
			same = false
			if gap > 2*worst {
				t.Fatalf("step %d: token %d, whose exact logit is %.6f below the largest", i, id, gap)
			}
		}
	}
	return worst, same
}

// guarded is m with all matrices in memory that ends at an unmapped page.
func guarded(m *transformer.Model, a *pagestest.Arena) *transformer.Model {
	put := func(w *transformer.Matrix) {
		b := a.Ending(len(w.Data))
		copy(b, w.Data)
		w.Data = b
	}
	c := *m
	c.Blocks = slices.Clone(m.Blocks)
	put(&c.Embedding)
	put(&c.Output)
	for i := range c.Blocks {
		b := &c.Blocks[i]
		for _, w := range []*transformer.Matrix{&b.Q, &b.K, &b.V, &b.O, &b.Gate, &b.Up, &b.Down} {
			put(w)
		}
	}
	return &c
}

// underGuard compares engines of all instruction sets, with 1 to 5 threads, packed and
// not, whose weights and buffers end at unmapped pages each.
func underGuard(t *testing.T, c transformertest.Config, prompt int) (worst float64) {
	t.Helper()
	weights, buffers := pagestest.New(t), pagestest.New(t)
	x := expect(t, guarded(model(t, transformertest.Write(t, c)), weights), prompt)
	defer cpu.TakeMemory(buffers.Ending)()
	for _, set := range kernel.Names() {
		for threads := 1; threads <= 5; threads++ {
			if testing.Short() && threads%2 == 0 {
				continue
			}
			for _, pack := range []cpu.Pack{cpu.PackOff, cpu.PackOn} {
				e, err := cpu.New(x.m, cpu.Options{Set: set, Threads: threads, Pack: pack})
				if err != nil {
					t.Fatal(err)
				}
				w, _ := x.compare(t, e)
				worst = max(worst, w)
				if w > 2e-3 {
					t.Errorf("%s, %d threads, %v: largest error of a logit %.6f", set, threads, e.Describe(), w)
				}
				if err := e.Close(); err != nil {
					t.Fatal(err)
				}
				buffers.Free()
			}
		}
	}
	return worst
}

// Every dimension that a buffer depends on, below, at and above each size at
// which something changes: a tile's rows, a block, a unit, a run, a chunk.
func TestSizes(t *testing.T) {
	types := map[string]transformertest.Config{}
	for _, q := range []quant.Type{quant.Q8_0, quant.Q4_1, quant.Q4_0, quant.Q5_0, quant.Q5_1, quant.F32, quant.F16, quant.BF16, quant.IQ4_NL, quant.Q4_K, quant.Q5_K, quant.Q6_K} {
		types[q.String()] = transformertest.Config{Type: q, Embedding: q, Bits: true}
	}
	types["mixed"] = transformertest.Config{Type: quant.Q8_0, Embedding: quant.Q4_1, Output: true, Bias: true, FFNBias: true, Bits: true, Types: map[string]quant.Type{
		"0.ffn_down.weight": quant.F16, "1.ffn_up.weight": quant.Q4_1, "0.attn_v.weight": quant.Q5_0, "1.attn_output.weight": quant.F32,
	}}
	blocks := []string{"Q8_0", "Q4_1", "mixed", "Q4_0"} // whole blocks of 32
	numbers := []string{"F32", "F16", "BF16"}           // any size
	fast := []string{"Q8_0", "Q4_1"}
	var cases []struct {
		name, typ string
		n, prompt int
		set       func(c *transformertest.Config, n int)
	}
	add := func(name string, sizes []int, prompt int, types []string, set func(c *transformertest.Config, n int)) {
		for i, n := range sizes {
			cases = append(cases, struct {
				name, typ string
				n, prompt int
				set       func(c *transformertest.Config, n int)
			}{name, types[i%len(types)], n, prompt, set})
		}
	}
	hidden := func(c *transformertest.Config, n int) { c.Hidden = n }
	ffn := func(c *transformertest.Config, n int) { c.FFN, c.Hidden, c.Layers = n, 32, 1 }
	vocab := func(c *transformertest.Config, n int) { c.Vocab, c.Hidden = n, 32 }
	context := func(c *transformertest.Config, n int) { c.Context = n }
	const unit, run, chunk, head = cpu.UnitRows, cpu.RunRows, cpu.Chunk, cpu.HeadRows

	add("hidden", around(32, 32, 64, 256, 1024), chunk+1, blocks, hidden)
	add("hidden", around(32, 32, 64, 256), 3, fast, hidden)
	supers := func(c *transformertest.Config, n int) {
		c.Hidden, c.FFN, c.Heads, c.KVHeads, c.HeadDim = 256*n, 256*(6-n), 2, 1, 128
	}
	add("super-blocks", []int{1, 1, 1, 2, 3, 4, 5}, chunk+1, []string{"Q4_K", "Q5_K", "Q6_K"}, supers)
	add("hidden", around(32, 32, 64, 256), chunk+1, []string{"IQ4_NL", "Q5_0"}, hidden)
	add("hidden", around(1, 1, kernel.TileRows, unit, 2*unit, 256), chunk+1, numbers, hidden)
	for _, threads := range []int{1, 2, 3, 4, 5} { // a thread's share is a run
		add("feed-forward", around(unit, threads*run), 2, fast, ffn)
	}
	for _, context := range []int{1, 2, 3, 8} { // fewer tokens than a chunk's share the buffers
		add(fmt.Sprint("feed-forward at a context of ", context), []int{unit, 2 * unit, unit*context + unit, run + unit, 2*run + unit}, 2, fast, func(c *transformertest.Config, n int) {
			ffn(c, n)
			c.Context = context
		})
	}
	add("feed-forward", around(unit, unit, 2*unit, 256, 1024), chunk+1, blocks, ffn)
	add("feed-forward", around(1, 1, kernel.TileRows, unit, 256, run), chunk+1, numbers, ffn)
	add("vocabulary", around(1, 1, kernel.TileRows, unit, head, 2*head, 5*head), 2, blocks, vocab)
	add("vocabulary", around(1, 1, kernel.TileRows, head), 2, numbers, vocab)
	add("context", around(1, 1, 2, unit, chunk, 2*chunk), 2*chunk+2, blocks, context)
	add("prompt", around(1, 1, 2, 4, unit, chunk, 2*chunk, 3*chunk), 0, blocks, func(c *transformertest.Config, n int) { c.Context = 3*chunk + 6 })
	add("heads", []int{1, 2, 3, 4, 5, 7, 8, 9, 16, 17}, chunk+1, fast, func(c *transformertest.Config, n int) { c.Heads, c.KVHeads, c.HeadDim = n, 1, 32 })
	add("heads of their own", []int{1, 2, 3, 5, 8, 9}, chunk+1, fast, func(c *transformertest.Config, n int) { c.Heads, c.KVHeads, c.HeadDim = n, n, 64 })
	add("head dimension", around(kernel.TileRows, kernel.TileRows, unit, 64, 128, 256), chunk+1, fast, func(c *transformertest.Config, n int) { c.Heads, c.KVHeads, c.HeadDim = 4, 2, n })
	add("head dimension", []int{2, 4, 6, 8, 10, 14, 18, 20, 24, 30, 34, 40, 62, 66}, 5, []string{"F32", "Q8_0", "F16", "Q4_1"}, func(c *transformertest.Config, n int) { c.Heads, c.KVHeads, c.HeadDim = 16, 4, n })
	add("rotated", append(around(2, 2, kernel.TileRows, unit, 2*unit), 90, 94, 96), chunk+1, fast, func(c *transformertest.Config, n int) {
		c.Heads, c.KVHeads, c.HeadDim, c.RopeDim = 2, 1, 96, max(2, n&^1)
	})
	add("layers", []int{1, 2, 3, 5}, 3, fast, func(c *transformertest.Config, n int) { c.Layers = n })
	for typ := range types { // every type alike
		if strings.HasSuffix(typ, "_K") { // in blocks of 256
			add("type", []int{1}, chunk+1, []string{typ}, supers)
			continue
		}
		add("type", []int{64}, chunk+1, []string{typ}, hidden)
	}
	worst := map[string]float64{}
	t.Logf("%d cases, each with the instruction sets %v, 1 to 5 threads, packed and not", len(cases), kernel.Names())
	for i, k := range cases {
		if testing.Short() && i%8 != 0 { // under an emulator
			continue
		}
		c := types[k.typ]
		k.set(&c, k.n)
		if c.Context == 0 {
			c.Context = 2*chunk + 8
		}
		prompt := k.prompt
		if prompt == 0 {
			prompt = k.n
		}
		t.Run(fmt.Sprintf("%s/%d/%s", k.name, k.n, k.typ), func(t *testing.T) {
			worst[k.name] = max(worst[k.name], underGuard(t, c, prompt))
		})
	}
	for _, name := range slices.Sorted(maps.Keys(worst)) {
		t.Logf("%s: largest error of a logit %.6f", name, worst[name])
	}
}

// The types with blocks of 256.
func TestSizesOfSuperBlocks(t *testing.T) {
	for _, q := range []quant.Type{quant.Q2_K, quant.Q3_K, quant.Q4_K, quant.Q5_K, quant.Q6_K} {
		for _, hidden := range []int{256, 512} {
			t.Run(fmt.Sprint(q, " ", hidden), func(t *testing.T) {
				w := underGuard(t, transformertest.Config{
					Type: q, Embedding: quant.Q6_K, Hidden: hidden, FFN: 768 - hidden, Heads: 4, KVHeads: 1, HeadDim: 64, Layers: 1, Bits: true,
					Types: map[string]quant.Type{"ffn_down.weight": quant.Q6_K, "attn_v.weight": quant.Q8_0},
				}, 5)
				t.Logf("largest error of a logit %.6f", w)
			})
		}
	}
}

// As many threads as are allowed, most of them without a unit of their own.
func TestManyThreads(t *testing.T) {
	for _, architecture := range []string{"llama", "qwen3", "gemma3", "phi3"} {
		c := transformertest.Config{Architecture: architecture, Type: quant.Q8_0, Embedding: quant.Q8_0, FFN: 4160, Context: 128}
		x := expect(t, model(t, transformertest.Write(t, c)), 3)
		for _, threads := range []int{33, 64, 65, cpu.MaxThreads} {
			e := newEngine(t, x.m, cpu.Options{Threads: threads})
			if worst, same := x.compare(t, e); worst > 2e-3 || !same {
				t.Errorf("%s, %d threads: largest error of a logit %.6f, ids equal: %v", architecture, threads, worst, same)
			}
			e.Close()
		}
	}
}

// The dimensions on which the parts depend that a llama lacks: heads that one thread has
// whole, halves of them, norms of heads and of what is added, windows, layers of
// several sizes, and rows of a matrix that begin inside a tile.
func TestSizesOfArchitectures(t *testing.T) {
	const chunk, unit = cpu.Chunk, cpu.UnitRows
	type config = transformertest.Config
	var cases []config
	add := func(c config, sizes []int, set func(c *config, n int)) {
		for i, n := range sizes {
			c := c
			c.Type, c.Embedding, c.Bits = []quant.Type{quant.Q8_0, quant.Q4_1}[i%2], quant.Q8_0, true
			set(&c, n)
			cases = append(cases, c)
		}
	}
	odd := func(c config, sizes []int, set func(c *config, n int)) { // any size
		for _, n := range sizes {
			c := c
			set(&c, n)
			cases = append(cases, c)
		}
	}
	headDim := func(c *config, n int) { c.Heads, c.KVHeads, c.HeadDim = 16, 4, n }
	add(config{Architecture: "qwen2", Bias: true}, []int{2, 6, 14, 16, 18, 30, 32, 34, 64, 96}, headDim)
	add(config{Architecture: "qwen3"}, []int{2, 10, 16, 32, 48, 128}, headDim)
	odd(config{Architecture: "qwen3", Hidden: 33, FFN: 35}, []int{4, 22, 66}, headDim)
	add(config{Architecture: "qwen2", Bias: true, HeadDim: 96}, []int{2, 30, 32, 34, 64, 94}, func(c *config, n int) { c.RopeDim = n })
	add(config{Architecture: "gemma3"}, around(1, 1, 2, unit, chunk, chunk+3), func(c *config, n int) { c.Window = n })
	add(config{Architecture: "gemma3", Window: 9, Layers: 1}, around(unit, unit, 2*unit, 256), func(c *config, n int) { c.Hidden = n })
	add(config{Architecture: "gemma3", Window: 9, Layers: 1, Hidden: 32}, around(unit, unit, cpu.RunRows), func(c *config, n int) { c.FFN = n })
	odd(config{Architecture: "gemma3", HeadDim: 6, FFN: 33}, around(1, unit, 2*unit), func(c *config, n int) { c.Hidden, c.FFN = n, n+1 })
	add(config{Architecture: "gemma3"}, []int{1, 6, 7, 8}, func(c *config, n int) { c.Layers, c.Window = n, 3 })
	add(config{Architecture: "phi3"}, []int{16, 24, 32, 40, 48}, func(c *config, n int) { c.Heads, c.KVHeads, c.HeadDim = 4, 4, n })
	odd(config{Architecture: "phi3", HeadDim: 10}, around(1, kernel.TileRows, unit), func(c *config, n int) { c.Heads, c.KVHeads, c.FFN = 3, 1, n })
	add(config{HeadDim: 32, Layers: 3}, []int{1, 2, 3, 5}, func(c *config, n int) {
		c.LayerHeads, c.LayerKVHeads, c.LayerFFN = []int{n, 2 * n, n}, []int{n, n, 1}, []int{32 * n, 32, 96}
		c.Heads, c.KVHeads, c.FFN = 2*n, n, 32*n
	})
	for i, c := range cases {
		if testing.Short() && i%4 != 0 { // under an emulator
			continue
		}
		c.Context = 2*chunk + 8
		t.Run(fmt.Sprint(i, " ", c.Architecture), func(t *testing.T) { underGuard(t, c, chunk+3) })
	}
}

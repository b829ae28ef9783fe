package cpu_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/introgen/introgen/engine/cpu"
	"github.com/introgen/introgen/engine/cpu/kernel"
	"github.com/introgen/introgen/engine/gguf"
	"github.com/introgen/introgen/engine/quant"
	"github.com/introgen/introgen/engine/transformer"
	"github.com/introgen/introgen/engine/transformer/transformertest"
	"github.com/introgen/introgen/models/modeltest"
)

// model loads the file at path until the test ends.
func model(t testing.TB, path string) *transformer.Model {
	t.Helper()
	f, err := gguf.Open(path, gguf.MMap)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	m, err := transformer.Load(f)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// newEngine makes an engine that is closed when the test ends.
func newEngine(t testing.TB, m *transformer.Model, o cpu.Options) *cpu.Engine {
	t.Helper()
	e, err := cpu.New(m, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

// eachEngine runs f for every instruction set, 1 and 2 threads, packed or not.
func eachEngine(t *testing.T, f func(t *testing.T, o cpu.Options)) {
	for _, set := range kernel.Names() {
		for threads := 1; threads <= 2; threads++ {
			for _, pack := range []cpu.Pack{cpu.PackOff, cpu.PackOn} {
				t.Run(fmt.Sprintf("%s/%d threads/packed %v", set, threads, pack == cpu.PackOn), func(t *testing.T) {
					f(t, cpu.Options{Set: set, Threads: threads, Pack: pack})
				})
			}
		}
	}
}

// The text is the exact one, and so are the logits, to 0.005.
func TestExactAnswers(t *testing.T) {
	for _, exact := range transformertest.Files {
		path := modeltest.Path(t, exact.File)
		m := model(t, path)
		eachEngine(t, func(t *testing.T, o cpu.Options) {
			greedy := transformertest.Greedy
			if o.Set == "generic" && (testing.Short() || o.Pack == cpu.PackOn) {
				greedy = greedy[:4] // plain Go takes 0.2 s a token
			}
			e := newEngine(t, m, o)
			worst := 0.0
			compare := func(want []transformertest.Logit) {
				got, err := e.Logits()
				if err != nil {
					t.Fatal(err)
				}
				for _, w := range want {
					worst = max(worst, math.Abs(float64(got[w.ID])-w.Value))
				}
			}
			id, err := e.Step(transformertest.Prompt, 0)
			if err != nil {
				t.Fatal(err)
			}
			compare(exact.Prefill)
			ids := []int32{id}
			for i := range len(greedy) - 1 {
				if id, err = e.Step(ids[i:], len(transformertest.Prompt)+i); err != nil {
					t.Fatal(err)
				}
				if i == 0 {
					compare(exact.Step)
				}
				ids = append(ids, id)
			}
			if !slices.Equal(ids, greedy) {
				t.Errorf("ids %v, want %v", ids, greedy)
			}
			if worst > 0.005 {
				t.Errorf("largest error of a logit %.6f, more than 0.005", worst)
			}
			t.Logf("%s: largest error of a logit %.6f", exact.File, worst)
		})
	}
}

// shapes are models that the real one is not: odd sizes, biases, other types.
var shapes = map[string]transformertest.Config{
	"defaults":            {},
	"Q8_0":                {Type: quant.Q8_0, Embedding: quant.Q8_0, Vocab: 300},
	"Q4_1":                {Type: quant.Q4_1, Embedding: quant.Q8_0},
	"F16":                 {Type: quant.F16, Embedding: quant.F16},
	"Q4_0":                {Type: quant.Q4_0, Embedding: quant.Q8_0, Output: true},
	"head of 6":           {Heads: 3, KVHeads: 1, HeadDim: 6, Hidden: 70, FFN: 50},
	"head of 8, Q8_0":     {Type: quant.Q8_0, HeadDim: 8, Heads: 8},
	"head of 80, Q8_0":    {Type: quant.Q8_0, HeadDim: 80, Heads: 2, KVHeads: 2, Hidden: 160, FFN: 224},
	"head of 64, Q4_1":    {Type: quant.Q4_1, HeadDim: 64, Heads: 6, KVHeads: 2, Hidden: 96},
	"biases, part turned": {Type: quant.Q8_0, Bias: true, HeadDim: 32, RopeDim: 20, RopeFactor: true},
	"biases everywhere":   {Type: quant.Q8_0, Embedding: quant.Q8_0, Bias: true, FFNBias: true, FFN: 160},
	"biases, F32, odd":    {FFNBias: true, FFN: 50},
	"odd vocabulary":      {Type: quant.Q8_0, Embedding: quant.Q8_0, Vocab: 523},
	"one layer":           {Layers: 1, Type: quant.Q8_0, Output: true},
}

// Small models of many shapes against the float64 reference: a prompt that is
// longer than a chunk, then steps.
func TestShapes(t *testing.T) {
	for name, c := range shapes {
		c.Context = 128
		m := model(t, transformertest.Write(t, c))
		ids := make([]int32, 70)
		for i := range ids {
			ids[i] = int32((i*i + 3*i) % m.Vocab)
		}
		ref := transformer.NewReference(m)
		want := [][]float64{}
		for _, s := range []struct{ from, to int }{{0, 65}, {65, 67}, {67, 68}, {68, 69}} {
			l, err := ref.Step(ids[s.from:s.to], s.from)
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, l)
		}
		t.Run(name, func(t *testing.T) {
			eachEngine(t, func(t *testing.T, o cpu.Options) {
				e := newEngine(t, m, o)
				for i, s := range []struct{ from, to int }{{0, 65}, {65, 67}, {67, 68}, {68, 69}} {
					id, err := e.Step(ids[s.from:s.to], s.from)
					if err != nil {
						t.Fatal(err)
					}
					got, err := e.Logits()
					if err != nil {
						t.Fatal(err)
					}
					for j, w := range want[i] {
						if !(math.Abs(float64(got[j])-w) < 2e-3) {
							t.Fatalf("step %d: logit %d is %v, want %v", i, j, got[j], w)
						}
					}
					for j, v := range got {
						if v > got[id] || v == got[id] && j < int(id) {
							t.Fatalf("step %d: next token %d with %v, but %d has %v", i, id, got[id], j, v)
						}
					}
				}
			})
		})
	}
}

// TestDrawn: scaled positions and biases of the feed-forward give the logits that
// a program in another language computes.
func TestDrawn(t *testing.T) {
	for name, c := range map[string]struct {
		biased bool
		key    string
		want   []transformertest.Logit
	}{
		"plain":          {want: transformertest.DrawnPlain},
		"factor 4":       {key: "llama.rope.scaling.factor", want: transformertest.DrawnQuarter},
		"scale_linear 4": {key: "llama.rope.scale_linear", want: transformertest.DrawnQuarter},
		"biases":         {biased: true, want: transformertest.DrawnBiased},
	} {
		m := model(t, transformertest.Drawn(t, c.biased, func(w *transformertest.Writable) {
			if c.key != "" {
				w.Set(c.key, float32(4))
			}
		}))
		t.Run(name, func(t *testing.T) {
			eachEngine(t, func(t *testing.T, o cpu.Options) {
				e := newEngine(t, m, o)
				if id, err := e.Step(transformertest.DrawnIDs, 0); err != nil || id != c.want[0].ID {
					t.Fatalf("next token %d, %v; want %d", id, err, c.want[0].ID)
				}
				got, err := e.Logits()
				if err != nil {
					t.Fatal(err)
				}
				for _, w := range c.want {
					if math.Abs(float64(got[w.ID])-w.Value) > 1e-3 {
						t.Errorf("logit of %d is %.6f, want %.6f", w.ID, got[w.ID], w.Value)
					}
				}
			})
		})
	}
}

func TestRefusals(t *testing.T) {
	m := model(t, transformertest.Write(t, transformertest.Config{Context: 16}))
	for want, o := range map[string]cpu.Options{
		"threads: -1; allowed are 1 to 256":    {Threads: -1},
		"threads: 10000; allowed are 1 to 256": {Threads: 10000},
		"context: 17 positions":                {Context: 17},
		"context: -1 positions":                {Context: -1},
		`"sse" is not an instruction set`:      {Set: "sse"},
		"pack: 7":                              {Pack: 7},
	} {
		if _, err := cpu.New(m, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	e := newEngine(t, m, cpu.Options{})
	if _, err := e.Logits(); err == nil {
		t.Error("logits before the first step")
	}
	for _, s := range []struct {
		ids  []int32
		pos  int
		want string
	}{
		{nil, 0, "no tokens"},
		{[]int32{1}, 1, "position 1; the cache holds 0"},
		{[]int32{1}, -1, "position -1"},
		{[]int32{1, 80}, 0, "token 80 (number 1 of the step) is outside of the vocabulary of 80"},
		{[]int32{-1}, 0, "token -1"},
		{make([]int32, 17), 0, "17 tokens at position 0 exceed the context of 16"},
	} {
		if _, err := e.Step(s.ids, s.pos); err == nil || !strings.Contains(err.Error(), s.want) {
			t.Errorf("step of %v at %d: error %v, want one with %q", s.ids, s.pos, err, s.want)
		}
	}
	if _, err := e.Step(make([]int32, 16), 0); err != nil {
		t.Errorf("a step that fills the context: %v", err)
	}
}

func TestSetFromEnvironment(t *testing.T) {
	m := model(t, transformertest.Write(t, transformertest.Config{}))
	t.Setenv(cpu.SetEnv, "generic")
	if e := newEngine(t, m, cpu.Options{}); e.Describe().Set != "generic" {
		t.Errorf("%+v", e.Describe())
	}
	t.Setenv(cpu.SetEnv, "mmx")
	if _, err := cpu.New(m, cpu.Options{}); err == nil || !strings.Contains(err.Error(), `INTROGEN_CPU: "mmx"`) {
		t.Errorf("error %v", err)
	}
}

// A slow type is run and named.
func TestSlowTypesAreNamed(t *testing.T) {
	m := model(t, transformertest.Write(t, transformertest.Config{Type: quant.F16, Embedding: quant.Q8_0}))
	e := newEngine(t, m, cpu.Options{Threads: 1})
	if d := e.Describe(); !slices.Equal(d.Slow, []string{"F16 (14)"}) || !strings.Contains(d.String(), "no fast kernel for F16 (14)") {
		t.Errorf("%v", d)
	}
}

// PackAuto packs where the steps repay it, and says what it did and why.
func TestPackIsDecided(t *testing.T) {
	q8 := model(t, transformertest.Write(t, transformertest.Config{Type: quant.Q8_0, Embedding: quant.Q8_0}))
	f16 := model(t, transformertest.Write(t, transformertest.Config{Type: quant.F16, Embedding: quant.F16}))
	for _, c := range []struct {
		m    *transformer.Model
		o    cpu.Options
		pack bool
		why  string
	}{
		{q8, cpu.Options{}, false, "repays after some 100 steps"},
		{q8, cpu.Options{Steps: 99}, false, "repays after some 100 steps"},
		{q8, cpu.Options{Steps: 100}, true, "which 100 steps repay"},
		{q8, cpu.Options{Steps: 1000, Pack: cpu.PackOff}, false, "as the file has them"},
		{q8, cpu.Options{Pack: cpu.PackOn}, true, "weights packed"},
		{f16, cpu.Options{Pack: cpu.PackOn}, false, "none has a type that can be packed"},
	} {
		d := newEngine(t, c.m, c.o).Describe()
		if d.Packed != c.pack || !strings.Contains(d.Why, c.why) || d.Packed != (d.PackBytes > 0) || !strings.Contains(d.String(), d.Why) {
			t.Errorf("%+v: %+v", c.o, d)
		}
	}
}

// Memory that is not there is refused before it is touched, and not taken unasked.
func TestMemoryThatIsNotThere(t *testing.T) {
	m := model(t, transformertest.Write(t, transformertest.Config{Type: quant.Q8_0, Embedding: quant.Q8_0, Context: 1 << 20}))
	defer cpu.SetAvailable(20 << 10)()
	for _, c := range []struct {
		o    cpu.Options
		want string // an error
	}{
		{cpu.Options{Pack: cpu.PackOn}, "pack: a copy of the weights takes 0 MiB, and 0 MiB of memory are available"},
		{cpu.Options{Context: 1 << 20}, "context: a cache of 1048576 positions takes 544 MiB, and 0 MiB of memory are available; ask for fewer"},
		{cpu.Options{Steps: 1000}, ""},
		{cpu.Options{Context: 16}, ""},
	} {
		e, err := cpu.New(m, c.o)
		if c.want == "" && err == nil {
			if d := e.Describe(); d.Packed || c.o.Steps > 0 && !strings.Contains(d.Why, "since a copy would take") {
				t.Errorf("%+v: %v", c.o, d)
			}
			e.Close()
		} else if err == nil || c.want == "" || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v, want %q", c.o, err, c.want)
		}
	}
}

// A prompt of several chunks ends between two of them when the caller gives up,
// and one that is not given up is passed whole.
func TestLongPromptIsCancelled(t *testing.T) {
	path := transformertest.Write(t, transformertest.Config{Type: quant.Q8_0, Embedding: quant.Q8_0, Context: 256})
	asked, stop := 0, errors.New("enough")
	e := newEngine(t, model(t, path), cpu.Options{Threads: 2, Cancelled: func() error {
		if asked++; asked == 3 {
			return stop
		}
		return nil
	}})
	ids := make([]int32, 200) // 4 chunks
	if _, err := e.Step(ids, 0); !errors.Is(err, stop) || asked != 3 {
		t.Errorf("asked %d times, error %v; want the third answer", asked, err)
	}
	if _, err := e.Step(ids, 0); err != nil || asked != 7 {
		t.Errorf("again: asked %d times, error %v", asked, err)
	}
}

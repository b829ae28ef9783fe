package metal

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/introgen/introgen/engine"
	"github.com/introgen/introgen/engine/gguf"
	"github.com/introgen/introgen/engine/quant"
	"github.com/introgen/introgen/engine/transformer"
	"github.com/introgen/introgen/engine/transformer/transformertest"
	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/models/modeltest"
)

func load(t testing.TB, path string) *transformer.Model {
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

func open(t testing.TB, dev metalshim.Device, perBuffer int) *Device {
	t.Helper()
	d, err := NewDevice(context.Background(), dev, Options{CommandsPerBuffer: perBuffer})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func build(t testing.TB, d *Device, m *transformer.Model) *Engine {
	t.Helper()
	e, err := d.New(m)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// noneLive checks that nothing is left on the device.
func noneLive(t testing.TB, dev metalshim.Device) {
	t.Helper()
	if live := dev.Live(); live != (metalshim.Counts{}) {
		t.Errorf("left on the device: %+v", live)
	}
}

// mixed gives some matrices other types: floats among blocks, and a block among
// them of another format.
func mixed(t testing.TB) func(*transformertest.Writable) {
	return func(w *transformertest.Writable) {
		for name, typ := range map[string]quant.Type{
			"blk.0.attn_v.weight": quant.F16, "blk.0.ffn_down.weight": quant.F32, "blk.0.attn_output.weight": quant.BF16,
			"blk.1.ffn_gate.weight": quant.BF16, "blk.1.attn_k.weight": quant.Q4_0, "output.weight": quant.F16,
		} {
			x := w.Tensor(name)
			x.Type = typ
			x.Data = transformertest.Random(t, rand.New(rand.NewPCG(uint64(len(name)), 3)), typ, int(x.Dims[1]), int(x.Dims[0]))
		}
	}
}

// passes are forward passes: how many tokens, and from which position.
type passes [][2]int

// walk is a way through a context, also back.
var walk = passes{{5, 0}, {1, 5}, {1, 6}, {3, 7}, {1, 10}, {1, 4}, {2, 5}, {1, 0}, {1, 1}, {20, 0}, {1, 20}}

// shapes are models of many shapes and formats.
func shapes(t testing.TB) map[string]transformertest.Config {
	cases := map[string]transformertest.Config{
		"grouped heads":     {Layers: 2, Heads: 6, KVHeads: 2, HeadDim: 32, Hidden: 192, FFN: 96},
		"no groups":         {Layers: 2, Heads: 3, KVHeads: 3, HeadDim: 32, Hidden: 96, FFN: 64},
		"one kv head":       {Layers: 2, Heads: 4, KVHeads: 1, HeadDim: 32, Hidden: 128, FFN: 64},
		"one head":          {Layers: 2, Heads: 1, KVHeads: 1, HeadDim: 64, Hidden: 64, FFN: 64},
		"heads of 128":      {Layers: 1, Heads: 2, KVHeads: 1, HeadDim: 128, Hidden: 256, FFN: 64},
		"heads of 256":      {Layers: 1, Heads: 2, KVHeads: 1, HeadDim: 256, Hidden: 512, FFN: 64},
		"heads of 512":      {Layers: 1, Heads: 2, KVHeads: 1, HeadDim: 512, Hidden: 1024, FFN: 64},
		"odd feed-forward":  {Layers: 1, Heads: 2, KVHeads: 2, HeadDim: 32, Hidden: 64, FFN: 3},
		"heads of 96":       {Layers: 1, Heads: 2, KVHeads: 1, HeadDim: 96, Hidden: 192, FFN: 64},
		"own output":        {Layers: 1, Heads: 2, KVHeads: 1, HeadDim: 32, Hidden: 64, FFN: 64, Output: true},
		"odd vocabulary":    {Layers: 1, Heads: 2, KVHeads: 2, HeadDim: 32, Hidden: 64, FFN: 64, Vocab: 77},
		"mixed types":       {Layers: 2, Heads: 4, KVHeads: 2, HeadDim: 64, Hidden: 256, FFN: 96, Output: true, Embedding: quant.BF16, Type: quant.Q8_0, Edit: mixed(t)},
		"quantized lookups": {Layers: 1, Heads: 2, KVHeads: 2, HeadDim: 32, Hidden: 64, FFN: 64, Embedding: quant.Q8_0},
	}
	for _, typ := range []quant.Type{quant.F32, quant.F16, quant.BF16, quant.Q4_0, quant.Q8_0} {
		cases[typ.String()] = transformertest.Config{Layers: 1, Heads: 4, KVHeads: 2, HeadDim: 64, Hidden: 256, FFN: 256, Type: typ}
	}
	return cases
}

// TestModels runs models of many shapes and formats, kernels in float64,
// against the reference forward pass.
func TestModels(t *testing.T) {
	for name, c := range shapes(t) {
		t.Run(name, func(t *testing.T) {
			m := load(t, transformertest.Write(t, c))
			dev := newFake()
			d := open(t, dev, 50)
			e, r := build(t, d, m), transformer.NewReference(m)
			for i, p := range walk {
				ids := make([]int32, p[0])
				for j := range ids {
					ids[j] = int32((7*i + 13*j + 1) % m.Vocab)
				}
				if _, err := e.Step(ids, p[1]); err != nil {
					t.Fatalf("pass %d: %v", i, err)
				}
				got, err := e.Logits()
				if err != nil {
					t.Fatalf("pass %d: %v", i, err)
				}
				want, err := r.Step(ids, p[1])
				if err != nil {
					t.Fatal(err)
				}
				scale := 0.0
				for _, v := range want {
					scale = max(scale, v, -v)
				}
				// Several tokens meet weights rounded to half.
				if diff := largest(got, want); diff > 5e-3*scale {
					t.Errorf("pass %d, %d tokens at %d: logits differ by %g of up to %g", i, p[0], p[1], diff, scale)
				}
			}
			if err := e.Close(); err != nil {
				t.Error(err)
			}
			if err := d.Close(); err != nil {
				t.Error(err)
			}
			noneLive(t, dev)
		})
	}
}

// experiment is what candle compiles for a prompt of 13 tokens and a step
// after it, in order.
var experiment = []string{
	"LIB Cast", "PIPE Cast cast_u32_f32", "LIB Gemm", "PIPE Gemm gemm_nn_f32_f32_64_32_32_2_2",
	"LIB Unary", "PIPE Unary cos_f32", "PIPE Unary sin_f32",
	"LIB Indexing", "PIPE Indexing is_u32_f32", "LIB Reduce", "PIPE Reduce rmsnorm_f32",
	"LIB Quantized", "PIPE Quantized kernel_mul_mm_q8_0_f32", "PIPE Unary copy_f32_strided",
	"PIPE Reduce rope_i_f32", "PIPE Unary copy2d_f32", "PIPE Gemm gemm_nt_f32_f32_32_32_16_2_2",
	"LIB Affine", "PIPE Affine affine_f32", "LIB Ternary", "PIPE Ternary where_u8_f32",
	"PIPE Reduce softmax_f32", "PIPE Gemm gemm_nn_f32_f32_32_32_16_2_2", "LIB Binary", "PIPE Binary badd_f32",
	"PIPE Unary silu_f32", "PIPE Binary bmul_f32", "PIPE Quantized kernel_mul_mv_q8_0_f32", "PIPE Reduce fast_argmax_f32",
	"LIB Sdpa", "PIPE Sdpa sdpa_vector_float_64",
}

// TestRealModel runs the prompt and two steps of the real model in float64:
// the plan alone, with the weights rounded to half where the kernels do so,
// must give the exact ids and logits.
func TestRealModel(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIP: takes 10 seconds; not with -short")
	}
	exact := transformertest.Files[0]
	m := load(t, modeltest.Path(t, exact.File))
	dev := newFake()
	d := open(t, dev, 50)
	e := build(t, d, m)
	ids, pos := transformertest.Prompt, 0
	for i, want := range transformertest.Greedy[:3] {
		next, err := e.Step(ids, pos)
		if err != nil {
			t.Fatal(err)
		}
		if next != want {
			t.Fatalf("token %d is %d, exactly %d", i, next, want)
		}
		if i < 2 {
			logits, err := e.Logits()
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range [][]transformertest.Logit{exact.Prefill, exact.Step}[i] {
				if diff := float64(logits[l.ID]) - l.Value; diff < -0.03 || diff > 0.03 {
					t.Errorf("after token %d: logit of %d is %g, exactly %g", i, l.ID, logits[l.ID], l.Value)
				}
			}
		}
		pos += len(ids)
		ids = []int32{next}
	}
	if !slices.Equal(dev.events, experiment) {
		t.Errorf("compiled:\n%s\nthe experiment:\n%s", strings.Join(dev.events, "\n"), strings.Join(experiment, "\n"))
	}
	// A second model on the same device compiles nothing.
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	if err := build(t, d, m).Close(); err != nil {
		t.Error(err)
	}
	if len(dev.events) != len(experiment) {
		t.Errorf("the second build compiles %v", dev.events[len(experiment):])
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	noneLive(t, dev)
}

// small is a model that takes no time.
func small(t testing.TB) *transformer.Model {
	return load(t, transformertest.Write(t, transformertest.Config{Layers: 2, Heads: 2, KVHeads: 1, HeadDim: 32, Hidden: 64, FFN: 64, Context: 64}))
}

// TestCommits counts the command buffers that the engine commits: a decode
// step of 2 layers is 1 + 2·20 + 3 dispatches and a readback.
func TestCommits(t *testing.T) {
	m := small(t)
	for perBuffer, want := range map[int]int{0: 46, 1: 45, 10: 5, 45: 1, 44: 2, 100: 1} {
		dev := newFake()
		d := open(t, dev, perBuffer)
		e := build(t, d, m)
		if _, err := e.Step([]int32{1, 2, 3}, 0); err != nil {
			t.Fatal(err)
		}
		before := dev.committed
		if _, err := e.Step([]int32{4}, 3); err != nil {
			t.Fatal(err)
		}
		if got := dev.committed - before; got != want {
			t.Errorf("%d commands a buffer: %d command buffers, want %d", perBuffer, got, want)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		noneLive(t, dev)
	}
}

// TestLongRun: what a step needs does not grow with the steps.
func TestLongRun(t *testing.T) {
	dev := newFake()
	d := open(t, dev, 50)
	e := build(t, d, small(t))
	next, err := e.Step([]int32{1, 2, 3}, 0)
	var early metalshim.Counts
	for pos := 3; pos < 60; pos++ {
		if err != nil {
			t.Fatal(err)
		}
		if next, err = e.Step([]int32{next}, pos); pos == 10 {
			early = dev.Live()
		}
	}
	late := dev.Live()
	if late.Buffers > early.Buffers || late.Fences > early.Fences || late.CommandBuffers > early.CommandBuffers {
		t.Errorf("after 10 positions %+v, after 60 %+v", early, late)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	noneLive(t, dev)
}

func TestRefused(t *testing.T) {
	dev := newFake()
	d := open(t, dev, 50)
	for want, c := range map[string]transformertest.Config{
		"head dimension 16":   {Heads: 4, KVHeads: 2, HeadDim: 16, Hidden: 64, FFN: 64},
		"rotary dimension 16": {Heads: 2, KVHeads: 2, HeadDim: 32, Hidden: 64, FFN: 64, RopeDim: 16},
	} {
		if _, err := d.New(load(t, transformertest.Write(t, c))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	e := build(t, d, small(t))
	for want, step := range map[string]func() error{
		"vocabulary": func() error { _, err := e.Step([]int32{-1}, 0); return err },
		"no tokens":  func() error { _, err := e.Step(nil, 0); return err },
		"position 3": func() error { _, err := e.Step([]int32{1}, 3); return err },
		"the last of 64 positions: the model's file allows no more (llama.context_length 64)": func() error { _, err := e.Step(make([]int32, 65), 0); return err },
		"logits before": func() error { _, err := e.Logits(); return err },
		"commands per": func() error {
			_, err := NewDevice(context.Background(), dev, Options{CommandsPerBuffer: -1})
			return err
		},
	} {
		if err := step(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	if _, err := e.Step([]int32{1}, 0); err != nil {
		t.Errorf("after refused steps: %v", err)
	}
	if e.Context() != 64 || e.ContextLimit() != "the model's file allows no more (llama.context_length 64)" {
		t.Errorf("context %d, want 64; limit %s", e.Context(), e.ContextLimit())
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	if _, err := e.Step([]int32{1}, 0); !errors.Is(err, errClosed) {
		t.Errorf("a step after Close: %v", err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	noneLive(t, dev)
}

// TestFailures lets the n-th dispatch of a kernel fail, wherever that is.
func TestFailures(t *testing.T) {
	m := small(t)
	boom := errors.New("boom")
	for _, kernel := range []string{"cast_u32_f32", "sin_f32", "is_u32_f32", "gemm_nt_f32_f32_32_32_16_2_2", "gemv_float32_bm1_bn1_sm8_sn4_tm4_tn4_nc0_axpby0", "sdpa_vector_float_32", "fast_argmax_f32"} {
		for _, perBuffer := range []int{1, 7, 50} {
			t.Run(fmt.Sprint(kernel, perBuffer), func(t *testing.T) {
				dev := newFake()
				dev.fail = func(k string) error {
					if k == kernel {
						return boom
					}
					return nil
				}
				d := open(t, dev, perBuffer)
				e, err := d.New(m)
				if err == nil {
					_, err = e.Step([]int32{1, 2, 3}, 0)
				}
				if err == nil {
					_, err = e.Step([]int32{4}, 3)
				}
				if !errors.Is(err, boom) {
					t.Fatalf("error %v, want boom", err)
				}
				if e != nil {
					if _, again := e.Step([]int32{5}, 0); again == nil || !strings.Contains(again.Error(), "unusable") {
						t.Errorf("a step after the failure: %v", again)
					}
					if err := e.Close(); err != nil {
						t.Error(err)
					}
				}
				if _, err := d.New(m); !errors.Is(err, boom) {
					t.Errorf("a model after the failure: %v", err)
				}
				if err := d.Close(); err != nil {
					t.Error(err)
				}
				noneLive(t, dev)
			})
		}
	}
}

// TestNonFinite: weights that are no numbers give an error, not a text.
func TestNonFinite(t *testing.T) {
	dev := newFake()
	d := open(t, dev, 50)
	m := small(t)
	m.OutputNorm = slices.Clone(m.OutputNorm)
	m.OutputNorm[3] = float32(math.Inf(1))
	e := build(t, d, m)
	if _, err := e.Step([]int32{1}, 0); err != nil {
		t.Fatal(err)
	}
	var bad *engine.NonFiniteError
	if _, err := e.Logits(); !errors.As(err, &bad) || bad.Layer != -1 {
		t.Errorf("logits: error %v, want a NonFiniteError of the output", err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	noneLive(t, dev)
}

package metal

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/introgen/introgen/engine/metal/kernels"
	"github.com/introgen/introgen/engine/metal/metaltest"
	"github.com/introgen/introgen/engine/quant"
	"github.com/introgen/introgen/engine/transformer"
	"github.com/introgen/introgen/engine/transformer/transformertest"
	"github.com/introgen/introgen/metalshim"
)

// TestSoftTypes runs models with matrices of floats, of blocks and of both, and
// with the largest heads, on the software driver, with the project's kernels and
// with candle's, and compares every logit with the float64 reference.
func TestSoftTypes(t *testing.T) {
	dev := metaltest.Device(t)
	metaltest.Models(t, dev)
	candle, err := kernels.Open(metaltest.Candle(t))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]transformertest.Config{
		"F32":          {Layers: 1, Heads: 4, KVHeads: 2, HeadDim: 32, Hidden: 128, FFN: 96, Vocab: 77},
		"F16":          {Layers: 1, Heads: 4, KVHeads: 2, HeadDim: 32, Hidden: 128, FFN: 97, Output: true, Embedding: quant.F16, Type: quant.F16},
		"BF16":         {Layers: 1, Heads: 2, KVHeads: 1, HeadDim: 32, Hidden: 64, FFN: 100, Embedding: quant.BF16, Type: quant.BF16},
		"mixed":        {Layers: 2, Heads: 4, KVHeads: 2, HeadDim: 64, Hidden: 256, FFN: 96, Output: true, Embedding: quant.BF16, Type: quant.Q8_0, Edit: mixed(t)},
		"heads of 512": {Layers: 1, Heads: 2, KVHeads: 1, HeadDim: 512, Hidden: 1024, FFN: 64, Type: quant.F16},
	} {
		m := load(t, transformertest.Write(t, c))
		for _, set := range []*kernels.Set{kernels.OwnSet(), candle} {
			t.Run(name+" "+map[bool]string{true: "own", false: "candle"}[set.String() == kernels.Own], func(t *testing.T) {
				if err := Fit(set, m, OfModel); err != nil {
					t.Fatal(err)
				}
				d, err := NewDevice(context.Background(), dev, Options{CommandsPerBuffer: 50, Kernels: set})
				if err != nil {
					t.Fatal(err)
				}
				e, r := build(t, d, m), transformer.NewReference(m)
				pos := 0
				for _, ids := range [][]int32{{1, 2, 3, 4, 5}, {6}, {7}, {8, 9}, {10}} {
					if _, err := e.Step(ids, pos); err != nil {
						t.Fatal(err)
					}
					got, err := e.Logits()
					if err != nil {
						t.Fatal(err)
					}
					want, err := r.Step(ids, pos)
					if err != nil {
						t.Fatal(err)
					}
					scale, most := 0.0, 1e-5 // of float32
					if name == "mixed" {
						most = 5e-3 // several tokens meet blocks rounded to half
					}
					for _, v := range want {
						scale = max(scale, v, -v)
					}
					if diff := largest(got, want); diff > most*scale {
						t.Errorf("%d tokens at %d: logits differ by %g of up to %g", len(ids), pos, diff, scale)
					}
					pos += len(ids)
				}
				if err := errors.Join(e.Close(), d.Close()); err != nil {
					t.Error(err)
				}
			})
		}
	}
	noneLive(t, dev)
}

// theirs is the project's kernels under candle's file names and another name.
func theirs(t *testing.T) *kernels.Set {
	t.Helper()
	texts := map[string][]byte{}
	for _, f := range kernels.OwnSet().Files() {
		name := f.Name
		switch f.Library {
		case "Gemm":
			name = "mlx_gemm.metal"
		case "Sdpa":
			name = "scaled_dot_product_attention.metal"
		}
		texts[name] = []byte(f.Text)
	}
	s, err := kernels.New("theirs", "", "", texts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestOutside: a kernel that leaves its buffers is whose it is, and what candle's
// is known for is said; other failures, and the project's kernels, are not.
func TestOutside(t *testing.T) {
	m := load(t, transformertest.Write(t, transformertest.Config{Layers: 1, Heads: 2, KVHeads: 1, HeadDim: 32, Hidden: 64, FFN: 64, Type: quant.Q8_0, Embedding: quant.Q8_0}))
	const whose, known = "that is a fault of the kernels theirs and not of the model", "; candle 0.11.0 is known for it: the kernel reads 8 rows at once"
	for _, c := range []struct {
		set         *kernels.Set
		kernel      string
		err         error
		whose, says bool
	}{
		{theirs(t), "kernel_mul_mv_q8_0_f32", metalshim.ErrPageFault, true, true},
		{theirs(t), "cast_u32_f32", metalshim.ErrPageFault, true, false},
		{theirs(t), "kernel_mul_mv_q8_0_f32", metalshim.ErrTimeout, false, false},
		{nil, "kernel_mul_mv_q8_0_f32", metalshim.ErrPageFault, false, false},
	} {
		dev := newFake()
		dev.fail = func(k string) error {
			if k == c.kernel {
				return &metalshim.CommandError{Kernel: k, Err: c.err}
			}
			return nil
		}
		d, err := NewDevice(t.Context(), dev, Options{CommandsPerBuffer: 50, Kernels: c.set})
		if err != nil {
			t.Fatal(err)
		}
		e, err := d.New(m)
		if err == nil {
			_, err = e.Step([]int32{1}, 0)
		}
		if !errors.Is(err, c.err) || strings.Contains(err.Error(), whose) != c.whose || strings.Contains(err.Error(), known) != c.says ||
			strings.HasSuffix(err.Error(), "; `--kernels own` has a kernel that does not") != c.whose {
			t.Errorf("%s: error %v", c.kernel, err)
		}
		if e != nil {
			err = e.Close()
		} else {
			err = nil
		}
		if err := errors.Join(err, d.Close()); err != nil {
			t.Error(err)
		}
	}
}

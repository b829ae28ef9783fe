package cost_test

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/introgen/introgen/engine/metal/cost"
	"github.com/introgen/introgen/engine/metal/forward"
)

// pass are the dispatches of the experiment's model (30 layers, hidden 576, 9 heads
// of 64 with 3 of keys and values, feed-forward 1536, 49152 tokens, Q8_0) for a
// prompt of the given tokens, and those of the decode step behind it.
func pass(t *testing.T, c forward.Config, tokens int) (prefill, step []forward.Dispatch) {
	t.Helper()
	p, err := forward.New(c)
	if err != nil {
		t.Fatal(err)
	}
	for range p.Build() {
	}
	take := func(ids []uint32, pos int) (out []forward.Dispatch) {
		steps, err := p.Step(ids, pos)
		if err != nil {
			t.Fatal(err)
		}
		for s := range steps {
			if s.Op == forward.Run {
				copied := s.Clone()
				out = append(out, *copied.Dispatch)
			}
		}
		return out
	}
	return take(make([]uint32, tokens), 0), take([]uint32{1}, tokens)
}

func find(t *testing.T, all []forward.Dispatch, name, function string) *forward.Dispatch {
	t.Helper()
	for i := range all {
		if all[i].Part.Name == name && strings.HasPrefix(all[i].Function, function) {
			return &all[i]
		}
	}
	t.Fatalf("there is no %s by %s", name, function)
	return nil
}

// TestByHand has what the shapes of the experiment's model come to.
func TestByHand(t *testing.T) {
	prefill, step := pass(t, forward.Experiment(), 13)
	const q8 = 34.0 / 32 // bytes of a weight
	for _, c := range []struct {
		in                []forward.Dispatch
		name, function    string
		read, written, op float64
	}{
		// A matrix times a vector: the weights and the vector are read, a value for
		// each row is written, and each weight is multiplied and added once.
		{step, forward.PartQ, "kernel_mul_mv_q8_0", 576*576*q8 + 576*4, 576 * 4, 2 * 576 * 576},
		{step, forward.PartK, "kernel_mul_mv_q8_0", 192*576*q8 + 576*4, 192 * 4, 2 * 192 * 576},
		{step, forward.PartGate, "kernel_mul_mv_q8_0", 1536*576*q8 + 576*4, 1536 * 4, 2 * 1536 * 576},
		{step, forward.PartDown, "kernel_mul_mv_q8_0", 576*1536*q8 + 1536*4, 576 * 4, 2 * 576 * 1536},
		{step, forward.PartOutput, "kernel_mul_mv_q8_0", 49152*576*q8 + 576*4, 49152 * 4, 2 * 49152 * 576},
		// The same times 13 vectors.
		{prefill, forward.PartQ, "kernel_mul_mm_q8_0", 576*576*q8 + 13*576*4, 13 * 576 * 4, 2 * 13 * 576 * 576},
		{prefill, forward.PartDown, "kernel_mul_mm_q8_0", 576*1536*q8 + 13*1536*4, 13 * 576 * 4, 2 * 13 * 576 * 1536},
		// Attention of one token over 14 keys: 9 queries, and 3 heads of keys and of
		// values. Each query is scaled, multiplied by 14 keys, its 14 scores make a
		// softmax, and as many values are added up.
		{step, forward.PartAttention, "sdpa_vector_float_64", 4 * (9*64 + 2*3*14*64), 4 * 9 * 64, 9 * (64 + 14*(2*64+5+2*64))},
		// Attention of 13 tokens, head by head: q·kᵀ, scaled, masked, softmax, times v.
		{prefill, forward.PartAttention, "gemm_nt", 4 * 9 * (13*64 + 13*64), 4 * 9 * 13 * 13, 2 * 9 * 13 * 13 * 64},
		{prefill, forward.PartAttention, "affine", 4 * 9 * 13 * 13, 4 * 9 * 13 * 13, 2 * 9 * 13 * 13},
		{prefill, forward.PartAttention, "where", 13*13 + 4 + 4*9*13*13, 4 * 9 * 13 * 13, 0},
		{prefill, forward.PartAttention, "softmax", 4 * 9 * 13 * 13, 4 * 9 * 13 * 13, 5 * 9 * 13 * 13},
		{prefill, forward.PartAttention, "gemm_nn", 4 * 9 * (13*13 + 13*64), 4 * 9 * 13 * 64, 2 * 9 * 13 * 13 * 64},
		{prefill, forward.PartAttention, "copy2d", 4 * 3 * 13 * 64, 4 * 3 * 13 * 64, 0},
		// A norm: squares and their sum, then twice a product; and per row the mean, the
		// epsilon, the root and its reciprocal.
		{step, forward.PartAttnNorm, "rmsnorm", 4 * (576 + 576), 4 * 576, 4*576 + 4},
		{prefill, forward.PartFFNNorm, "rmsnorm", 4 * (13*576 + 576), 4 * 13 * 576, 13 * (4*576 + 4)},
		// 9 × 32 pairs of a query by the 32 angles of a position; 13 positions.
		{step, forward.PartRope, "rope", 4 * (9*64 + 2*32), 4 * 9 * 64, 6 * 9 * 32},
		{prefill, forward.PartRope, "rope", 4 * (9*13*64 + 2*13*32), 4 * 9 * 13 * 64, 6 * 9 * 13 * 32},
		{step, forward.PartAttnResidual, "badd", 4 * 2 * 576, 4 * 576, 576},
		{step, forward.PartActivation, "silu", 4 * 1536, 4 * 1536, 3 * 1536},
		{step, forward.PartActivation, "bmul", 4 * 2 * 1536, 4 * 1536, 1536},
		{step, forward.PartCache, "copy2d", 4 * 3 * 13 * 64, 4 * 3 * 13 * 64, 0},
		{prefill, forward.PartHeads, "copy_f32_strided", 4 * 13 * 3 * 64, 4 * 13 * 3 * 64, 0},
		{prefill, forward.PartEmbedding, "is_u32", 4*13*576 + 4*13, 4 * 13 * 576, 0},
		{step, forward.PartNext, "fast_argmax", 4 * 49152, 4, 49152},
	} {
		t.Run(c.name+" "+c.function, func(t *testing.T) {
			got, ok := cost.Of(find(t, c.in, c.name, c.function))
			if want := (cost.Cost{Read: int64(c.read), Written: int64(c.written), Ops: int64(c.op)}); !ok || got != want {
				t.Errorf("%+v, by hand %+v", got, want)
			}
		})
	}
}

// TestOthersByHand has what shapes of other architectures come to: 4 heads of 64 with 2 of
// keys and values, hidden 256, of a prompt of 13 tokens and the step behind it.
func TestOthersByHand(t *testing.T) {
	for _, c := range others() {
		if c.Model != "qwen2" && c.Model != "qwen3" || !c.Candle {
			continue
		}
		prefill, step := pass(t, c, 13)
		type figures struct {
			in                []forward.Dispatch
			name, function    string
			read, written, op float64
		}
		all := []figures{
			// Each of 4 queries times 14 keys of 64, and its 14 weights times 14 values.
			{step, forward.PartAttention, "gemv_float32", 4 * 4 * (14*64 + 64), 4 * 4 * 14, 2 * 4 * 14 * 64},
			{step, forward.PartAttention, "gemv_t_float32", 4 * 4 * (14*64 + 14), 4 * 4 * 64, 2 * 4 * 14 * 64},
			// 32 pairs of each head of 13 tokens, by the 32 angles of each token.
			{prefill, forward.PartRope, "rope_f32", 4 * (4*13*64 + 2*13*32), 4 * 4 * 13 * 64, 6 * 4 * 13 * 32},
		}
		if c.Model == "qwen2" {
			all = append(all, figures{prefill, forward.PartQ, "badd_f32_rstrided", 4 * (13*256 + 256), 4 * 13 * 256, 13 * 256})
		} else {
			all = append(all,
				figures{prefill, forward.PartAttention, "badd_f32_rstrided", 4 * (4*13*13 + 13*13), 4 * 4 * 13 * 13, 4 * 13 * 13},
				figures{prefill, forward.PartQNorm, "rmsnorm", 4 * (4*13*64 + 64), 4 * 4 * 13 * 64, 4*4*13*64 + 4*4*13},
				figures{prefill, forward.PartRope, "cast_f16_f32", 2 * 13 * 32, 4 * 13 * 32, 0},
				figures{prefill, forward.PartMask, "cast_f32_f16", 4 * 13 * 13, 2 * 13 * 13, 0})
		}
		for _, f := range all {
			got, ok := cost.Of(find(t, f.in, f.name, f.function))
			if want := (cost.Cost{Read: int64(f.read), Written: int64(f.written), Ops: int64(f.op)}); !ok || got != want {
				t.Errorf("%s %s: %+v, by hand %+v", c.Model, f.function, got, want)
			}
		}
	}
}

// TestStepReadsEveryWeightOnce: what a decode step multiplies by is the file's 134
// million weights, each once.
func TestStepReadsEveryWeightOnce(t *testing.T) {
	_, step := pass(t, forward.Experiment(), 13)
	var read, ops int64
	for i := range step {
		if d := &step[i]; strings.HasPrefix(d.Function, "kernel_mul_mv_") {
			c, _ := cost.Of(d)
			read, ops = read+c.Read, ops+c.Ops
		}
	}
	perLayer := 2*576*576 + 2*192*576 + 3*1536*576
	weights := int64(30*perLayer + 49152*576)
	vectors := int64(4 * (30*(4*576+2*576+1536) + 576))
	if read != weights/32*34+vectors || ops != 2*weights {
		t.Errorf("a step reads %d bytes for its products and makes %d operations, by hand %d and %d", read, ops, weights/32*34+vectors, 2*weights)
	}
}

// TestTwoPasses: from 1024 keys on attention runs in two passes over 32 blocks.
func TestTwoPasses(t *testing.T) {
	_, step := pass(t, forward.Experiment(), 1100)
	first, ok := cost.Of(find(t, step, forward.PartAttention, "sdpa_vector_2pass_1"))
	if want := (cost.Cost{Read: 4 * (9*64 + 2*3*1101*64), Written: 4 * 9 * 32 * (64 + 2), Ops: 9 * (64 + 1101*(2*64+4+2*64))}); !ok || first != want {
		t.Errorf("first pass: %+v, by hand %+v", first, want)
	}
	second, ok := cost.Of(find(t, step, forward.PartAttention, "sdpa_vector_2pass_2"))
	if want := (cost.Cost{Read: 4 * 9 * 32 * (64 + 2), Written: 4 * 9 * 64, Ops: 9 * (32*5 + 64*2*32 + 64)}); !ok || second != want {
		t.Errorf("second pass: %+v, by hand %+v", second, want)
	}
}

// configs are models whose plans launch every kernel that there is: each format of
// weights, small ones and large ones, long contexts, each head dimension.
func configs() []forward.Config {
	var out []forward.Config
	for _, f := range forward.Formats() {
		c := forward.Config{Layers: 1, Heads: 8, KVHeads: 1, HeadDim: 32, Hidden: 256, FFN: 512, Vocab: 300, Context: 1100, RMSEps: 1e-5, RopeBase: 1e4, RopeDim: 32, OwnOutput: true}
		c.Format = func(tensor string) (forward.Format, error) {
			if strings.Contains(tensor, "norm") {
				return forward.FormatOf("F32")
			}
			return f, nil
		}
		out = append(out, c)
	}
	for _, dim := range []int{64, 96, 128, 256, 512} {
		c := out[4]
		c.HeadDim, c.RopeDim, c.Heads, c.Hidden = dim, dim, 2, 2*dim
		out = append(out, c)
	}
	return append(out, others()...)
}

// others are models of each architecture, by its own arithmetic and by candle's.
func others() (out []forward.Config) {
	for _, model := range forward.Models() {
		for _, candle := range []bool{false, true} {
			c := forward.Config{Model: model, Candle: candle, HalfTables: true, Layers: 1, Heads: 4, KVHeads: 2, HeadDim: 64, Hidden: 256, FFN: 512, Vocab: 300, Context: 1100, RMSEps: 1e-5, RopeBase: 1e4, RopeDim: 64, OwnOutput: true}
			c.Window = func(int) int { return 100 }
			c.Format = func(tensor string) (forward.Format, error) {
				if strings.Contains(tensor, "norm") || strings.HasSuffix(tensor, "bias") {
					return forward.FormatOf("F32")
				}
				return forward.FormatOf("Q8_0")
			}
			out = append(out, c)
		}
	}
	return out
}

// TestEveryKernelIsKnown: all that a plan can launch has a cost, and a part of the
// model.
func TestEveryKernelIsKnown(t *testing.T) {
	seen := map[string]bool{}
	for i, c := range configs() {
		calls, err := forward.Calls(c)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range calls {
			seen[d.Function] = true
			got, ok := cost.Of(&d)
			if !ok || got.Read <= 0 || got.Written <= 0 {
				t.Errorf("model %d: %s: %+v, %v", i, d.Function, got, ok)
			}
			if d.Part.Name == "" || d.Part.Layer < forward.NoLayer || d.Part.Layer > 0 {
				t.Errorf("model %d: %s is of the part %+v", i, d.Function, d.Part)
			}
		}
	}
	if len(seen) < 15+2*10+2*6 {
		t.Errorf("only %d kernels were launched", len(seen))
	}
}

// TestUnknown: of arguments and kernels that the plan has not, nothing is said.
func TestUnknown(t *testing.T) {
	u64 := func(index int, v ...uint64) forward.Arg {
		var b []byte
		for _, x := range v {
			b = binary.LittleEndian.AppendUint64(b, x)
		}
		return forward.Arg{Index: index, Data: b}
	}
	for _, d := range []forward.Dispatch{
		{}, {Function: "add"}, {Function: "cos_f32"}, {Function: "gemm_nt_f16_f16_32_32_16_2_2"}, {Function: "sdpa_vector_float_0"}, {Function: "sdpa_vector_float_x"},
		{Function: "cos_f32", Args: []forward.Arg{{Index: 0, Data: []byte{1, 2, 3}}}},
		{Function: "cos_f32", Args: []forward.Arg{{Index: 0, Buf: 1}}},
		{Function: "cos_f32", Args: []forward.Arg{u64(0, 1<<63)}},
		{Function: "cos_f32", Args: []forward.Arg{u64(0, 1<<52)}},
		{Function: "copy2d_f32", Args: []forward.Arg{u64(0, 1<<40), u64(1, 1<<40)}},
		{Function: "rmsnorm_f32", Args: []forward.Arg{u64(0, 576), u64(1, 0)}},
		{Function: "copy_f32_strided", Args: []forward.Arg{u64(0, 5), u64(1, 1<<40), u64(2, 5), u64(3, 1)}},
		{Function: "rope_i_f32", Args: []forward.Arg{u64(0, 9), u64(1, 64), u64(2, 64)}},
	} {
		if got, ok := cost.Of(&d); ok {
			t.Errorf("%s with %d arguments: %+v", d.Function, len(d.Args), got)
		}
	}
}

// BenchmarkStep is what it costs to know the costs of a decode step.
func BenchmarkStep(b *testing.B) {
	p, err := forward.New(forward.Experiment())
	if err != nil {
		b.Fatal(err)
	}
	for range p.Build() {
	}
	var step []forward.Dispatch
	steps, err := p.Step([]uint32{1}, 0)
	if err != nil {
		b.Fatal(err)
	}
	for s := range steps {
		if s.Op == forward.Run {
			copied := s.Clone()
			step = append(step, *copied.Dispatch)
		}
	}
	for b.Loop() {
		for i := range step {
			if _, ok := cost.Of(&step[i]); !ok {
				b.Fatal(fmt.Sprint(step[i].Function, " is unknown"))
			}
		}
	}
}

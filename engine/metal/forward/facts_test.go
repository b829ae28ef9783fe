package forward

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// The figures in this file were counted in runs of candle 0.11.0 itself on a
// recording mock of Metal.

func TestCommandBuffers(t *testing.T) {
	for _, c := range []struct {
		perBuffer                     int
		build, prefill, decode        int // commits
		encoders                      int // compute encoders of a decode step
		prefillBarriers, stepBarriers int
	}{
		{0, 128, 906, 606, 604, 0, 0},
		{1, 66, 905, 605, 604, 0, 0},
		{10, 62, 91, 61, 61, 633, 363},
		{50, 62, 19, 13, 13, 705, 411},
		{200, 62, 5, 4, 4, 719, 420},
		{100000, 62, 1, 1, 1, 723, 423},
	} {
		t.Run(fmt.Sprint(c.perBuffer), func(t *testing.T) {
			phases := ownTrace(t, smol(), prompt, 3, c.perBuffer, true)
			build, prefill, step := counts(phases[0].events), counts(phases[1].events), counts(phases[3].events)
			for _, f := range []struct {
				what      string
				got, want int
			}{
				{"commits in build", build["commit"], c.build},
				{"commits in prefill", prefill["commit"], c.prefill},
				{"commits in a decode step", step["commit"], c.decode},
				{"compute encoders in a decode step", step["encoder compute"], c.encoders},
				{"barriers in prefill", prefill["barrier"], c.prefillBarriers},
				{"barriers in a decode step", step["barrier"], c.stepBarriers},
				{"dispatches in build", build["run"], 4},
				{"dispatches in prefill", prefill["run"], 904},
				{"dispatches in a decode step", step["run"], 604},
				{"readbacks in build", build["copy"], 62},
				{"readbacks in prefill", prefill["copy"], 1},
				{"readbacks in a decode step", step["copy"], 1},
				{"uploads in build", build["upload"], 337},
				{"private buffers made in prefill", prefill["new private"], 74},
				{"private buffers made in a decode step", step["new private"], 9},
			} {
				if f.got != f.want {
					t.Errorf("%s: %d, candle has %d", f.what, f.got, f.want)
				}
			}
		})
	}
}

func TestDispatchesByKernel(t *testing.T) {
	phases := ownTrace(t, smol(), prompt, 1, 50, false)
	for i, want := range []map[string]int{
		{"cast_u32_f32": 1, "gemm_nn_f32_f32_64_32_32_2_2": 1, "cos_f32": 1, "sin_f32": 1},
		{
			"kernel_mul_mm_q8_0_f32": 210, "copy2d_f32": 180, "copy_f32_strided": 120, "rmsnorm_f32": 61, "rope_i_f32": 60,
			"badd_f32": 60, "gemm_nt_f32_f32_32_32_16_2_2": 30, "gemm_nn_f32_f32_32_32_16_2_2": 30, "affine_f32": 30,
			"where_u8_f32": 30, "softmax_f32": 30, "silu_f32": 30, "bmul_f32": 30, "kernel_mul_mv_q8_0_f32": 1,
			"is_u32_f32": 1, "fast_argmax_f32": 1,
		},
		{
			"kernel_mul_mv_q8_0_f32": 211, "copy2d_f32": 120, "rmsnorm_f32": 61, "rope_i_f32": 60, "badd_f32": 60,
			"sdpa_vector_float_64": 30, "silu_f32": 30, "bmul_f32": 30, "is_u32_f32": 1, "fast_argmax_f32": 1,
		},
	} {
		got := counts(phases[i].events)
		for function, n := range want {
			if got[function] != n {
				t.Errorf("%s: %s runs %d times, in candle %d", phases[i].name, function, got[function], n)
			}
		}
	}
}

// pipelines are the functions in the order in which they are first needed.
func pipelines(phases []section) []string {
	var names []string
	for _, p := range phases {
		for _, e := range p.events {
			if f := strings.Fields(e); f[0] == "pipe" {
				names = append(names, f[1])
			}
		}
	}
	return names
}

// TestPromptLengths holds candle's rules for other prompts than 13 tokens: up
// to 15 the same pipelines, from 16 on other tiles, and one token alone takes
// the decode path.
func TestPromptLengths(t *testing.T) {
	thirteen := pipelines(ownTrace(t, smol(), prompt, 1, 50, false))
	if len(thirteen) != 21 {
		t.Fatalf("a prompt of 13 and a step need %d pipelines, in candle 21: %v", len(thirteen), thirteen)
	}
	for _, n := range []int{2, 15, 16, 33, 40, 70} {
		phases := ownTrace(t, smol(), make([]uint32, n), 1, 50, false)
		if got := counts(phases[1].events)["run"]; got != 904 {
			t.Errorf("prompt of %d: %d dispatches, in candle 904", n, got)
		}
		want := slices.Clone(thirteen)
		if n >= 16 {
			for i, f := range want {
				switch f {
				case "gemm_nt_f32_f32_32_32_16_2_2":
					want[i] = "gemm_nt_f32_f32_32_64_16_1_2"
				case "gemm_nn_f32_f32_32_32_16_2_2":
					want[i] = "gemm_nn_f32_f32_64_32_32_2_2"
				}
			}
		}
		if got := pipelines(phases); !slices.Equal(got, want) {
			t.Errorf("prompt of %d: pipelines\n%v, by candle's rule\n%v", n, got, want)
		}
	}

	one := counts(ownTrace(t, smol(), []uint32{1}, 0, 50, false)[1].events)
	if one["run"] != 484 || one["copy2d_f32"] != 0 || one["kernel_mul_mm_q8_0_f32"] != 0 || one["sdpa_vector_float_64"] != 30 {
		t.Errorf("prompt of 1: %v; candle has 484 dispatches, no copies, no matrix × matrix, 30 attentions", one)
	}
}

// argument finds the bytes of an argument in the first dispatch of function.
func argument(t *testing.T, events []string, function string, index int) string {
	t.Helper()
	for _, e := range events {
		f := strings.Fields(e)
		if f[0] != "run" || f[1] != function {
			continue
		}
		for _, a := range f[6:] {
			if i, value, _ := strings.Cut(a, "="); i == fmt.Sprint(index) {
				return value
			}
		}
	}
	t.Fatalf("no %s with argument %d", function, index)
	return ""
}

func le32(v ...int) string {
	s := ""
	for _, x := range v {
		s += fmt.Sprintf("%02x%02x%02x%02x", byte(x), byte(x>>8), byte(x>>16), byte(x>>24))
	}
	return s
}

func le64(v ...int) string {
	s := ""
	for _, x := range v {
		s += le32(x, x>>32)
	}
	return s
}

// TestForty spells out what candle's rules give for 40 tokens, where they
// differ from the 13 of the trace.
func TestForty(t *testing.T) {
	events := ownTrace(t, smol(), make([]uint32, 40), 0, 50, false)[1].events
	for _, c := range []struct {
		function string
		index    int
		want     string
	}{
		{"kernel_mul_mm_q8_0_f32", 14, le64(40)},
		{"kernel_mul_mm_q8_0_f32", 11, le64(4 * 576 * 40)},
		// q·kᵀ: M N K lda ldb ldd tiles, strides, k steps of 16
		{"gemm_nt_f32_f32_32_64_16_1_2", 4, le32(40, 40, 64, 64, 64, 40, 1, 2) + le64(2560, 2560, 1600) + le32(0, 4, 1, 0)},
		{"gemm_nt_f32_f32_32_64_16_1_2", 6, le32(9)},
		{"gemm_nn_f32_f32_64_32_32_2_2", 4, le32(40, 64, 40, 40, 64, 64, 2, 1) + le64(1600, 2560, 2560) + le32(0, 1, 1, 0)},
		{"where_u8_f32", 2, le64(1, 9, 40, 40)},
		{"copy2d_f32", 3, le64(3 * 40 * 64)},
	} {
		if got := argument(t, events, c.function, c.index); got != c.want {
			t.Errorf("%s argument %d: %s, by candle's rule %s", c.function, c.index, got, c.want)
		}
	}
	for _, want := range []string{
		"run kernel_mul_mm_q8_0_f32 groups 2,9,1 128,1,1 8192 ",
		"run gemm_nt_f32_f32_32_64_16_1_2 groups 1,2,9 32,2,1 0 ",
		"run gemm_nn_f32_f32_64_32_32_2_2 groups 2,1,9 32,2,2 0 ",
		"run softmax_f32 groups 360,1,1 32,1,1 0 ",
		"run copy2d_f32 threads 3,2560,1 2,512,1 0 ",
		"run where_u8_f32 groups 8,1,1 1024,1,1 0 ",
	} {
		if !slices.ContainsFunc(events, func(e string) bool { return strings.HasPrefix(e, want) }) {
			t.Errorf("no %q", want)
		}
	}
}

// TestTwoPass: attention runs in two passes from 1024 keys on, one operation
// of two dispatches.
func TestTwoPass(t *testing.T) {
	for _, perBuffer := range []int{1, 10, 50, 200} {
		phases := ownTrace(t, smol(), make([]uint32, 1022), 2, perBuffer, false)
		below, above := counts(phases[2].events), counts(phases[3].events)
		if below["run"] != 604 || above["run"] != 634 {
			t.Errorf("dispatches at 1023 and 1024 keys: %d and %d, in candle 604 and 634", below["run"], above["run"])
		}
		if below["commit"] != above["commit"] {
			t.Errorf("%d commands a buffer: %d commits at 1023 keys, %d at 1024; candle counts two passes once", perBuffer, below["commit"], above["commit"])
		}
		if above["sdpa_vector_2pass_1_float_64"] != 30 || above["sdpa_vector_2pass_2_float_64"] != 30 || above["new private"] != 11 {
			t.Errorf("at 1024 keys: %v", above)
		}
	}
}

// experiment is the experiment's list of 21 pipelines, in the order in which
// they are first needed.
var experiment = []string{
	"cast_u32_f32", "gemm_nn_f32_f32_64_32_32_2_2", "cos_f32", "sin_f32",
	"is_u32_f32", "rmsnorm_f32", "kernel_mul_mm_q8_0_f32", "copy_f32_strided", "rope_i_f32", "copy2d_f32",
	"gemm_nt_f32_f32_32_32_16_2_2", "affine_f32", "where_u8_f32", "softmax_f32", "gemm_nn_f32_f32_32_32_16_2_2",
	"badd_f32", "silu_f32", "bmul_f32", "kernel_mul_mv_q8_0_f32", "fast_argmax_f32",
	"sdpa_vector_float_64",
}

// TestArchitecture holds the list on every class of device. On the small ones,
// whose architecture ends in g or p, candle's rule takes another tile for the
// rotary tables; a prompt of 13 tokens has too few rows for any other choice.
func TestArchitecture(t *testing.T) {
	small := slices.Clone(experiment)
	small[1] = "gemm_nn_f32_f32_64_64_16_2_2"
	for _, c := range []struct {
		architecture string
		want         []string
	}{
		{"", experiment},
		{"applegpu_g14s", experiment},
		{"applegpu_g13d", experiment},
		{"applegpu_g13g", small},
		{"applegpu_g16p", small},
	} {
		config := smol()
		config.Architecture = c.architecture
		if got := pipelines(ownTrace(t, config, prompt, 2, 50, false)); !slices.Equal(got, c.want) {
			t.Errorf("architecture %q: pipelines\n%v, by candle's rule\n%v", c.architecture, got, c.want)
		}
	}
}

// TestContinue: several tokens after a cache, and a step back to an earlier
// position, which candle has no call for but its copies allow.
func TestContinue(t *testing.T) {
	p, r := planner(t, smol()), newReplay(t, 50)
	r.run(p.Build())
	step := func(n, pos int) []string {
		steps, err := p.Step(make([]uint32, n), pos)
		if err != nil {
			t.Fatal(err)
		}
		r.events = nil
		r.run(steps)
		return r.events
	}
	step(13, 0)
	events := step(4, 13)
	if c := counts(events); c["copy2d_f32"] != 30*(4+6) || c["kernel_mul_mm_q8_0_f32"] != 210 {
		t.Errorf("4 tokens after 13: %v", c)
	}
	if got := argument(t, events, "where_u8_f32", 2); got != le64(1, 9, 4, 17) {
		t.Errorf("mask of 4 tokens over 17 keys: dimensions %s", got)
	}
	// A step at position 5 takes the first 5 of 17 cached positions.
	events = step(1, 5)
	for i, want := range []string{le64(3), le64(5 * 64), le64(17 * 64), le64(6 * 64)} {
		if got := argument(t, events, "copy2d_f32", i); got != want {
			t.Errorf("cache of 17 cut to 5: copy argument %d is %s, want %s", i, got, want)
		}
	}
	if p.Cached() != 6 {
		t.Errorf("%d positions cached, want 6", p.Cached())
	}
}

func TestLimits(t *testing.T) {
	p, r := planner(t, smol()), newReplay(t, 50)
	if _, err := p.Step(prompt, 0); err == nil {
		t.Error("a step before the build is accepted")
	}
	if _, err := p.ReadLogits(); err == nil {
		t.Error("logits before the first step are accepted")
	}
	r.run(p.Build())
	var limit *LimitError
	if _, err := p.Step(make([]uint32, 4097), 0); !errors.As(err, &limit) || !strings.Contains(err.Error(), "4096") {
		t.Errorf("4097 tokens: %v", err)
	}
	steps, err := p.Step(make([]uint32, 4096), 0)
	if err != nil {
		t.Fatalf("4096 tokens: %v", err)
	}
	r.run(steps)
	if _, err := p.Step([]uint32{1}, 4096); !errors.As(err, &limit) {
		t.Errorf("token at position 4096: %v", err)
	}
	for _, c := range []struct {
		ids  []uint32
		pos  int
		want string
	}{
		{nil, 0, "no tokens"},
		{[]uint32{1}, -1, "position -1"},
		{[]uint32{1}, 4097, "position 4097"},
		{[]uint32{1, 49152}, 0, "token 1 of 2 is 49152"},
	} {
		if _, err := p.Step(c.ids, c.pos); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Step(%v, %d): error %v, want one with %q", c.ids, c.pos, err, c.want)
		}
	}
}

func TestConfigErrors(t *testing.T) {
	for _, c := range []struct {
		change func(*Config)
		want   string
	}{
		{func(c *Config) { c.Layers = 0 }, "layers is 0"},
		{func(c *Config) { c.KVHeads = 2 }, "9 heads cannot share 2"},
		{func(c *Config) { c.Hidden, c.Candle = 640, true }, "hidden size is 640"},
		{func(c *Config) { c.RopeDim = 32 }, "rotary dimension 32"},
		{func(c *Config) { c.Heads, c.KVHeads, c.HeadDim, c.RopeDim, c.Hidden = 9, 3, 80, 80, 720 }, "head dimension 80"},
		{func(c *Config) { c.FFN = 1520 }, "rows of 1520 elements are no whole blocks of 32"},
		{func(c *Config) { c.Format = func(string) (Format, error) { return FormatOf("IQ2_XS") } }, "no metal kernel multiplies weights of type IQ2_XS"},
		{func(c *Config) { c.Format = nil }, "Format is not set"},
	} {
		config := smol()
		c.change(&config)
		if _, err := New(config); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
}

// TestShapes runs other models' shapes: without grouped heads, with one
// key/value head, with an output matrix of its own, in other formats.
func TestShapes(t *testing.T) {
	for name, c := range map[string]struct {
		change            func(*Config)
		prefill, decode   int
		mm, mv            string
		copies, strided   int
		uploads, readback int
	}{
		"no groups":   {func(c *Config) { c.KVHeads = 9 }, 904 - 180, 604, "kernel_mul_mm_q8_0_f32", "kernel_mul_mv_q8_0_f32", 0, 120, 337, 62},
		"one kv head": {func(c *Config) { c.KVHeads = 1 }, 904 - 60 + 360, 604, "kernel_mul_mm_q8_0_f32", "kernel_mul_mv_q8_0_f32", 540, 60, 337, 62},
		"own output":  {func(c *Config) { c.OwnOutput = true }, 904, 604, "kernel_mul_mm_q8_0_f32", "kernel_mul_mv_q8_0_f32", 180, 120, 338, 62},
		"q4_1": {func(c *Config) {
			c.Format = func(n string) (Format, error) {
				if strings.HasPrefix(n, "blk.") && !strings.Contains(n, "norm") {
					return FormatOf("Q4_1")
				}
				return FormatOf("Q8_0")
			}
		}, 904, 604, "kernel_mul_mm_q4_1_f32", "kernel_mul_mv_q4_1_f32", 180, 120, 337, 62},
	} {
		t.Run(name, func(t *testing.T) {
			config := smol()
			c.change(&config)
			phases := ownTrace(t, config, prompt, 1, 50, false)
			build, prefill, step := counts(phases[0].events), counts(phases[1].events), counts(phases[2].events)
			if prefill["run"] != c.prefill || step["run"] != c.decode {
				t.Errorf("dispatches: %d and %d, want %d and %d", prefill["run"], step["run"], c.prefill, c.decode)
			}
			if prefill[c.mm] != 210 || step[c.mv] < 210 {
				t.Errorf("%s runs %d times in prefill and %s %d times in a step", c.mm, prefill[c.mm], c.mv, step[c.mv])
			}
			if prefill["copy2d_f32"] != c.copies || prefill["copy_f32_strided"] != c.strided {
				t.Errorf("copies: %d and %d strided, want %d and %d", prefill["copy2d_f32"], prefill["copy_f32_strided"], c.copies, c.strided)
			}
			if build["upload"] != c.uploads || build["copy"] != c.readback {
				t.Errorf("build: %d uploads and %d readbacks, want %d and %d", build["upload"], build["copy"], c.uploads, c.readback)
			}
		})
	}
}

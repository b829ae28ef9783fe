package signatures

import (
	"fmt"
	"strings"
	"testing"

	"github.com/introgen/introgen/engine/metal/forward"
	"github.com/introgen/introgen/engine/metal/kernels"
	"github.com/introgen/introgen/engine/metal/metaltest"
)

// TestCandleFitsItself: the plan launches nothing that candle 0.11.0's own files
// do not have, whatever the model's types, heads and context. Otherwise the
// error would say that candle does not fit candle.
func TestCandleFitsItself(t *testing.T) {
	candle, err := kernels.Open(metaltest.Candle(t))
	if err != nil {
		t.Fatal(err)
	}
	check := func(format string, dim, context int) {
		t.Run(fmt.Sprint(format, dim, context), func(t *testing.T) {
			err := Check(candle, forward.Config{
				Layers: 1, Heads: 8, KVHeads: 4, HeadDim: dim, Hidden: 8 * dim, FFN: 512, Vocab: 5000, Context: context,
				RMSEps: 1e-5, RopeBase: 10000, RopeDim: dim, OwnOutput: true,
				Format: func(tensor string) (forward.Format, error) {
					if strings.HasSuffix(tensor, "norm.weight") {
						return forward.FormatOf("F32")
					}
					return forward.FormatOf(format)
				},
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	for _, f := range forward.Formats() {
		check(f.Name, 64, 8192)
	}
	for _, dim := range []int{32, 96, 128, 256, 512} {
		check("bf16", dim, 8192)
	}
	for _, context := range []int{1, 2, 13, 1024, 1025} {
		check("f16", 64, context)
	}
	for _, c := range others() {
		t.Run(fmt.Sprint(c.Model, c.Candle, c.Context), func(t *testing.T) {
			if err := Check(candle, c); err != nil {
				t.Error(err)
			}
		})
	}
}

// others are models of each architecture, by its own arithmetic and by candle's, with
// long contexts and short ones.
func others() (out []forward.Config) {
	for _, model := range forward.Models() {
		for _, context := range []int{2, 9, 40960} {
			for _, candle := range []bool{false, true} {
				c := smol()
				c.Model, c.Candle, c.HalfTables, c.Context = model, candle, true, context
				c.Window = func(int) int { return 512 }
				c.OwnOutput = c.OwnOutput || model == "phi3" // which candle does not tie
				out = append(out, c)
			}
		}
	}
	return out
}

// TestOwnHasAll: each kernel that the plan could launch is among the project's,
// which Check passes over.
func TestOwnHasAll(t *testing.T) {
	own := reader{set: kernels.OwnSet()}
	for _, f := range forward.Formats() {
		for _, vocab := range []int{2, 5000} {
			c := smol()
			c.Vocab, c.Hidden, c.Heads, c.KVHeads, c.FFN = vocab, 512, 8, 2, 256
			c.Format = func(string) (forward.Format, error) { return f, nil }
			hasAll(t, &own, c)
		}
	}
	for _, c := range others() {
		hasAll(t, &own, c)
	}
}

func hasAll(t *testing.T, own *reader, c forward.Config) {
	t.Helper()
	calls, err := forward.Calls(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, call := range calls {
		l, _, err := own.library(call.Library)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := l.Kernel(call.Function); !ok {
			t.Errorf("%s %s is launched, and there is none", call.Library, call.Function)
		}
	}
}

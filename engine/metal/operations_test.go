package metal

import (
	"context"
	"slices"
	"testing"

	"github.com/introgen/introgen/engine/metal/forward"
	"github.com/introgen/introgen/engine/transformer/transformertest"
	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/shimtest"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// TestOperations: whoever instruments the device is told of every dispatch and copy
// of a pass what of the model it is and what it costs, in the order of the plan.
func TestOperations(t *testing.T) {
	m := load(t, transformertest.Write(t, transformertest.Config{Layers: 2, Heads: 4, KVHeads: 2, HeadDim: 32, Hidden: 128, FFN: 96}))
	shim, err := metalshim.Instrument(newFake(), metalshim.InstrumentOptions{Recorder: trace.New(), Operations: true})
	if err != nil {
		t.Fatal(err)
	}
	d, err := NewDevice(context.Background(), shim, Options{CommandsPerBuffer: 50})
	if err != nil {
		t.Fatal(err)
	}
	e := build(t, d, m)
	built := len(shim.OperationsFrom(0))
	if _, err := e.Step([]int32{1, 2, 3}, 0); err != nil {
		t.Fatal(err)
	}
	many := len(shim.OperationsFrom(0))
	if _, err := e.Step([]int32{4}, 3); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Logits(); err != nil {
		t.Fatal(err)
	}
	for _, o := range shim.OperationsFrom(0) {
		if o.Name == "" || !o.Known || o.Layer < metalshim.NoLayer || o.Layer > 1 {
			t.Errorf("%s is told as %+v", o.Kernel, o.Operation)
		}
	}
	type part struct {
		layer int
		name  string
	}
	var got []part
	for _, o := range shim.OperationsFrom(many) {
		p := part{o.Layer, o.Name}
		if o.Kernel == names.Blit {
			p.name += " to the CPU"
		}
		if !slices.Contains(got, p) {
			got = append(got, p)
		}
	}
	// The parts of a llama's block.
	var want []part
	none := metalshim.NoLayer
	want = append(want, part{none, forward.PartEmbedding})
	for layer := range 2 {
		for _, name := range []string{"attn_norm", "attn_q", "attn_k", "attn_v", "rope", "kv_cache", "attention", "attn_output", "attn_residual",
			"ffn_norm", "ffn_gate", "ffn_up", "ffn_act", "ffn_down", "ffn_residual"} {
			want = append(want, part{layer, name})
		}
	}
	want = append(want, part{none, "output_norm"}, part{none, "next token to the CPU"}, part{none, "logits to the CPU"})
	// What is alike in the pass of several tokens, such as the product with the output
	// matrix, was told of there, and is not told again.
	for _, p := range want {
		seen := slices.Contains(got, p) || slices.ContainsFunc(shim.OperationsFrom(built)[:many-built], func(o metalshim.OperationRecord) bool {
			return o.Layer == p.layer && (o.Name == p.name || o.Kernel == names.Blit && o.Name+" to the CPU" == p.name)
		})
		if !seen {
			t.Errorf("nothing is told of %+v; the step has %+v", p, got)
		}
	}
	at := func(p part) int { return slices.Index(got, p) }
	if q, attention, down, next := at(part{0, "attn_q"}), at(part{0, "attention"}), at(part{0, "ffn_down"}), at(part{1, "attn_q"}); q < 0 || q > attention || attention > down || down > next {
		t.Errorf("the step has the order %+v", got)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

// BenchmarkEncode is a decode step of 30 layers on a device that runs nothing: what it
// costs to instrument it, and to keep what each dispatch was.
func BenchmarkEncode(b *testing.B) {
	m := load(b, transformertest.Write(b, transformertest.Config{Layers: 30, Heads: 4, KVHeads: 2, HeadDim: 32, Hidden: 128, FFN: 96}))
	for _, c := range []struct {
		name string
		o    *metalshim.InstrumentOptions
	}{{"bare", nil}, {"counted", &metalshim.InstrumentOptions{Recorder: trace.New()}}, {"kept", &metalshim.InstrumentOptions{Recorder: trace.New(), Operations: true}}} {
		b.Run(c.name, func(b *testing.B) {
			var dev metalshim.Device = &shimtest.Device{}
			var shim *metalshim.Instrumented
			if c.o != nil {
				var err error
				if shim, err = metalshim.Instrument(dev, *c.o); err != nil {
					b.Fatal(err)
				}
				dev = shim
			}
			d, err := NewDevice(context.Background(), dev, Options{CommandsPerBuffer: 50})
			if err != nil {
				b.Fatal(err)
			}
			e := build(b, d, m)
			for b.Loop() {
				if _, err := e.Step([]int32{1}, 0); err != nil {
					b.Fatal(err)
				}
				if shim != nil {
					shim.TakeExecuted()
				}
			}
		})
	}
}

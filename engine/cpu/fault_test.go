package cpu_test

import (
	"encoding/binary"
	"errors"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/introgen/introgen/engine"
	"github.com/introgen/introgen/engine/cpu"
	"github.com/introgen/introgen/engine/quant"
	"github.com/introgen/introgen/engine/transformer/transformertest"
)

// A file that shrinks while it is mapped ends in an error, whichever thread
// meets the hole first, and the engine can be closed.
func TestFileShrinks(t *testing.T) {
	for _, set := range []string{"generic", ""} {
		for threads := 1; threads <= 4; threads++ {
			for _, cut := range []int64{1 << 15, 1 << 18} {
				path := transformertest.Write(t, transformertest.Config{Type: quant.Q8_0, Embedding: quant.Q8_0, Hidden: 256, FFN: 1024, Layers: 4})
				e := newEngine(t, model(t, path), cpu.Options{Set: set, Threads: threads, Pack: cpu.PackOff})
				if _, err := e.Step([]int32{1, 2, 3}, 0); err != nil {
					t.Fatal(err)
				}
				if err := os.Truncate(path, cut); err != nil {
					t.Fatal(err)
				}
				done := make(chan error, 1)
				go func() {
					_, err := e.Step([]int32{4}, 3)
					if err == nil {
						_, err = e.Step([]int32{4, 5}, 3)
					}
					if _, again := e.Step([]int32{4}, 0); again == nil {
						err = errors.New("a step succeeds after the failure")
					}
					e.Close()
					done <- err
				}()
				select {
				case err := <-done:
					if err == nil || !strings.Contains(err.Error(), "truncated") || !strings.Contains(err.Error(), path) {
						t.Errorf("%d threads: error %v", threads, err)
					}
				case <-time.After(20 * time.Second):
					t.Fatalf("%d threads: hangs", threads)
				}
			}
		}
	}
}

// Numbers that are not finite are found where they first appear.
func TestNonFinite(t *testing.T) {
	inf := float32(math.Inf(1))
	putHalf := func(b []byte, v float32) { binary.LittleEndian.PutUint16(b, quant.FloatToHalf(v)) }
	putFloat := func(b []byte, v float32) { binary.LittleEndian.PutUint32(b, math.Float32bits(v)) }
	nan := float32(math.NaN())
	for name, c := range map[string]struct {
		edit func(w *transformertest.Writable)
		want engine.NonFiniteError
	}{
		"scale of an embedding": {
			func(w *transformertest.Writable) { putHalf(w.Tensor("token_embd.weight").Data[5*68:], nan) },
			engine.NonFiniteError{Layer: -1, Where: "embedding"},
		},
		"weight of a norm": {
			func(w *transformertest.Writable) { putFloat(w.Tensor("blk.1.attn_norm.weight").Data[12:], nan) },
			engine.NonFiniteError{Layer: 1, Where: "attention"},
		},
		"scale of a key": {
			func(w *transformertest.Writable) { putHalf(w.Tensor("blk.0.attn_k.weight").Data, nan) },
			engine.NonFiniteError{Layer: 0, Where: "attention"},
		},
		"infinite scale of a value": {
			func(w *transformertest.Writable) { putHalf(w.Tensor("blk.1.attn_v.weight").Data, inf) },
			engine.NonFiniteError{Layer: 1, Where: "attention"},
		},
		"scale of the last row of down": {
			func(w *transformertest.Writable) {
				d := w.Tensor("blk.0.ffn_down.weight").Data
				putHalf(d[len(d)-34:], nan)
			},
			engine.NonFiniteError{Layer: 0, Where: "feed-forward"},
		},
		"scale of gate": {
			func(w *transformertest.Writable) { putHalf(w.Tensor("blk.1.ffn_gate.weight").Data[68:], nan) },
			engine.NonFiniteError{Layer: 1, Where: "feed-forward"},
		},
		"scale of the output": {
			func(w *transformertest.Writable) { d := w.Tensor("output.weight").Data; putHalf(d[len(d)-34:], nan) },
			engine.NonFiniteError{Layer: -1, Where: "output"},
		},
		"weight of the output norm": {
			func(w *transformertest.Writable) { putFloat(w.Tensor("output_norm.weight").Data, -inf) },
			engine.NonFiniteError{Layer: -1, Where: "output"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := transformertest.Write(t, transformertest.Config{Type: quant.Q8_0, Embedding: quant.Q8_0, Output: true, Context: 128, Edit: c.edit})
			m := model(t, path)
			eachEngine(t, func(t *testing.T, o cpu.Options) {
				for _, prompt := range [][]int32{{5}, {5, 9, 7}, append(make([]int32, 100), 5)} {
					e := newEngine(t, m, o)
					if len(prompt) > 3 {
						prompt[3] = 5
					}
					_, err := e.Step(prompt, 0)
					var got *engine.NonFiniteError
					if !errors.As(err, &got) {
						t.Fatalf("%d tokens: error %v", len(prompt), err)
					}
					if got.Layer != c.want.Layer || got.Where != c.want.Where || got.Value-got.Value == 0 {
						t.Errorf("%d tokens: %v (%+v), want %+v", len(prompt), err, got, c.want)
					}
					if _, err := e.Logits(); err == nil {
						t.Error("logits of a step that failed")
					}
				}
			})
		})
	}
}

// The look for a number that is not finite passes a whole layer on one thread,
// however wide it is.
func TestNonFiniteInWideLayer(t *testing.T) {
	path := transformertest.Write(t, transformertest.Config{Type: quant.Q8_0, Embedding: quant.Q8_0, FFN: 10272, Hidden: 32, Edit: func(w *transformertest.Writable) {
		d := w.Tensor("blk.1.ffn_up.weight").Data
		binary.LittleEndian.PutUint16(d[len(d)-34:], quant.FloatToHalf(float32(math.Inf(1))))
	}})
	for threads := 1; threads <= 3; threads++ {
		e := newEngine(t, model(t, path), cpu.Options{Threads: threads})
		for _, prompt := range [][]int32{{5}, {5, 9, 7}} {
			_, err := e.Step(prompt, 0)
			if got := (*engine.NonFiniteError)(nil); !errors.As(err, &got) || got.Layer != 1 || got.Where != "feed-forward" {
				t.Errorf("%d threads, %d tokens: error %v; want the feed-forward of layer 1", threads, len(prompt), err)
			}
		}
	}
}

// A residual stream whose squares overflow in float32, so that it has no norm, is found
// where it first does; logits that are 0 for another reason are none.
func TestOverflow(t *testing.T) {
	large := func(tensor string, at int) func(*transformertest.Writable) {
		return func(w *transformertest.Writable) {
			binary.LittleEndian.PutUint32(w.Tensor(tensor).Data[4*at:], math.Float32bits(1e25))
		}
	}
	for name, c := range map[string]struct {
		edit func(w *transformertest.Writable)
		want *engine.NonFiniteError
	}{
		"embedding":    {large("token_embd.weight", 5*64+3), &engine.NonFiniteError{Layer: -1, Where: "embedding"}},
		"attention":    {large("blk.1.attn_output.weight", 70), &engine.NonFiniteError{Layer: 1, Where: "attention"}},
		"feed-forward": {large("blk.0.ffn_down.weight", 200), &engine.NonFiniteError{Layer: 0, Where: "feed-forward"}},
		"no output":    {func(w *transformertest.Writable) { clear(w.Tensor("output.weight").Data) }, nil},
	} {
		m := model(t, transformertest.Write(t, transformertest.Config{Output: true, Edit: c.edit}))
		t.Run(name, func(t *testing.T) {
			eachEngine(t, func(t *testing.T, o cpu.Options) {
				for _, prompt := range [][]int32{{5}, {9, 7, 5}} {
					id, err := newEngine(t, m, o).Step(prompt, 0)
					var got *engine.NonFiniteError
					if c.want == nil {
						if err != nil || id != 0 {
							t.Errorf("%d tokens: next token %d, %v", len(prompt), id, err)
						}
					} else if !errors.As(err, &got) || got.Layer != c.want.Layer || got.Where != c.want.Where || math.Abs(float64(got.Value)) < 1e20 {
						t.Errorf("%d tokens: error %v, want %+v", len(prompt), err, c.want)
					}
				}
			})
		})
	}
}

// A step allocates nothing, whatever the number of threads.
func TestNoAllocation(t *testing.T) {
	for _, architecture := range []string{"llama", "gemma3", "phi3"} {
		m := model(t, transformertest.Write(t, transformertest.Config{Architecture: architecture, Type: quant.Q8_0, Embedding: quant.Q8_0}))
		for threads := 1; threads <= 2; threads++ {
			e := newEngine(t, m, cpu.Options{Threads: threads})
			if _, err := e.Step([]int32{1, 2, 3}, 0); err != nil {
				t.Fatal(err)
			}
			for _, ids := range [][]int32{{4}, {4, 5, 6}} {
				if _, err := e.Step(ids, 3); err != nil { // the pass of so many is planned once
					t.Fatal(err)
				}
				if n := testing.AllocsPerRun(100, func() { e.Step(ids, 3) }); n != 0 {
					t.Errorf("%s, %d threads, %d tokens: %v allocations a step", architecture, threads, len(ids), n)
				}
			}
		}
	}
}

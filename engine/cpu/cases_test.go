package cpu_test

import (
	"math"
	"testing"

	"github.com/introgen/introgen/engine/cpu"
	"github.com/introgen/introgen/engine/cpu/kernel"
	"github.com/introgen/introgen/engine/quant"
	"github.com/introgen/introgen/engine/transformer"
	"github.com/introgen/introgen/engine/transformer/transformertest"
)

// Every architecture has the logits of transformers in float64, as close as a cache
// of 16 bits a value comes (float32 throughout is within 1e-5), and the ids of llama.cpp, on every instruction set.
func TestCases(t *testing.T) {
	for i, c := range transformertest.Cases() {
		m := model(t, c.Write(t))
		for j, set := range kernel.Names() {
			t.Run(c.Name+"/"+set, func(t *testing.T) {
				e := newEngine(t, m, cpu.Options{Set: set, Threads: 1 + (i+j)%2, Pack: cpu.PackOff, Context: len(c.Prompt) + len(c.Next)})
				id, pos := int32(0), 0
				step := func(ids []int32) {
					t.Helper()
					var err error
					if id, err = e.Step(ids, pos); err != nil {
						t.Fatal(err)
					}
					pos += len(ids)
				}
				// In some cases at once, in others in two parts.
				if part := (i + j) % 3 * 7; part > 0 {
					step(c.Prompt[:part])
				}
				step(c.Prompt[pos:])
				got, err := e.Logits()
				if err != nil {
					t.Fatal(err)
				}
				if off, at := furthest(got, c.Logits); !(off < 3e-4) {
					t.Errorf("logit of %d is %v, that of transformers %v", at, got[at], c.Logits[at])
				}
				for k, want := range c.Next {
					if id != want {
						t.Fatalf("id %d after the prompt is %d, that of llama.cpp %d", k, id, want)
					}
					if k+1 < len(c.Next) {
						step([]int32{id})
					}
				}
			})
		}
	}
}

// A model of every architecture in every type that people download has the logits of
// the float64 reference over the same file: a prompt, then steps.
func TestCasesQuantized(t *testing.T) {
	const ending = "-blocks-of-256"
	for _, c := range transformertest.Cases() {
		if c.Name != c.Family()+ending {
			continue
		}
		for _, typ := range []quant.Type{quant.Q8_0, quant.Q4_0, quant.Q5_0, quant.IQ4_NL, quant.Q4_K, quant.Q5_K, quant.Q6_K} {
			m := model(t, c.Quantized(t, typ))
			ids, pos := [][]int32{c.Prompt, {5}, {70}, {9}}, 0
			ref, want := transformer.NewReferenceOf(m, len(c.Prompt)+3), [][]float64{}
			for _, s := range ids {
				l, err := ref.Step(s, pos)
				if err != nil {
					t.Fatal(err)
				}
				want, pos = append(want, l), pos+len(s)
			}
			for _, set := range kernel.Names() {
				for _, pack := range []cpu.Pack{cpu.PackOff, cpu.PackOn} {
					t.Run(c.Family()+"/"+typ.String()+"/"+set+map[cpu.Pack]string{cpu.PackOn: "/packed"}[pack], func(t *testing.T) {
						e := newEngine(t, m, cpu.Options{Set: set, Threads: 2, Pack: pack, Context: pos})
						at := 0
						for i, s := range ids {
							if _, err := e.Step(s, at); err != nil {
								t.Fatal(err)
							}
							at += len(s)
							got, err := e.Logits()
							if err != nil {
								t.Fatal(err)
							}
							if off, id := furthest(got, want[i]); !(off < 5e-4) {
								t.Errorf("step %d: logit of %d is %v, the reference's %v", i, id, got[id], want[i][id])
							}
						}
					})
				}
			}
		}
	}
}

// furthest returns the largest difference of two sets of logits, as a part of the
// largest of want, and whose it is.
func furthest(got []float32, want []float64) (off float64, id int) {
	var most float64
	for i, w := range want {
		most = max(most, math.Abs(w))
		if d := math.Abs(float64(got[i]) - w); !(d <= off) {
			off, id = d, i
		}
	}
	return off / most, id
}

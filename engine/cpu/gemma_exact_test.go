package cpu_test

import (
	"math"
	"slices"
	"testing"

	"github.com/introgen/introgen/engine/cpu"
	"github.com/introgen/introgen/engine/cpu/kernel"
	"github.com/introgen/introgen/engine/transformer/transformertest"
	"github.com/introgen/introgen/models"
	"github.com/introgen/introgen/models/modeltest"
)

// TestExactGemma: Gemma 3 270M continues five texts as llama.cpp does, 60 ids each, and its
// logits are those of transformers in float64. All five are the best set's, one the
// others', and little of it plain Go's.
func TestExactGemma(t *testing.T) {
	m := model(t, modeltest.Path(t, models.Gemma))
	for _, set := range kernel.Names() {
		t.Run(set, func(t *testing.T) {
			worst := 0.0
			for i, a := range transformertest.ExactGemma() {
				want := a.Next
				if i > 0 && set != kernel.Names()[0] {
					continue
				}
				if set == "generic" {
					want = want[:3]
				}
				e := newEngine(t, m, cpu.Options{Set: set, Context: len(a.Prompt) + len(a.Next)})
				id, err := e.Step(a.Prompt, 0)
				if err != nil {
					t.Fatal(err)
				}
				logits, err := e.Logits()
				if err != nil {
					t.Fatal(err)
				}
				for _, l := range a.Largest {
					worst = max(worst, math.Abs(float64(logits[l.ID])-l.Value))
				}
				got := []int32{id}
				for len(got) < len(want) {
					if id, err = e.Step([]int32{id}, len(a.Prompt)+len(got)-1); err != nil {
						t.Fatal(err)
					}
					got = append(got, id)
				}
				if !slices.Equal(got, want) {
					t.Errorf("%q: ids %v, want %v", a.Text, got, want)
				}
			}
			if worst > 0.01 {
				t.Errorf("largest error of a logit %.6f", worst)
			}
			t.Logf("largest error of a logit %.6f", worst)
		})
	}
}

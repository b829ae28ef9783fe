package transformer_test

import (
	"math"
	"slices"
	"testing"

	"github.com/introgen/introgen/engine/transformer"
	"github.com/introgen/introgen/engine/transformer/transformertest"
	"github.com/introgen/introgen/models"
	"github.com/introgen/introgen/models/modeltest"
)

// The reference pass has the logits of transformers in float64, and generates the ids
// of llama.cpp, for every architecture.
func TestReferenceIsThatOfOthers(t *testing.T) {
	for _, c := range transformertest.Cases() {
		t.Run(c.Name, func(t *testing.T) {
			m, err := load(t, c.Write(t))
			if err != nil {
				t.Fatal(err)
			}
			if m.Architecture.Name != c.Architecture {
				t.Errorf("architecture %q, want %q", m.Architecture.Name, c.Architecture)
			}
			r := transformer.NewReferenceOf(m, len(c.Prompt)+len(c.Next))
			logits, err := r.Step(c.Prompt, 0)
			if err != nil {
				t.Fatal(err)
			}
			if off, id := furthest(logits, c.Logits); off > 1e-9 {
				t.Errorf("logit of %d is %v, that of transformers %v", id, logits[id], c.Logits[id])
			}
			for i, want := range c.Next {
				id := best(logits)
				if id != want {
					t.Fatalf("id %d after the prompt is %d, that of llama.cpp %d", i, id, want)
				}
				if logits, err = r.Step([]int32{id}, len(c.Prompt)+i); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// furthest returns the largest difference of two sets of logits, as a part of the
// largest of want, and whose it is.
func furthest(got, want []float64) (off float64, id int) {
	var most float64
	for i, w := range want {
		most = max(most, math.Abs(w))
		if d := math.Abs(got[i] - w); !(d <= off) {
			off, id = d, i
		}
	}
	return off / most, id
}

// best is the id of the largest logit.
func best(logits []float64) int32 {
	return int32(slices.Index(logits, slices.Max(logits)))
}

// The reference pass has the logits of transformers for a real model of another
// architecture than llama.
func TestReferenceIsExactForGemma(t *testing.T) {
	m, err := load(t, modeltest.Path(t, models.Gemma))
	if err != nil {
		t.Fatal(err)
	}
	a := transformertest.ExactGemma()[0]
	logits, err := transformer.NewReference(m).Step(a.Prompt, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range a.Largest {
		if math.Abs(logits[l.ID]-l.Value) > 1e-6 {
			t.Errorf("logit of %d is %.8f, want %.8f", l.ID, logits[l.ID], l.Value)
		}
	}
	if id := best(logits); id != a.Next[0] {
		t.Errorf("next id %d, want %d", id, a.Next[0])
	}
}

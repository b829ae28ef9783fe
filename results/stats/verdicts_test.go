package stats

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
)

// comparison is one run of `introgen bench`: the two sides, block by block.
type comparison struct{ A, B []float64 }

// readVerdicts reads samples that were recorded on a busy machine; its origin
// stands in the file. scripts/verdicts makes others.
func readVerdicts(t *testing.T) (v struct{ Same, Slow []comparison }) {
	t.Helper()
	text, err := os.ReadFile("testdata/verdicts.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	if len(v.Same) != 20 || len(v.Slow) != 10 {
		t.Fatalf("%d and %d comparisons, want 20 and 10", len(v.Same), len(v.Slow))
	}
	return v
}

// TestRecordedVerdicts judges recorded runs: of equal sides, 6 runs each, few are
// called different; a side that was made 5 % slower, 12 runs each, is found.
func TestRecordedVerdicts(t *testing.T) {
	v := readVerdicts(t)
	var paired, unpaired, found, within int
	for _, c := range v.Same {
		if len(c.A) != 6 || len(c.B) != 6 {
			t.Fatalf("%d and %d runs, want 6", len(c.A), len(c.B))
		}
		r, u := Paired(c.A, c.B), Compare(c.A, c.B)
		if r.Significant {
			paired++
		}
		if u.Significant {
			unpaired++
		}
		if r.MDE <= 0 || u.MDE <= 0 {
			t.Errorf("%+v and %+v do not say what they could have found", r, u)
		}
	}
	for _, c := range v.Slow {
		if len(c.A) != 12 || len(c.B) != 12 {
			t.Fatalf("%d and %d runs, want 12", len(c.A), len(c.B))
		}
		r := Paired(c.A, c.B)
		if r.Significant && r.Lo > 1 {
			found++
		}
		if r.Lo <= 1.05 && 1.05 <= r.Hi {
			within++
		}
	}
	t.Logf("equal sides called different: %d by pairs, %d by the U test, of 20; 5 %% found in %d of 10, within the interval in %d", paired, unpaired, found, within)
	if paired > 3 || unpaired > 3 {
		t.Errorf("of 20 comparisons of equal sides %d differ by pairs and %d by the U test; 3 may", paired, unpaired)
	}
	if found < 8 {
		t.Errorf("5 %% is found in %d of 10", found)
	}
	if within < 8 {
		t.Errorf("the planted 5 %% lies in %d of 10 intervals", within)
	}
}

// TestRecordedNoise takes the recorded noise of equal sides, where which run of
// a block is called A is chance, and lets chance choose again and again: 5 % may
// differ. With one side 5 % slower and the blocks of all comparisons drawn
// twelve at a time, four of five must be found where the interval's width says
// that 5 % can be.
func TestRecordedNoise(t *testing.T) {
	v := readVerdicts(t)
	rng := rand.New(rand.NewPCG(21, 22))
	var pool [][2]float64
	wrong, n := 0, 0
	for range 100 {
		for _, c := range v.Same {
			a, b := slices.Clone(c.A), slices.Clone(c.B)
			for i := range a {
				if rng.IntN(2) == 0 {
					a[i], b[i] = b[i], a[i]
				}
			}
			if n++; Paired(a, b).Significant {
				wrong++
			}
		}
	}
	if p := float64(wrong) / float64(n); p > 0.05 {
		t.Errorf("equal sides differ in %.3f of the cases", p)
	}
	for _, c := range v.Same {
		for i := range c.A {
			pool = append(pool, [2]float64{c.A[i], c.B[i]})
		}
	}
	able, found := 0, 0
	for range 1000 {
		a, b := make([]float64, 12), make([]float64, 12)
		for i := range a {
			pair := pool[rng.IntN(len(pool))]
			if rng.IntN(2) == 0 {
				pair[0], pair[1] = pair[1], pair[0]
			}
			a[i], b[i] = pair[0], pair[1]*1.05
		}
		if r := Paired(a, b); r.MDE <= 0.05 {
			if able++; r.Significant && r.Lo > 1 {
				found++
			}
		}
	}
	if able < 50 || float64(found) < 0.8*float64(able) {
		t.Errorf("5 %% is found in %d of %d runs that could find it", found, able)
	}
}

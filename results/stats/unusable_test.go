package stats

import (
	"encoding/json"
	"math"
	"testing"
)

// TestUnusable gives every function everything that is no sample: each answers
// in words, without a verdict, and with what JSON can hold.
func TestUnusable(t *testing.T) {
	good := []float64{1, 2, 3, 4, 5, 6, 7, 8}
	with := func(v float64) []float64 { return []float64{1, 2, 3, v, 5, 6, 7, 8} }
	for name, x := range map[string][]float64{
		"nothing": nil, "one": {1}, "NaN": with(math.NaN()), "+Inf": with(math.Inf(1)), "-Inf": with(math.Inf(-1)),
		"too many": make([]float64, mostPairs+1),
	} {
		s, r, c, d, b := Summarize(x), Paired(x, x), Compare(x, good), Drift(x), Bimodal(x)
		if name != "too many" && (s.Why == "" || s.Decidable || s.Lo != s.Min) {
			t.Errorf("%s: %+v", name, s)
		}
		if r.Why == "" || r.Decidable || r.Significant {
			t.Errorf("%s: %+v", name, r)
		}
		if name != "too many" && (c.Significant || name != "one" && c.Note == "") {
			t.Errorf("%s: %+v", name, c)
		}
		if d.Why == "" || d.Drifted {
			t.Errorf("%s: %+v", name, d)
		}
		if b.Why == "" || b.Bimodal {
			t.Errorf("%s: %+v", name, b)
		}
		if _, err := json.Marshal([]any{s, r, c, d, b}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, v := range []float64{0, -1} {
		if r := Paired(with(v), good); r.Why == "" || r.Significant {
			t.Errorf("%v in a pair: %+v", v, r)
		}
		if c := Compare(with(v), good); c.MDE != 0 {
			t.Errorf("%v in a sample: %+v", v, c)
		}
	}
	if r := Paired(good, good[1:]); r.Why == "" {
		t.Errorf("8 and 7: %+v", r)
	}
	huge := []float64{math.MaxFloat64, math.MaxFloat64 / 2, -math.MaxFloat64, 1, 2, 3}
	tiny := []float64{5e-324, 1, 2, 3, 4, math.MaxFloat64}
	for _, result := range []any{Summarize(huge), Drift(huge), Bimodal(huge), Compare(huge, good), Compare(tiny, good), Paired(tiny, good[:6])} {
		if _, err := json.Marshal(result); err != nil {
			t.Errorf("%+v: %v", result, err)
		}
	}
}

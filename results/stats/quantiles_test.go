package stats

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/introgen/introgen/system/pythontest"
)

// asked are the quantiles that testdata/quantiles.py prints.
var asked = []float64{0.5, 0.9, 0.99, 1, 0, 0.25, 1}

// What numpy 2.4.6 says: testdata/quantiles.py printed these.
var byNumpy = []struct{ x, want []float64 }{
	{[]float64{7296011, 7310554, 7288190, 8174023, 7301145, 7299987, 7405331, 7290012, 7350777, 7988104, 7285001, 7300000, 7311111, 8020202, 7294949, 7303030, 7297272, 7321321},
		[]float64{7302087.5, 7997733.4, 8147873.43, 8174023.0, 7285001.0, 7296326.25, 8174023.0}},
	{[]float64{5}, []float64{5, 5, 5, 5, 5, 5, 5}},
	{[]float64{1, 2}, []float64{1.5, 1.9, 1.99, 2, 1, 1.25, 2}},
	{[]float64{0.1, 0.2, 0.4}, []float64{0.2, 0.36000000000000004, 0.396, 0.4, 0.1, 0.15000000000000002, 0.4}},
	{[]float64{-3, 7, 7, 7, 1e9, 2.5, -0.25}, []float64{7, 400000004.20000035, 940000000.4199995, 1e9, -3, 1.125, 1e9}},
}

func TestQuantilesAreNumpys(t *testing.T) {
	for _, c := range byNumpy {
		for i, q := range Quantiles(c.x, asked...) {
			if q.Value != c.want[i] || q.N != len(c.x) || q.Q != asked[i] {
				t.Errorf("%v of %v: %+v, numpy has %v", asked[i], c.x, q, c.want[i])
			}
		}
	}
}

// TestQuantilesBesideNumpy compares to the last bit, on samples of many sizes.
func TestQuantilesBesideNumpy(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var samples [][]float64
	for _, n := range []int{1, 2, 3, 5, 18, 19, 101, 999, 10000} {
		for range 5 {
			x := draws(r, n, func(r *rand.Rand) float64 { return math.Round(7e6 * math.Exp(0.1*r.NormFloat64())) })
			samples = append(samples, x, draws(r, n, (*rand.Rand).NormFloat64))
		}
	}
	in, err := json.Marshal(samples)
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile("testdata/quantiles.py")
	if err != nil {
		t.Fatal(err)
	}
	cmd := pythontest.Command(t, string(script), "numpy")
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Quantiles [][]float64 `json:"quantiles"`
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	for i, x := range samples {
		for k, q := range Quantiles(x, asked...) {
			if q.Value != got.Quantiles[i][k] {
				t.Errorf("%v of %d values: %v, numpy has %v", asked[k], len(x), q.Value, got.Quantiles[i][k])
			}
		}
	}
}

// TestQuantileIntervals: the places of the order statistics were counted from
// binomial coefficients: the largest l with P(K < l) ≤ 2.5 % and the smallest u with
// P(K ≥ u) ≤ 2.5 %, where K of n values lie below the quantile.
func TestQuantileIntervals(t *testing.T) {
	for _, c := range []struct {
		n      int
		q      float64
		lo, hi int // 0: there is none
	}{
		{5, 0.5, 0, 0}, {6, 0.5, 1, 6}, {10, 0.5, 2, 9}, {18, 0.5, 5, 14}, {44, 0.5, 16, 29}, {1000, 0.5, 469, 532},
		{18, 0.9, 0, 0}, {35, 0.9, 0, 0}, {36, 0.9, 29, 36}, {100, 0.9, 84, 96}, {36, 0.1, 1, 8},
		{100000, 0.9, 89814, 90187}, {367, 0.99, 0, 0}, {368, 0.99, 360, 368}, {1000, 0.99, 983, 997},
		{1000, 0, 0, 0}, {1000, 1, 0, 0},
	} {
		x := make([]float64, c.n)
		for i := range x {
			x[i] = float64(i + 1)
		}
		rand.New(rand.NewPCG(1, 2)).Shuffle(len(x), func(i, j int) { x[i], x[j] = x[j], x[i] })
		q := Quantiles(x, c.q)[0]
		if c.lo == 0 {
			if q.Decidable || q.Why == "" || q.Lo != q.Value || q.Hi != q.Value {
				t.Errorf("%v of %d: %+v", c.q, c.n, q)
			}
		} else if !q.Decidable || q.Why != "" || q.Lo != float64(c.lo) || q.Hi != float64(c.hi) {
			t.Errorf("%v of %d: %+v, want %d to %d", c.q, c.n, q, c.lo, c.hi)
		}
	}
	if q := Quantiles(make([]float64, 18), 0.9)[0]; q.Why != "18 samples: a 95 % interval of p90 needs 36" {
		t.Errorf("%q", q.Why)
	}
	if q := Quantiles(make([]float64, 100), 0.99)[0]; q.Why != "100 samples: a 95 % interval of p99 needs 368" {
		t.Errorf("%q", q.Why)
	}
	for q, want := range map[float64]int{0.5: LeastForInterval, 0.9: 36, 0.1: 36, 0.99: 368, 1: math.MaxInt, 0: math.MaxInt} {
		if got := LeastForQuantile(q); got != want {
			t.Errorf("%v: %d, want %d", q, got, want)
		}
	}
}

// TestMedianIsOneQuantile: benchmath has the same median, and an interval that ends at
// the same order statistics or at the next ones: it holds both ends together to 5 %,
// and takes a normal distribution for the binomial where there are many values.
func TestMedianIsOneQuantile(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for n := 1; n < 300; n++ {
		x := draws(r, n, (*rand.Rand).NormFloat64)
		s, q := Summarize(x), Quantiles(x, 0.5)[0]
		if math.Abs(s.Median-q.Value) > 1e-12 || s.Decidable != q.Decidable {
			t.Errorf("%d: %+v and %+v", n, q, s)
		}
		if !s.Decidable {
			continue
		}
		slices.Sort(x)
		at := func(v float64) int { return slices.Index(x, v) }
		if lo, hi := at(s.Lo)-at(q.Lo), at(q.Hi)-at(s.Hi); max(lo, -lo, hi, -hi) > 1 {
			t.Errorf("%d: %+v and %+v", n, q, s)
		}
	}
}

// TestQuantileIntervalsCover: of samples of a distribution whose quantiles are known.
func TestQuantileIntervalsCover(t *testing.T) {
	for _, c := range []struct {
		name string
		q    float64
		at   float64 // the quantile of the distribution
		n    int
		draw func(*rand.Rand) float64
	}{
		{"normal, p90", 0.9, 1.2815515655446004, 36, (*rand.Rand).NormFloat64},
		{"normal, p90", 0.9, 1.2815515655446004, 200, (*rand.Rand).NormFloat64},
		{"normal, p99", 0.99, 2.3263478740408408, 368, (*rand.Rand).NormFloat64},
		{"tail, p90", 0.9, math.Log(10), 150, (*rand.Rand).ExpFloat64},
		{"tail, p99", 0.99, math.Log(100), 1000, (*rand.Rand).ExpFloat64},
		{"tail, p50", 0.5, math.Ln2, 19, (*rand.Rand).ExpFloat64},
	} {
		r := rand.New(rand.NewPCG(7, 8))
		in := 0
		for range trials {
			if q := Quantiles(draws(r, c.n, c.draw), c.q)[0]; q.Decidable && q.Lo <= c.at && c.at <= q.Hi {
				in++
			}
		}
		share(t, c.name, in, 0.95, 0.99)
	}
}

// TestQuantilesUnusable: what is no sample, and no quantile, is answered in words.
func TestQuantilesUnusable(t *testing.T) {
	for name, x := range map[string][]float64{"nothing": nil, "NaN": {1, math.NaN()}, "+Inf": {math.Inf(1)}, "huge": {math.MaxFloat64, -math.MaxFloat64}} {
		for _, q := range Quantiles(x, 0.5, 0.99) {
			if q.Decidable || q.Why == "" || q.Value != 0 || q.Lo != 0 || q.Hi != 0 {
				t.Errorf("%s: %+v", name, q)
			}
		}
	}
	for _, v := range []float64{-0.1, 1.1, math.NaN(), math.Inf(1)} {
		q := Quantiles([]float64{1, 2, 3}, v)
		if _, err := json.Marshal(q); err != nil || q[0].Decidable || !strings.Contains(q[0].Why, "from 0 to 1 is wanted") {
			t.Errorf("%v: %+v, %v", v, q, err)
		}
	}
	x := []float64{3, 1, 2}
	if Quantiles(x, 0.5); !slices.Equal(x, []float64{3, 1, 2}) {
		t.Error("the sample was sorted in place")
	}
}

package stats

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"golang.org/x/perf/benchmath"
)

// oracle is testdata/oracle.json, which testdata/oracle.py made.
type oracle struct {
	SignedRank map[string][]float64 `json:"signed_rank"`
	RankSum    map[string][]float64 `json:"rank_sum"`
	Discordant map[string][]float64 `json:"discordant"`
	Paired     []struct {
		A, B             []float64
		P, Ratio, Lo, Hi float64
	}
	Compare []struct {
		A, B []float64
		P    float64
	}
	Drift []struct {
		X              []float64
		Tau, P, Change float64
		Exact          bool
	}
	Dip []struct {
		X   []float64
		Dip float64
	}
}

func readOracle(t *testing.T) (o oracle) {
	t.Helper()
	text, err := os.ReadFile("testdata/oracle.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &o); err != nil {
		t.Fatal(err)
	}
	return o
}

func near(a, b float64) bool {
	return math.Abs(a-b) <= 1e-9*max(1, math.Abs(a), math.Abs(b))
}

func check(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !near(got, want) {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

func TestSummarizeIsBenchmath(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := 1; n <= 40; n++ {
		x := make([]float64, n)
		for i := range x {
			x[i] = math.Round(100 * rng.ExpFloat64())
		}
		given := slices.Clone(x)
		got := Summarize(x)
		if !slices.Equal(x, given) {
			t.Fatalf("n = %d: the samples were put into another order", n)
		}
		want := benchmath.AssumeNothing.Summary(benchmath.NewSample(x, &benchmath.DefaultThresholds), 0.95)
		if got.Median != want.Center || got.N != n {
			t.Errorf("n = %d: median %v of %d, want %v", n, got.Median, got.N, want.Center)
		}
		if got.Decidable != (n >= 6) {
			t.Errorf("n = %d: decidable %v", n, got.Decidable)
		}
		if got.Decidable && (got.Lo != want.Lo || got.Hi != want.Hi || got.Why != "") {
			t.Errorf("n = %d: %+v, want %v to %v", n, got, want.Lo, want.Hi)
		}
		if !got.Decidable && (got.Lo != got.Min || got.Hi != got.Max || got.Why == "" || got.Spread() != 0) {
			t.Errorf("n = %d: undecidable as %+v", n, got)
		}
	}
	s := Summarize([]float64{10, 11, 12, 13, 14, 20})
	check(t, "spread", s.Spread(), 7.5/12.5)
}

func TestCompare(t *testing.T) {
	for i, c := range readOracle(t).Compare {
		got := Compare(c.A, c.B)
		if len(c.A) >= 30 { // scipy takes the normal approximation there, benchmath the exact one
			if math.Abs(got.P-c.P) > 5e-3 {
				t.Errorf("%d: p = %v, scipy says %v", i, got.P, c.P)
			}
		} else {
			check(t, "p", got.P, c.P)
		}
		if got.Significant != (got.P <= 0.05) {
			t.Errorf("%d: p = %v, significant %v", i, got.P, got.Significant)
		}
		a, b := slices.Clone(c.A), slices.Clone(c.B)
		b0 := benchmath.AssumeNothing.Compare(benchmath.NewSample(a, &thresholds), benchmath.NewSample(b, &thresholds))
		if b0.P != got.P {
			t.Errorf("%d: p = %v, benchmath says %v", i, got.P, b0.P)
		}
	}
	three := Compare([]float64{1, 2, 3}, []float64{11, 12, 13})
	if three.Significant || three.MDE != 0 || three.Note != "need >= 4 samples to detect a difference at alpha level 0.05" {
		t.Errorf("three a side: %+v", three)
	}
	check(t, "delta", three.Delta, 5)
	if equal := Compare([]float64{1, 1, 1, 1}, []float64{1, 1, 1, 1}); equal.Significant || equal.P != 1 {
		t.Errorf("equal samples: %+v", equal)
	}
}

func TestDrift(t *testing.T) {
	for i, c := range readOracle(t).Drift {
		got := Drift(c.X)
		check(t, "tau", got.Tau, c.Tau)
		check(t, "change", got.Change, c.Change)
		if c.Exact {
			check(t, "p", got.P, c.P)
		} else if math.Abs(got.P-c.P) > 0.02 { // scipy makes no correction for continuity
			t.Errorf("%d: p = %v, scipy says %v", i, got.P, c.P)
		}
	}
	up := Drift([]float64{1, 2, 3, 4, 5})
	if !up.Drifted || up.Tau != 1 || !near(up.P, 2.0/120) || !near(up.Change, 4.0/3) {
		t.Errorf("1 to 5: %+v", up)
	}
	if flat := Drift([]float64{7, 7, 7, 7, 7, 7}); flat.Drifted || flat.P != 1 || flat.Change != 0 {
		t.Errorf("equal samples: %+v", flat)
	}
}

func TestDip(t *testing.T) {
	for _, c := range readOracle(t).Dip {
		b := Bimodal(c.X)
		check(t, "dip", b.Dip, c.Dip)
	}
	two := Bimodal([]float64{10.0, 10.1, 10.2, 14.0, 14.1, 10.05, 14.2, 10.15, 14.05, 14.15})
	if !two.Bimodal || two.Low != 10.1 || two.High != 14.1 || two.Share != 0.5 {
		t.Errorf("two groups: %+v", two)
	}
	if one := Bimodal([]float64{10, 10.1, 10.2, 10.05, 10.15, 99}); one.Bimodal {
		t.Errorf("one outlier: %+v", one)
	}
}

func TestPaired(t *testing.T) {
	for _, c := range readOracle(t).Paired {
		got := Paired(c.A, c.B)
		check(t, "p", got.P, c.P)
		check(t, "ratio", got.Ratio, c.Ratio)
		check(t, "lower end", got.Lo, c.Lo)
		check(t, "upper end", got.Hi, c.Hi)
		if got.Significant != (c.Lo > 1 || c.Hi < 1) || !got.Decidable || got.N != len(c.A) {
			t.Errorf("%+v", got)
		}
	}
	five := Paired([]float64{1, 1, 1, 1, 1}, []float64{2, 2.1, 2.2, 2.3, 2.4})
	if five.Decidable || five.Significant || five.MDE != 0 || five.Lo != 2 || !near(five.P, 2.0/32) || five.Why == "" {
		t.Errorf("five pairs: %+v", five)
	}
	same := []float64{3, 4, 5, 6, 7, 8}
	if r := Paired(same, same); r.Significant || r.Ratio != 1 || r.Lo != 1 || r.Hi != 1 || r.P != 1 {
		t.Errorf("equal pairs: %+v", r)
	}
}

// TestPairedIsConsistent: the interval is without 1 exactly where p is at most
// 5 %, ties or not.
func TestPairedIsConsistent(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		n := 6 + rng.IntN(8)
		a, b := make([]float64, n), make([]float64, n)
		for i := range a {
			a[i], b[i] = float64(4+rng.IntN(3)), float64(4+rng.IntN(4))
		}
		r := Paired(a, b)
		if without := r.Lo > 1 || r.Hi < 1; without != r.Significant {
			t.Fatalf("%v %v: %+v", a, b, r)
		}
	}
}

func TestDistributions(t *testing.T) {
	o := readOracle(t)
	compare := func(name string, got func(int) float64, want []float64) {
		t.Helper()
		if got(-1) != 0 || got(len(want)) != 1 {
			t.Errorf("%s: %v before, %v behind", name, got(-1), got(len(want)))
		}
		for i, p := range want {
			check(t, name, got(i), p)
		}
	}
	for n, want := range o.SignedRank {
		compare("signed rank of "+n, signedRank(number(t, n)), want)
	}
	for mn, want := range o.RankSum {
		var m, n int
		if err := json.Unmarshal([]byte("["+mn+"]"), &[]*int{&m, &n}); err != nil {
			t.Fatal(err)
		}
		compare("rank sum of "+mn, rankSum(m, n), want)
	}
	for n, want := range o.Discordant {
		compare("discordant of "+n, discordant(number(t, n)), want)
	}
}

// TestApproximations: where the exact distributions end, the normal ones agree
// with them.
func TestApproximations(t *testing.T) {
	exact, approximate := signedRank(exactPairs), normalCDF(exactPairs*(exactPairs+1)/4.0, math.Sqrt(exactPairs*(exactPairs+1)*(2*exactPairs+1)/24.0))
	for v := range exactPairs * (exactPairs + 1) / 2 {
		if d := math.Abs(exact(v) - approximate(v)); d > 2e-3 {
			t.Fatalf("signed rank, P(V ≤ %d): %v and %v", v, exact(v), approximate(v))
		}
	}
	m := float64(exactSide)
	exact, approximate = rankSum(exactSide, exactSide), normalCDF(m*m/2, math.Sqrt(m*m*(2*m+1)/12))
	for u := range exactSide * exactSide {
		if d := math.Abs(exact(u) - approximate(u)); d > 2e-3 {
			t.Fatalf("rank sum, P(U ≤ %d): %v and %v", u, exact(u), approximate(u))
		}
	}
}

func number(t *testing.T, s string) (n int) {
	t.Helper()
	if err := json.Unmarshal([]byte(s), &n); err != nil {
		t.Fatal(err)
	}
	return n
}

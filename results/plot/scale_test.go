package plot

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func texts(ticks []tick) []string {
	var out []string
	for _, t := range ticks {
		out = append(out, t.text)
	}
	return out
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		s     scale
		count int
		want  string
	}{
		{fromZero(12307, 0, 100), 5, "0 5000 10000"},
		{fromZero(1, 0, 100), 5, "0 0.2 0.4 0.6 0.8 1.0"},
		{fromZero(0.00037, 0, 100), 4, "0 0.0001 0.0002 0.0003"},
		{fromZero(3e9, 0, 100), 3, "0 1 G 2 G 3 G"},
		{linear(-2, 2, 0, 100), 4, "-2 -1 0 1 2"},
		{scale{lo: 0, hi: 2, to: 100, whole: true}, 8, "0 1 2"},
		{scale{lo: 1, hi: 1000, to: 100, log: true}, 5, "1 10 100 1000"},
		{scale{lo: 1, hi: 10, to: 100, log: true}, 5, "1 2 5 10"},
		{scale{lo: 0.001, hi: 1e9, to: 100, log: true}, 4, "0.001  1 ... 1000 ... 1 M ... 1 G"},
	} {
		got := strings.Join(texts(c.s.ticks(c.count)), " ")
		want := strings.ReplaceAll(c.want, " ...", " ")
		if strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(want), " ") {
			t.Errorf("%+v: %q, want %q", c.s, got, want)
		}
	}
}

// TestScalesHold: whatever the ends are, there are ticks, not too many, within
// them, and every value has a place between the pixels.
func TestScalesHold(t *testing.T) {
	ends := []float64{0, 1, -1, 1e-15, 1e-300, 5e-324, 1e18, -1e18, 123.456, 123.456000001, math.Pi}
	for _, a := range ends {
		for _, b := range ends {
			for _, s := range []scale{linear(a, b, 10, 200), fromZero(b, 200, 10), logarithmic(math.Abs(a), math.Abs(b), 10, 200)} {
				for _, count := range []int{0, 1, 5, 12} {
					ticks := s.ticks(count)
					if len(ticks) > 80 {
						t.Errorf("%+v has %d ticks", s, len(ticks))
					}
					for _, x := range ticks {
						if p := s.at(x.value); math.IsNaN(p) || p < 10 || p > 200 {
							t.Errorf("%+v: %v lies at %v", s, x.value, p)
						}
					}
				}
				for _, v := range ends {
					if p := s.at(v); math.IsNaN(p) || p < 10 || p > 200 {
						t.Errorf("%+v: %v lies at %v", s, v, p)
					}
				}
			}
		}
	}
}

func TestAt(t *testing.T) {
	s := scale{lo: 1, hi: 100, from: 0, to: 200, log: true}
	if got := s.at(10); math.Abs(got-100) > 1e-9 { // the middle of two decades
		t.Errorf("10 lies at %v", got)
	}
	if got := s.value(100); math.Abs(got-10) > 1e-9 {
		t.Errorf("at 100 lies %v", got)
	}
	l := scale{lo: -10, hi: 10, from: 100, to: 0}
	if got := l.at(-5); got != 75 {
		t.Errorf("-5 lies at %v", got)
	}
}

func TestSpread(t *testing.T) {
	for _, c := range []struct{ at, want []float64 }{
		{[]float64{10, 50}, []float64{10, 50}},
		{[]float64{50, 50}, []float64{45, 55}},
		{[]float64{52, 48, 50}, []float64{60, 40, 50}},
		{[]float64{0, 1}, []float64{0, 10}},                              // the edge holds
		{[]float64{99, 100, 40}, []float64{90, 100, 40}},                 //
		{[]float64{30, 31, 42}, []float64{24.3333, 34.3333, 44.3333}},    // a cluster pushes the next one
		{[]float64{5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5}, nil}, // more than have room
	} {
		got := spread(c.at, 10, 0, 100)
		if c.want == nil {
			sorted := slices.Sorted(slices.Values(got))
			if sorted[0] < -1e-9 || sorted[15] > 100+1e-9 || sorted[1]-sorted[0] < 6 {
				t.Errorf("%v", got)
			}
			continue
		}
		for i := range got {
			if math.Abs(got[i]-c.want[i]) > 0.001 {
				t.Errorf("%v are spread to %v, want %v", c.at, got, c.want)
				break
			}
		}
	}
}

func TestFit(t *testing.T) {
	for _, c := range []struct {
		in    string
		width float64
		want  string
	}{
		{"gemm", 100, "gemm"}, {"kernel_mul_mv_q8_0_f32", 80, "kernel…0_f32"}, {"x", 0, "…"}, {"", 0, ""}, {"日本語の名前", 60, "日本…前"}, {"a\nb\x1b", 100, "a b\uFFFD"},
	} {
		if got := fit(c.in, c.width, 12); got != c.want {
			t.Errorf("%q in %v pixels is %q, want %q", c.in, c.width, got, c.want)
		}
	}
}

// TestBins: every value lies in one bin, which is where it says; the width of bins
// is that of Freedman and Diaconis rounded up to 1, 2 or 5 times a power of ten.
func TestBins(t *testing.T) {
	var values []float64
	for i := range 1000 {
		values = append(values, float64(i)/10) // quartiles 25 and 75: the rule gives 2·50/10 = 10
	}
	bins := Bins(values, 50)
	if len(bins) != 10 || bins[3] != (Bin{30, 40, 100}) {
		t.Errorf("%v", bins)
	}
	for _, v := range [][]float64{{5}, {5, 5, 5}, {0, 0}, {0, 1e18}, {-1e18, 1e18}, {1e-15, 2e-15}, {1, 2, 3}, {-3, -2.5, 7}} {
		bins := Bins(v, 20)
		sum := 0
		for i, b := range bins {
			sum += b.Count
			if !(b.From < b.To) || i > 0 && math.Abs(b.From-bins[i-1].To) > 1e-9*math.Abs(b.To) {
				t.Errorf("%v: %v", v, bins)
			}
		}
		if sum != len(v) || len(bins) > 20 || bins[0].From > slices.Min(v) || bins[len(bins)-1].To < slices.Max(v) {
			t.Errorf("%v: %v", v, bins)
		}
	}
}

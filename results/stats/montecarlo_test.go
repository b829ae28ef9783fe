package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// noise draws from what timings look like: a bell, a long tail, a bell with one
// value in ten thrown far off.
var noise = []struct {
	name string
	draw func(*rand.Rand) float64 // median near 0, for the paired test symmetric
}{
	{"normal", (*rand.Rand).NormFloat64},
	{"laplace", func(r *rand.Rand) float64 { return r.ExpFloat64() - r.ExpFloat64() }},
	{"outliers", func(r *rand.Rand) float64 {
		if r.IntN(10) == 0 {
			return 8 * r.NormFloat64()
		}
		return r.NormFloat64()
	}},
}

func draws(r *rand.Rand, n int, f func(*rand.Rand) float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = f(r)
	}
	return x
}

func logs(x []float64, scale, shift float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = math.Exp(scale*v + shift)
	}
	return out
}

const trials = 1000

// share fails the test where a share of the trials lies outside of what it
// should, by more than four standard deviations of chance.
func share(t *testing.T, what string, hits int, lo, hi float64) {
	t.Helper()
	p := float64(hits) / trials
	margin := 4 * math.Sqrt(0.25/trials)
	if lo > 0.9 || hi < 0.1 {
		margin = 4 * math.Sqrt(0.05*0.95/trials)
	}
	if p < lo-margin || p > hi+margin {
		t.Errorf("%s: %.3f of the trials, %.3f to %.3f is wanted", what, p, lo, hi)
	}
}

func TestIntervalsCover(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for _, kind := range noise {
		for _, n := range []int{6, 9, 15} {
			var median, paired, wrong, unpaired int
			for range trials {
				x := draws(r, n, kind.draw)
				if s := Summarize(x); s.Lo <= 0 && 0 <= s.Hi {
					median++
				}
				// Blocks that drift by half, with a ratio of 1.1 inside each.
				block := draws(r, n, (*rand.Rand).NormFloat64)
				a, b, same := make([]float64, n), make([]float64, n), make([]float64, n)
				for i := range a {
					base := math.Exp(0.3 * block[i])
					a[i] = base * math.Exp(0.02*kind.draw(r))
					b[i] = 1.1 * base * math.Exp(0.02*kind.draw(r))
					same[i] = base * math.Exp(0.02*kind.draw(r))
				}
				if q := Paired(a, b); q.Lo <= 1.1 && 1.1 <= q.Hi {
					paired++
				}
				if Paired(a, same).Significant {
					wrong++
				}
				if Compare(a, same).Significant {
					unpaired++
				}
			}
			share(t, kind.name+": interval of the median", median, 0.95, 1)
			share(t, kind.name+": interval of the ratio", paired, 0.95, 1)
			share(t, kind.name+": pairs that differ by chance", wrong, 0, 0.05)
			share(t, kind.name+": samples that differ by chance", unpaired, 0, 0.05)
		}
	}
}

// TestSmallestEffect plants the effect that equal runs say they could have
// found, and looks whether four of five runs find it.
func TestSmallestEffect(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	normal := noise[0].draw
	for _, n := range []int{4, 6, 8, 12, 20} {
		var paired, unpaired []float64
		for range trials {
			a, b := logs(draws(r, n, normal), 0.02, 0), logs(draws(r, n, normal), 0.02, 0)
			paired = append(paired, math.Log1p(Paired(a, b).MDE))
			unpaired = append(unpaired, math.Log1p(Compare(a, b).MDE))
		}
		slices.Sort(paired)
		slices.Sort(unpaired)
		effectPaired, effectUnpaired := median(paired), median(unpaired)
		var foundPaired, foundUnpaired int
		for range trials {
			a := draws(r, n, normal)
			if n >= LeastForInterval && Paired(logs(a, 0.02, 0), logs(draws(r, n, normal), 0.02, effectPaired)).Significant {
				foundPaired++
			}
			if Compare(logs(a, 0.02, 0), logs(draws(r, n, normal), 0.02, effectUnpaired)).Significant {
				foundUnpaired++
			}
		}
		if n >= LeastForInterval {
			share(t, "the smallest effect of pairs", foundPaired, 0.76, 0.84)
		}
		share(t, "the smallest effect of two samples", foundUnpaired, 0.76, 0.84)
	}
}

func TestFalseAlarms(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	kinds := append(slices.Clone(noise),
		struct {
			name string
			draw func(*rand.Rand) float64
		}{"exponential", (*rand.Rand).ExpFloat64},
		struct {
			name string
			draw func(*rand.Rand) float64
		}{"uniform", (*rand.Rand).Float64})
	for _, kind := range kinds {
		for _, n := range []int{6, 8, 11, 17, 20} {
			var drifts, modes int
			for range trials {
				x := draws(r, n, kind.draw)
				if Drift(x).Drifted {
					drifts++
				}
				if Bimodal(x).Bimodal {
					modes++
				}
			}
			share(t, kind.name+": drift where there is none", drifts, 0, 0.05)
			if p := float64(modes) / trials; p > 0.0226 { // 1 % and 4 standard deviations
				t.Errorf("%s, n = %d: %.3f have two modes, where at most one in a hundred may", kind.name, n, p)
			}
		}
	}
}

// TestModesAreFound: two groups ten deviations apart, as a processor with two
// frequencies makes them.
func TestModesAreFound(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 18))
	for n, least := range map[int]float64{8: 0.5, 12: 0.9, 20: 0.95} {
		found := 0
		for range trials {
			x := draws(r, n, (*rand.Rand).NormFloat64)
			for i := range n / 2 {
				x[i] += 10
			}
			if Bimodal(x).Bimodal {
				found++
			}
		}
		share(t, "two groups", found, least, 1)
	}
}

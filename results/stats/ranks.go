package stats

import "math"

// Beyond these sizes the exact distributions are replaced by their normal
// approximations, which then are within 0.002 of them.
const (
	exactPairs = 60
	exactSide  = 40
	exactTrend = 60
)

// signedRank returns P(V ≤ v) for every v, where V is Wilcoxon's signed-rank
// statistic of n pairs without ties: V is the sum of those ranks 1…n whose
// fair coin shows heads. (F. Wilcoxon, Individual comparisons by ranking
// methods, Biometrics Bulletin 1, 1945.)
func signedRank(n int) func(v int) float64 {
	if n > exactPairs {
		m := float64(n)
		return normalCDF(m*(m+1)/4, math.Sqrt(m*(m+1)*(2*m+1)/24))
	}
	p := make([]float64, n*(n+1)/2+1)
	p[0] = 1
	for rank := 1; rank <= n; rank++ {
		for v := rank * (rank + 1) / 2; v >= 0; v-- {
			p[v] /= 2
			if v >= rank {
				p[v] += p[v-rank] / 2
			}
		}
	}
	return cumulated(p)
}

// rankSum returns P(U ≤ u) for every u, where U is Mann and Whitney's
// statistic of samples of m and n without ties: of all pairs across, how many
// have the first one larger. By their recurrence, which asks what the largest
// of all values belongs to. (H. B. Mann, D. R. Whitney, Ann. Math. Stat. 18,
// 1947.)
func rankSum(m, n int) func(u int) float64 {
	if max(m, n) > exactSide {
		a, b := float64(m), float64(n)
		return normalCDF(a*b/2, math.Sqrt(a*b*(a+b+1)/12))
	}
	// row[j] is the distribution for i values of the first sample and j of the
	// second.
	row := make([][]float64, n+1)
	for j := range row {
		row[j] = []float64{1}
	}
	for i := 1; i <= m; i++ {
		for j := 1; j <= n; j++ {
			next := make([]float64, i*j+1)
			for u, p := range row[j] { // the largest is of the first sample: above j others
				next[u+j] += p * float64(i) / float64(i+j)
			}
			for u, p := range row[j-1] {
				next[u] += p * float64(j) / float64(i+j)
			}
			row[j] = next
		}
	}
	return cumulated(row[n])
}

// discordant returns P(D ≤ d) for every d, where D is the number of pairs of
// values that stand in the wrong order in a random order of n different ones:
// the distribution of Kendall's S, which is n(n−1)/2 − 2·D. (M. G. Kendall, A
// new measure of rank correlation, Biometrika 30, 1938.)
func discordant(n int) func(d int) float64 {
	p := []float64{1}
	for k := 2; k <= n; k++ {
		next := make([]float64, len(p)+k-1)
		for d, q := range p {
			for shift := range k { // the kth value comes to stand before shift others
				next[d+shift] += q / float64(k)
			}
		}
		p = next
	}
	return cumulated(p)
}

// critical is the number of values to leave out at either end of the sorted
// estimates that statistic counts, so that the interval between what is left
// is closed and holds with at least 95 %: the largest k with P(S ≤ k−1) ≤ 2.5 %.
// It is 0 where even the widest interval does not hold with that.
func critical(statistic func(int) float64) int {
	k := 0
	for statistic(k) <= Alpha/2 {
		k++
	}
	return k
}

func cumulated(p []float64) func(int) float64 {
	sum := 0.0
	for i := range p {
		sum += p[i]
		p[i] = sum
	}
	p[len(p)-1] = 1 // whatever was rounded away
	return func(v int) float64 {
		if v < 0 {
			return 0
		}
		return p[min(v, len(p)-1)]
	}
}

// normalCDF is that of whole numbers, with the correction for continuity.
func normalCDF(mean, deviation float64) func(int) float64 {
	return func(v int) float64 { return normal((float64(v) + 0.5 - mean) / deviation) }
}

// normal is the standard normal distribution's P(Z ≤ z).
func normal(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }

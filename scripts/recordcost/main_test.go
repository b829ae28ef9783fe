package main

import (
	"math"
	"testing"
)

// TestInterval: the ranks and the confidence are those of tables of the sign test
// (W. J. Conover, Practical Nonparametric Statistics, 3.2: for 12 values the third
// from either end, 96.1 %; for 6 the outermost, 96.9 %).
func TestInterval(t *testing.T) {
	for _, c := range []struct {
		n         int
		low, high float64
		sure      float64
	}{{6, 1, 6, 0.96875}, {12, 3, 10, 0.96142578125}, {20, 6, 15, 0.958611}, {1, 1, 1, 0}, {2, 1, 2, 0.5}} {
		x := make([]float64, c.n)
		for i := range x {
			x[i] = float64(i + 1)
		}
		if low, high, sure := interval(x); low != c.low || high != c.high || math.Abs(sure-c.sure) > 1e-6 {
			t.Errorf("%d values: %v to %v with %v, want %v to %v with %v", c.n, low, high, sure, c.low, c.high, c.sure)
		}
	}
	if m := median([]float64{1, 2, 4, 9}); m != 3 {
		t.Errorf("median %v", m)
	}
}

package table_test

import (
	"math"
	"testing"

	"github.com/introgen/introgen/results/table"
)

func TestBar(t *testing.T) {
	for _, c := range []struct {
		v, most float64
		want    string
	}{
		{8, 8, "████"}, {4, 8, "██"}, {3, 8, "█▌"}, {1, 8, "▌"}, {0.001, 8, "▏"}, {9, 8, "████"}, {0, 8, ""}, {-1, 8, ""}, {1, 0, ""},
		{math.NaN(), 8, ""}, {1, math.NaN(), ""}, {math.Inf(1), 8, "████"},
	} {
		if got := table.Bar(c.v, c.most, 4); got != c.want {
			t.Errorf("%v of %v: %q, want %q", c.v, c.most, got, c.want)
		}
	}
}

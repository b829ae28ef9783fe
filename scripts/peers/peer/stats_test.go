package peer

import (
	"math"
	"slices"
	"testing"
)

// The first three answers are those of the documentation of Python's
// statistics.median_grouped.
func TestGroupedMedian(t *testing.T) {
	for _, c := range []struct {
		values []float64
		width  float64
		want   float64
	}{
		{[]float64{52, 52, 53, 54}, 1, 52.5},
		{[]float64{1, 3, 3, 5, 7}, 1, 3.25},
		{[]float64{1, 3, 3, 5, 7}, 2, 3.5},
		{[]float64{3.1, 3.0, 3.0, 3.0}, 0.1, 2.95 + 0.1*2/3},
		{[]float64{5}, 0.1, 5},
	} {
		if got := GroupedMedian(c.values, c.width); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("grouped median of %v by %v is %v, want %v", c.values, c.width, got, c.want)
		}
	}
	if got := GroupedMedian(nil, 1); !math.IsNaN(got) {
		t.Errorf("grouped median of nothing is %v", got)
	}
}

func TestSpreadOf(t *testing.T) {
	if got, want := SpreadOf([]float64{3, 1, 2, 10}), (Spread{4, 2.5, 1, 10}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := SpreadOf(nil); got != (Spread{}) {
		t.Errorf("spread of nothing is %v", got)
	}
}

func TestRatiosAreOfTheSameBlock(t *testing.T) {
	nan := math.NaN()
	got := Ratios([]float64{10, nan, 9, 8, 7}, []float64{5, 2, 3, 0})
	if !slices.Equal(got, []float64{2, 3}) {
		t.Errorf("got %v, want [2 3]", got)
	}
}

func TestOrderedVariesFirstAndNeighbours(t *testing.T) {
	list := []string{"a", "b", "c"}
	for block, want := range [][]string{{"a", "b", "c"}, {"a", "c", "b"}, {"c", "a", "b"}, {"c", "b", "a"}} {
		if got := Ordered(list, block); !slices.Equal(got, want) {
			t.Errorf("block %d: %v, want %v", block, got, want)
		}
	}
}

func TestCells(t *testing.T) {
	s := Spread{3, 1.256, 1, 2}
	for _, c := range []struct{ got, want string }{
		{s.Cell(1, " ms"), "1.3 ms (1.0–2.0)"},
		{s.Times(), "1.26× (1.00–2.00)"},
		{Spread{1, 0.5, 0.5, 0.5}.Percent(), "50 %"},
		{Spread{}.Times(), None},
		{Spread{}.Percent(), None},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

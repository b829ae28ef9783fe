package bench

import (
	"slices"
	"testing"
)

func TestLengthened(t *testing.T) {
	for _, c := range []struct {
		n    int
		want []int32
	}{{7, []int32{5, 6, 7, 5, 6, 7, 5}}, {2, []int32{5, 6}}, {3, []int32{5, 6, 7}}} {
		if got := Lengthened([]int32{5, 6, 7}, c.n); !slices.Equal(got, c.want) {
			t.Errorf("of length %d: %v, want %v", c.n, got, c.want)
		}
	}
	if got := Lengthened(nil, 3); got != nil {
		t.Errorf("nothing lengthened is %v", got)
	}
}

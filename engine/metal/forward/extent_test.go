package forward

import (
	"testing"

	"github.com/introgen/introgen/metalshim"
)

// The cases with 1024 threads stand in candle's trace; the others follow the
// same formulas by hand.
func TestExtent(t *testing.T) {
	for _, c := range []struct {
		name        string
		extent      Extent
		max         int
		grid, group metalshim.Size
		inThreads   bool
	}{
		{"7488 elements", Linear(7488), 1024, metalshim.Size{X: 8, Y: 1, Z: 1}, metalshim.Size{X: 1024, Y: 1, Z: 1}, false},
		{"7488 elements, 512 threads", Linear(7488), 512, metalshim.Size{X: 15, Y: 1, Z: 1}, metalshim.Size{X: 512, Y: 1, Z: 1}, false},
		{"1521 in pairs", Pairs(1521), 1024, metalshim.Size{X: 1, Y: 1, Z: 1}, metalshim.Size{X: 761, Y: 1, Z: 1}, false},
		{"1 in pairs", Pairs(1), 1024, metalshim.Size{X: 1, Y: 1, Z: 1}, metalshim.Size{X: 1, Y: 1, Z: 1}, false},
		{"rows of 576", Rows(13, 576), 1024, metalshim.Size{X: 13, Y: 1, Z: 1}, metalshim.Size{X: 512, Y: 1, Z: 1}, false},
		{"rows of 13", Rows(117, 13), 1024, metalshim.Size{X: 117, Y: 1, Z: 1}, metalshim.Size{X: 8, Y: 1, Z: 1}, false},
		{"row of 49152", Rows(1, 49152), 1024, metalshim.Size{X: 1, Y: 1, Z: 1}, metalshim.Size{X: 1024, Y: 1, Z: 1}, false},
		{"row of 49152, 896 threads", Rows(1, 49152), 896, metalshim.Size{X: 1, Y: 1, Z: 1}, metalshim.Size{X: 512, Y: 1, Z: 1}, false},
		{"row of 1", Rows(1, 1), 1024, metalshim.Size{X: 1, Y: 1, Z: 1}, metalshim.Size{X: 1, Y: 1, Z: 1}, false},
		{"3 × 832", Plane(3, 832), 1024, metalshim.Size{X: 3, Y: 832, Z: 1}, metalshim.Size{X: 2, Y: 512, Z: 1}, true},
		{"3 × 64", Plane(3, 64), 1024, metalshim.Size{X: 3, Y: 64, Z: 1}, metalshim.Size{X: 2, Y: 64, Z: 1}, true},
		{"1000 × 1000", Plane(1000, 1000), 1024, metalshim.Size{X: 1000, Y: 1000, Z: 1}, metalshim.Size{X: 32, Y: 32, Z: 1}, true},
	} {
		grid, group, inThreads := c.extent.Sizes(c.max)
		if grid != c.grid || group != c.group || inThreads != c.inThreads {
			t.Errorf("%s: %v × %v (threads: %v), want %v × %v (%v)", c.name, grid, group, inThreads, c.grid, c.group, c.inThreads)
		}
	}
}

package quant

import _ "embed"

// The IQ formats of fewer than four bits keep, instead of elements, numbers of points
// of a grid: four or eight elements each, in magnitude (iq1_s: -1, 0 and 1). The
// grids are those of ggml-common.h, written by scripts/reference/quant_grids.py, a
// signed byte for each element.
var (
	//go:embed grids/iq2_xxs
	gridIQ2XXS string // 256 points of 8
	//go:embed grids/iq2_xs
	gridIQ2XS string // 512 points of 8
	//go:embed grids/iq2_s
	gridIQ2S string // 1024 points of 8
	//go:embed grids/iq3_xxs
	gridIQ3XXS string // 256 points of 4
	//go:embed grids/iq3_s
	gridIQ3S string // 512 points of 4
	//go:embed grids/iq1_s
	gridIQ1S string // 2048 points of 8, of IQ1_M too
)

// point returns the elements of point n of a grid of points of so many.
func point(grid string, n, elems int) string { return grid[n*elems : (n+1)*elems] }

// signed writes d times each element to dst, negated where the bit of signs is set.
func signed(dst []float32, elems string, d float32, signs byte) {
	for i := range elems {
		v := d * float32(int8(elems[i]))
		if signs>>i&1 != 0 {
			v = -v
		}
		dst[i] = v
	}
}

// eighth completes seven signs: the number of negative elements is even.
func eighth(signs uint32) byte {
	s := byte(signs & 127)
	p := s ^ s>>4
	p ^= p >> 2
	p ^= p >> 1
	return s | p<<7
}

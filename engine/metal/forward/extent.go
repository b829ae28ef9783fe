package forward

import (
	"math/bits"

	"github.com/introgen/introgen/metalshim"
)

// Extent is the grid of a dispatch. Some of candle's grids depend on how many
// threads the pipeline allows in a threadgroup, so the sizes are known only
// once there is a pipeline.
type Extent struct {
	kind        extentKind
	pairs       bool
	grid, group metalshim.Size
}

type extentKind uint8

const (
	linear extentKind = iota
	rows
	groups
	threads
)

// Linear is one thread for each of n items (linear_split in
// candle-metal-kernels/src/utils.rs).
func Linear(n int) Extent {
	return Extent{kind: linear, grid: metalshim.Size{X: n, Y: 1, Z: 1}}
}

// Pairs is one thread for each two of n items: the tile of the elementwise
// float kernels (get_tile_size in candle-metal-kernels/src/utils.rs).
func Pairs(n int) Extent { return tiles(n, 2) }

// tiles is one thread for so many of n items each.
func tiles(n, each int) Extent {
	e := Linear((n + each - 1) / each)
	e.pairs = each > 1
	return e
}

// Shape tells how the grid is made: of one thread for each item, of one for
// each two or more (pairs), of rows and columns of items (plane); all false is a grid of
// threadgroups.
func (e Extent) Shape() (items, pairs, plane bool) {
	return e.kind == linear && !e.pairs, e.pairs, e.kind == threads
}

// Rows is one threadgroup for each of n rows of cols elements, of the power of
// two at or above cols/2 threads (candle-metal-kernels/src/kernels/reduce.rs).
func Rows(n, cols int) Extent {
	return Extent{kind: rows, grid: metalshim.Size{X: n, Y: 1, Z: 1}, group: metalshim.Size{X: nextPow2(cols / 2), Y: 1, Z: 1}}
}

// Groups is a fixed number of threadgroups of a fixed size.
func Groups(grid, group metalshim.Size) Extent {
	return Extent{kind: groups, grid: grid, group: group}
}

// Plane is x × y threads in threadgroups of powers of two, 1024 threads at
// most (get_block_dims in candle-metal-kernels/src/utils.rs).
func Plane(x, y int) Extent {
	return Extent{kind: threads, grid: metalshim.Size{X: x, Y: y, Z: 1}, group: blockDims(x, y, 1)}
}

// Sizes is the grid and the threadgroup for a pipeline that allows most threads
// in a threadgroup. The grid counts threads if inThreads, else threadgroups.
func (e Extent) Sizes(most int) (grid, group metalshim.Size, inThreads bool) {
	switch e.kind {
	case linear:
		width := min(most, e.grid.X)
		return metalshim.Size{X: (e.grid.X + width - 1) / width, Y: 1, Z: 1}, metalshim.Size{X: width, Y: 1, Z: 1}, false
	case rows:
		// The reductions work in powers of two alone. candle takes that as it
		// is and, where that is none, computes nothing; this rounds it down.
		width := min(prevPow2(most), e.group.X)
		return e.grid, metalshim.Size{X: width, Y: 1, Z: 1}, false
	case threads:
		return e.grid, e.group, true
	}
	return e.grid, e.group, false
}

// nextPow2 is the smallest power of two ≥ n, 1 for n ≤ 1.
func nextPow2(n int) int {
	if n <= 1 {
		return 1
	}
	return 1 << bits.Len(uint(n-1))
}

// prevPow2 is the largest power of two ≤ n, 1 for n ≤ 1.
func prevPow2(n int) int {
	if n <= 1 {
		return 1
	}
	return 1 << (bits.Len(uint(n)) - 1)
}

// blockDims doubles the sides of a threadgroup in turn, x first, while they
// fit in the grid, until it has 1024 threads.
func blockDims(x, y, z int) metalshim.Size {
	grid := [3]int{x, y, z}
	side := [3]int{1, 1, 1}
	total := 1
	for grown := true; grown && total < 1024; {
		grown = false
		for i := range grid {
			if total < 1024 && grid[i] >= 2*side[i] {
				side[i] *= 2
				total *= 2
				grown = true
			}
		}
	}
	return metalshim.Size{X: side[0], Y: side[1], Z: side[2]}
}

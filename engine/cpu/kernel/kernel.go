// Package kernel holds the inner loops of the CPU engine: one plain-Go twin of
// each, and assembly beside it. A [Set] is the kernels of one instruction set;
// [Pick] chooses one at run time.
//
// Activations are quantized to 16 bits a value, relative to the largest value
// of each block of 32 ([Panel]); weights keep the bits of the file. So dot
// products of a block are exact integers, and what is lost is some 1e-3 on a
// logit, which leaves greedy text as float64 would write it. (8 bits, which
// other engines use, lose 0.2 to 0.5.)
//
// Weights come in two orders. Row order is the file's: blocks of a row one
// after another; the Mul kernels read it, for one token. Tile order (see
// [TileRows]) interleaves 16 rows, so that a vector register holds the same
// columns of 16 rows; the Tile kernels read it, for any number of tokens, and
// the Pack kernels make it.
//
// Each kernel checks the lengths that it is given before it reads or writes
// anything, and panics with a [SizeError] where one is too short: assembly
// behind it would go on into other memory.
package kernel

import (
	"fmt"
	"strings"
)

const (
	// Block is the number of values that share a scale, in weights and in
	// activations.
	Block = 32

	// TileRows is the number of rows in a tile.
	TileRows = 16

	q8Bytes  = 34 // a block of Q8_0: half d, 32 int8
	q41Bytes = 20 // a block of Q4_1: half d, half m, 16 bytes of low and high nibbles
)

// Set is the kernels of one instruction set. All are safe for concurrent use on
// different data. "Finite" values in give the twin's values out, but for the
// order of float additions; a NaN or infinite value in reaches the result as
// one.
type Set struct {
	// Name is "avx512", "avx2", "dotprod" (NEON with SDOT), "neon" or "generic".
	Name string

	// Quantize writes x as token t of p, beginning at block b0. len(x) is a
	// multiple of Block.
	Quantize func(p *Panel, t, b0 int, x []float32)

	// MulQ8 multiplies rows rows of Q8_0 in row order, p.Blocks blocks each,
	// with the one token of p: dst[r] = row r · p, or is added to dst[r].
	MulQ8 func(dst []float32, w []byte, p *Panel, rows int, add bool)
	// MulQ41 is the same for Q4_1.
	MulQ41 func(dst []float32, w []byte, p *Panel, rows int, add bool)

	// PackQ8 rewrites TileRows rows of Q8_0, blocks blocks each, in tile order.
	// dst and src have the same length.
	PackQ8 func(dst, src []byte, blocks int)
	// PackQ41 is the same for Q4_1.
	PackQ41 func(dst, src []byte, blocks int)

	// TileQ8 multiplies rows rows (a multiple of TileRows) of Q8_0 in tile
	// order, p.Blocks blocks each, with all tokens of p: dst[t*stride+r] =
	// row r · token t, or is added to it. scratch has TileRows floats for each
	// token. ahead is memory that will be read next, to be prefetched
	// meanwhile; it may be empty.
	TileQ8 func(dst []float32, stride int, w []byte, p *Panel, rows int, add bool, scratch []float32, ahead []byte)
	// TileQ41 is the same for Q4_1.
	TileQ41 func(dst []float32, stride int, w []byte, p *Panel, rows int, add bool, scratch []float32, ahead []byte)

	// Dot returns a · b.
	Dot func(a, b []float32) float32
	// RMSNorm writes x / sqrt(mean(x²)+eps) * w to dst.
	RMSNorm func(dst, x, w []float32, eps float32)
	// SwiGLU writes gate / (1+exp(-gate)) * up to dst.
	SwiGLU func(dst, gate, up []float32)
	// GeGLU writes gelu(gate) * up to dst, where gelu is the tanh approximation:
	// x/2 (1+tanh(sqrt(2/pi) (x+0.044715 x³))).
	GeGLU func(dst, gate, up []float32)
	// Rope turns the interleaved pairs of x's first len(cos) values: x[i] =
	// x[i]*cos[i] + x[i^1]*sin[i]. Both values of a pair have the same cos; the
	// even one has the negative sin.
	Rope func(x, cos, sin []float32)
	// RopeHalves turns the pairs that are the first len(cos) values of x and the
	// len(cos) values behind them: of x[i] and y = x[len(cos)+i] it makes
	// x[i]*cos[i] - y*sin[i] and y*cos[i] + x[i]*sin[i].
	RopeHalves func(x, cos, sin []float32)
	// Attend writes softmax(q·kᵀ*scale)·v to out. k and v are rows of len(q)
	// values, one for each position; len(scores) is the number of positions.
	Attend func(out, q, k, v, scores []float32, scale float32)
	// Max returns the largest value of x; finite is false when some value is
	// not finite, and then largest means nothing. x has at least one value.
	Max func(x []float32) (largest float32, finite bool)

	// Prefetch asks for the cache lines of b.
	Prefetch func(b []byte)
}

// generic is the twins as a set: what runs where there is no assembly.
func generic() *Set {
	return &Set{
		Name:     "generic",
		Quantize: quantize,
		MulQ8:    mulQ8, MulQ41: mulQ41,
		PackQ8: packQ8, PackQ41: packQ41,
		TileQ8: tileQ8, TileQ41: tileQ41,
		Dot: dot, RMSNorm: rmsNorm, SwiGLU: swiGLU, Rope: rope, Attend: attend, Max: maxOf,
		GeGLU: geGLU, RopeHalves: ropeHalves,
		Prefetch: func([]byte) {},
	}
}

// Names returns the names of the sets that this machine can run, best first.
func Names() []string {
	var names []string
	for _, s := range supported() {
		names = append(names, s.Name)
	}
	return append(names, "generic")
}

// Pick returns the set of that name, or the best one for "". A name that is not
// known, or that this processor or operating system does not support, is an
// error.
func Pick(name string) (*Set, error) {
	fillHalves()
	sets := append(supported(), generic())
	if name == "" {
		return sets[0], nil
	}
	for _, s := range sets {
		if s.Name == name {
			return s, nil
		}
	}
	return nil, fmt.Errorf("%q is not an instruction set that this machine can use; allowed are %s", name, strings.Join(Names(), ", "))
}

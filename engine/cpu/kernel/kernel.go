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
// the Pack kernels make it. Types with many small scales, or values of less than 8
// bits that are looked up, have a byte for each number there ([Form.Grows]): several
// tokens share what it costs to make that, and it is not kept.
//
// Each kernel checks the lengths that it is given before it reads or writes
// anything, and panics with a [SizeError] where one is too short: assembly
// behind it would go on into other memory.
package kernel

import (
	"fmt"
	"strings"

	"github.com/introgen/introgen/engine/quant"
)

const (
	// Block is the number of values that share a scale, in weights and in
	// activations.
	Block = 32

	// TileRows is the number of rows in a tile.
	TileRows = 16
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

	// Formats is the weights that the set multiplies with.
	Formats map[quant.Type]Format

	// Dot returns a · b.
	Dot func(a, b []float32) float32
	// RMSNorm writes x / sqrt(mean(x²)+eps) * w to dst, which may be x; where the sum of
	// squares overflows, NaN.
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
	// Scores writes the products of 1 to QueryRows queries with the keys of so many tiles
	// of so many blocks: dst[r*Span+p] is query r · key p, and q[c*QueryRows+r] column c of
	// query r. There is room for QueryRows queries always, and what stands where there
	// are fewer may be written over.
	Scores func(dst, q []float32, k []byte, queries, tiles, blocks int)
	// Powers makes exp(x-top) of x, whose length is a multiple of CacheTile, and
	// returns the sum of them.
	Powers func(x []float32, top float32) (sum float32)
	// Weigh adds the values of n positions, weighted, for 1 to QueryRows queries: to
	// out[r*blocks*Block+c] for all p the weight w[r*Span+p] times column c of value p.
	// There is room for QueryRows queries, as for Scores.
	Weigh func(out, w []float32, v []byte, queries, n, blocks int)
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
		Formats: map[quant.Type]Format{
			quant.Q8_0:   {q8Form, mulQ8, packQ8, tileQ8, nil},
			quant.Q4_1:   {q41Form, mulQ41, packQ41, tileQ41, nil},
			quant.Q4_0:   widened(quant.Q4_0, nibbleForm, widenNibbles(&q40Values)),
			quant.IQ4_NL: widened(quant.IQ4_NL, nibbleForm, widenNibbles(&iq4nlValues)),
			quant.Q5_0:   widened(quant.Q5_0, q50Form, widenQ50),
			quant.Q4_K:   superFormat(quant.Q4_K, q4kForm, expandQ4K),
			quant.Q5_K:   superFormat(quant.Q5_K, q5kForm, expandQ5K),
			quant.Q6_K:   superFormat(quant.Q6_K, q6kForm, expandQ6K),
		},
		Dot: dot, RMSNorm: rmsNorm, SwiGLU: swiGLU, Rope: rope, Max: maxOf,
		Scores: scores, Powers: powers, Weigh: weigh,
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

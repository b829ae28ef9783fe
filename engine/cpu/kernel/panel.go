package kernel

import (
	"math"
	"unsafe"
)

// Panel is the quantized activations of some tokens, block by block: the 32
// values of block b of token t are Scale[i] * Q[32*i : 32*i+32], with
// i = b*Tokens + t. Sum[i] is the sum of those values.
type Panel struct {
	Tokens, Blocks int
	Q              []int16 // begins on a cache line where NewPanel made it
	Scale, Sum     []float32
}

// NewPanel returns a panel with room for tokens tokens of cols values, in memory
// from floats, which returns that many (Aligned, or pages of the engine's own).
func NewPanel(floats func(n int) []float32, tokens, cols int) *Panel {
	n := tokens * (cols / Block)
	q := floats(n * Block / 2)
	p := &Panel{Scale: floats(n), Sum: floats(n)}
	if n > 0 {
		p.Q = unsafe.Slice((*int16)(unsafe.Pointer(&q[0])), n*Block)
	}
	return p
}

// Shape sets the number of tokens and values, at most what NewPanel made room
// for. What the panel held is lost.
func (p *Panel) Shape(tokens, cols int) {
	p.Tokens, p.Blocks = tokens, cols/Block
	n := p.Tokens * p.Blocks
	p.Q, p.Scale, p.Sum = p.Q[:n*Block], p.Scale[:n], p.Sum[:n]
}

// Aligned returns n zero floats that begin on a cache line.
func Aligned(n int) []float32 {
	b := make([]float32, n+15)
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(b)))&63) / 4
	return b[skip : skip+n : skip+n]
}

const (
	most16 = 32767 // the largest quantized value
	// tiny stands for the largest value of a block of zeros, so that nothing is
	// divided by zero.
	tiny = 1e-30
)

// quantize is the twin of Set.Quantize. The largest magnitude is found among
// the bits as integers, where NaN is larger than all numbers: so it reaches the
// scale, and through it every product.
func quantize(p *Panel, t, b0 int, x []float32) {
	checkQuantize(p, t, b0, x)
	for b := b0; len(x) > 0; b++ {
		i := b*p.Tokens + t
		q := p.Q[i*Block : i*Block+Block]
		top := math.Float32bits(tiny)
		for _, v := range x[:Block] {
			top = max(top, math.Float32bits(v)&^(1<<31))
		}
		most := math.Float32frombits(top)
		scale, inverse := most/most16, most16/most
		var sum int32
		for j, v := range x[:Block] {
			n := roundEven(v * inverse)
			q[j] = int16(n)
			sum += n
		}
		p.Scale[i], p.Sum[i] = scale, scale*float32(sum)
		x = x[Block:]
	}
}

// roundEven rounds a number of at most 22 bits, halves to even, as the vector
// instructions do: the addition leaves no room for a fraction.
func roundEven(v float32) int32 {
	const magic = 3 << 22
	return int32(math.Float32bits(v+magic)) - int32(math.Float32bits(magic))
}

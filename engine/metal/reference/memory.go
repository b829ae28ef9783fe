package reference

import (
	"encoding/binary"
	"math"

	"github.com/introgen/introgen/engine/quant"
)

// Accessors of the arguments. Numbers lie little-endian.

func (c *Call) u64(arg, i int) int { return int(binary.LittleEndian.Uint64(c.Args[arg][8*i:])) }
func (c *Call) u32(arg, i int) int { return int(binary.LittleEndian.Uint32(c.Args[arg][4*i:])) }
func (c *Call) i32(arg, i int) int { return int(int32(c.u32(arg, i))) }

// size is an argument that the host sends with 8 bytes and the kernel reads
// with 4.
func (c *Call) size(arg int) int { return c.u32(arg, 0) }

func (c *Call) f32(arg, i int) float64 {
	return float64(math.Float32frombits(binary.LittleEndian.Uint32(c.Args[arg][4*i:])))
}

func (c *Call) setF32(arg, i int, v float64) {
	binary.LittleEndian.PutUint32(c.Args[arg][4*i:], math.Float32bits(float32(v)))
}

func (c *Call) setU32(arg, i, v int) {
	binary.LittleEndian.PutUint32(c.Args[arg][4*i:], uint32(v))
}

// element is the type of an argument's elements.
type element uint8

const (
	float32s element = iota
	float16s
	words32
)

// size is an element's in bytes.
func (e element) size() int {
	if e == float16s {
		return 2
	}
	return 4
}

func (c *Call) get(e element, arg, i int) float64 {
	switch e {
	case float16s:
		return float64(quant.HalfToFloat(binary.LittleEndian.Uint16(c.Args[arg][2*i:])))
	case words32:
		return float64(c.u32(arg, i))
	}
	return c.f32(arg, i)
}

// set rounds v to the nearest of floating point.
func (c *Call) set(e element, arg, i int, v float64) {
	if e == float16s {
		binary.LittleEndian.PutUint16(c.Args[arg][2*i:], quant.FloatToHalf(float32(v)))
		return
	}
	c.setF32(arg, i, v)
}

// floats are n elements of arg from element from on.
func (c *Call) floats(arg, from, n int) []float64 { return c.elements(float32s, arg, from, n) }

func (c *Call) elements(e element, arg, from, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = c.get(e, arg, from+i)
	}
	return out
}

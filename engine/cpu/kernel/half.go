package kernel

import (
	"sync"

	"github.com/introgen/introgen/engine/quant"
)

// halves maps every binary16 to its float32. Kernels read scales through it, so
// that no vector instruction is spent on them; a model's scales touch a few
// pages of it, which stay in the first-level cache.
var halves [1 << 16]float32

// fillHalves fills the table, once: about 0.1 ms.
var fillHalves = sync.OnceFunc(func() {
	for h := range halves {
		halves[h] = quant.HalfToFloat(uint16(h))
	}
})

// half reads a scale.
func half(b []byte) float32 { return halves[uint16(b[0])|uint16(b[1])<<8] }

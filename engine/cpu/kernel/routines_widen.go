//go:build amd64 || arm64

package kernel

import (
	"sync"
	"unsafe"

	"github.com/introgen/introgen/engine/quant"
)

// nibbleRoutines is the assembly for the formats that are widened to Q8_0. The mul
// routines take what mulQ8 takes, and may be nil: then rows are widened and multiplied.
type nibbleRoutines struct {
	widen    func(dst, src *byte, blocks int, values *nibbleValues)
	widenQ50 func(dst, src *byte, blocks int)
	mul      func(dst *float32, w *byte, q *int16, scale *float32, rows, blocks, add int, values *nibbleValues)
	mulQ40   func(dst *float32, w *byte, q *int16, scale *float32, rows, blocks, add int)
	mulQ50   func(dst *float32, w *byte, q *int16, scale *float32, rows, blocks, add int)
}

// superRoutines is the assembly for the formats of super-blocks. expand writes one
// super-block of a row as a super, mul multiplies a super with one token's blocks. The
// mul routines of a format take whole rows, mulRows of them or more, and may be nil.
type superRoutines struct {
	expandQ4K, expandQ5K, expandQ6K func(s *super, src *byte)
	mul                             func(s *super, x *int16, scale, sum *float32) float32
	mulQ4K, mulQ5K, mulQ6K          superMul
	tile                            func(dst *float32, stride int, w *byte, q *int16, scale, sum *float32, rows, supers, tokens, add int, sums *float32, ahead *byte)
}

type superMul = func(dst *float32, w *byte, q *int16, scale, sum *float32, rows, supers, add int)

// A room holds what a call rewrites before it multiplies or packs: blocks of 16 rows as
// Q8_0, eight or a super of each.
type room [TileRows * superBytes]byte

// rooms are kept between calls: the routines are called through variables, so that a
// room on the stack would be allocated at each call.
var rooms = sync.Pool{New: func() any { return new(room) }}

// widened is the kernels of a format that is widened to Q8_0: mul may be nil.
func (r *routines) widened(twin Format, typ quant.Type, widen func(dst, src *byte, blocks int), mul func(dst *float32, w *byte, q *int16, scale *float32, rows, blocks, add int)) Format {
	nameMul, namePack, nameTile := names(typ)
	f := twin
	row := twin.Row
	f.Mul = func(dst []float32, w []byte, p *Panel, rows int, add bool) {
		checkMul(nameMul, f.Form, dst, w, p, rows)
		n := rows &^ (mulRows - 1)
		if n > 0 {
			if mul != nil {
				mul(&dst[0], &w[0], &p.Q[0], &p.Scale[0], n, p.Blocks, one(add))
			} else {
				r.mulWidened(&dst[0], &w[0], p, n, one(add), row, widen)
			}
		}
		if n < rows {
			twin.Mul(dst[n:], w[n*p.Blocks*row:], p, rows-n, add)
		}
	}
	f.Pack = func(dst, src []byte, blocks int) {
		checkPack(namePack, f.Form, dst, src, blocks)
		m := rooms.Get().(*room)
		for b := 0; b < blocks; b += superBlocks {
			n := min(superBlocks, blocks-b)
			for i := range TileRows {
				widen(&m[i*n*q8Bytes], &src[(i*blocks+b)*row], n)
			}
			r.packQ8(&dst[b*q8Tile], &m[0], n)
		}
		rooms.Put(m)
	}
	f.Tile = r.tileOfQ8(nameTile, f.Form)
	return f
}

// mulWidened multiplies rows that it widens, mulRows of them at a time.
func (r *routines) mulWidened(dst *float32, w *byte, p *Panel, rows, add, row int, widen func(dst, src *byte, blocks int)) {
	m := rooms.Get().(*room)
	for i := 0; i < rows; i += mulRows {
		for b := 0; b < p.Blocks; b += superBlocks {
			n := min(superBlocks, p.Blocks-b)
			for k := range mulRows {
				widen(&m[k*n*q8Bytes], behind(w, ((i+k)*p.Blocks+b)*row), n)
			}
			r.mulQ8(floatBehind(dst, i), &m[0], &p.Q[b*Block], &p.Scale[b], mulRows, n, max(add, min(b, 1)))
		}
	}
	rooms.Put(m)
}

// tileOfQ8 is a Tile for tiles of Q8_0.
func (r *routines) tileOfQ8(name string, form Form) func(dst []float32, stride int, w []byte, p *Panel, rows int, add bool, scratch []float32, ahead []byte) {
	return func(dst []float32, stride int, w []byte, p *Panel, rows int, add bool, scratch []float32, ahead []byte) {
		checkTile(name, form, dst, stride, w, p, rows, scratch)
		switch {
		case rows == 0: // the assembly would not end
		case p.Tokens == 1 && r.tile1Q8 != nil:
			r.tile1Q8(&dst[0], &w[0], &p.Q[0], &p.Scale[0], rows, p.Blocks, one(add), first(ahead, w))
		default:
			r.tileQ8(&dst[0], 4*stride, &w[0], &p.Q[0], &p.Scale[0], rows, p.Blocks, p.Tokens, one(add), &scratch[0], first(ahead, w))
		}
	}
}

// super is the kernels of a format of super-blocks: mul may be nil.
func (r *routines) super(twin Format, typ quant.Type, expand func(s *super, src *byte), mul superMul) Format {
	nameMul, namePack, nameTile := names(typ)
	f := twin
	row := twin.Row
	f.Mul = func(dst []float32, w []byte, p *Panel, rows int, add bool) {
		checkMul(nameMul, f.Form, dst, w, p, rows)
		n, supers := 0, p.Blocks/superBlocks
		if mul != nil {
			n = rows &^ (mulRows - 1)
		}
		if n > 0 {
			mul(&dst[0], &w[0], &p.Q[0], &p.Scale[0], &p.Sum[0], n, supers, one(add))
		}
		if n == rows {
			return
		}
		m := rooms.Get().(*room)
		for w = w[n*supers*row:]; n < rows; n++ {
			var sum float32
			for b := 0; b < p.Blocks; b += superBlocks {
				expand((*super)(m[:]), &w[0])
				sum += r.supers.mul((*super)(m[:]), &p.Q[b*Block], &p.Scale[b], &p.Sum[b])
				w = w[row:]
			}
			store(&dst[n], sum, add)
		}
		rooms.Put(m)
	}
	f.Pack = func(dst, src []byte, blocks int) {
		checkPack(namePack, f.Form, dst, src, blocks)
		m := rooms.Get().(*room)
		supers := blocks / superBlocks
		for b := range supers {
			for i := range TileRows {
				expand((*super)(m[i*superBytes:]), &src[(i*supers+b)*row])
			}
			r.packQ8(&dst[b*TileRows*superBytes], &m[0], superBlocks+1)
		}
		rooms.Put(m)
	}
	f.Tile = func(dst []float32, stride int, w []byte, p *Panel, rows int, add bool, scratch []float32, ahead []byte) {
		checkTile(nameTile, f.Form, dst, stride, w, p, rows, scratch)
		if rows > 0 { // the assembly would not end
			r.supers.tile(&dst[0], 4*stride, &w[0], &p.Q[0], &p.Scale[0], &p.Sum[0], rows, p.Blocks/superBlocks, p.Tokens, one(add), &scratch[0], first(ahead, w))
		}
	}
	return f
}

// behind returns the address n bytes behind p.
func behind(p *byte, n int) *byte { return (*byte)(unsafe.Add(unsafe.Pointer(p), n)) }

// floatBehind returns the address n floats behind p.
func floatBehind(p *float32, n int) *float32 { return (*float32)(unsafe.Add(unsafe.Pointer(p), 4*n)) }

package kernel

import (
	"encoding/binary"

	"github.com/introgen/introgen/engine/quant"
)

// The formats of 32 columns whose values are small integers times one scale: their
// tiles are those of Q8_0, which have the same integers in 8 bits.
const (
	nibbleBytes = 18 // a block of Q4_0 or IQ4_NL: half d, 16 bytes of low and high nibbles
	q50Bytes    = 22 // a block of Q5_0: half d, 32 fifth bits, 16 bytes of low and high nibbles
)

var (
	nibbleForm = Form{Block, nibbleBytes, q8Bytes}
	q50Form    = Form{Block, q50Bytes, q8Bytes}
)

// nibbleValues is what the nibbles of Q4_0 and of IQ4_NL stand for (kvalues_iq4nl in
// ggml-common.h), in the order of the nibbles.
type nibbleValues [16]int8

var (
	q40Values   = nibbleValues{-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7}
	iq4nlValues = nibbleValues{-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113}
)

// A widener rewrites a block as one of Q8_0.
type widener func(dst *[q8Bytes]byte, src []byte)

// widenNibbles returns the widener of a format with these values.
func widenNibbles(values *nibbleValues) widener {
	return func(dst *[q8Bytes]byte, src []byte) {
		src = src[:nibbleBytes]
		dst[0], dst[1] = src[0], src[1]
		for i, c := range src[2:] {
			dst[2+i], dst[18+i] = byte(values[c&15]), byte(values[c>>4])
		}
	}
}

func widenQ50(dst *[q8Bytes]byte, src []byte) {
	src = src[:q50Bytes]
	dst[0], dst[1] = src[0], src[1]
	fifth := binary.LittleEndian.Uint32(src[2:])
	for i, c := range src[6:] {
		dst[2+i] = c&15 | byte(fifth>>i&1<<4) - 16
		dst[18+i] = c>>4 | byte(fifth>>(16+i)&1<<4) - 16
	}
}

// widened is the twins of a format that is widened to Q8_0.
func widened(typ quant.Type, form Form, widen widener) Format {
	mul, pack, tile := names(typ)
	return Format{
		Form: form,
		Mul: func(dst []float32, w []byte, p *Panel, rows int, add bool) {
			checkMul(mul, form, dst, w, p, rows)
			row := make([]byte, p.Blocks*q8Bytes)
			for r := range rows {
				for b := range p.Blocks {
					widen((*[q8Bytes]byte)(row[b*q8Bytes:]), w[(r*p.Blocks+b)*form.Row:])
				}
				mulQ8(dst[r:], row, p, 1, add)
			}
		},
		Pack: func(dst, src []byte, blocks int) {
			checkPack(pack, form, dst, src, blocks)
			rows := make([]byte, TileRows*blocks*q8Bytes)
			for b := range TileRows * blocks {
				widen((*[q8Bytes]byte)(rows[b*q8Bytes:]), src[b*form.Row:])
			}
			packQ8(dst, rows, blocks)
		},
		Tile: func(dst []float32, stride int, w []byte, p *Panel, rows int, add bool, scratch []float32, ahead []byte) {
			checkTile(tile, form, dst, stride, w, p, rows, scratch)
			tileQ8(dst, stride, w, p, rows, add, scratch, ahead)
		},
	}
}

// names returns what the kernels of a type are called in a SizeError.
func names(typ quant.Type) (mul, pack, tile string) {
	return "Mul " + typ.String(), "Pack " + typ.String(), "Tile " + typ.String()
}

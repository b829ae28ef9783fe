//go:build amd64 || arm64

package kernel

import "github.com/introgen/introgen/engine/quant"

// formats makes the kernels of each weight format of the routines: it cuts slices to
// what they take and gives what is left to the twins.
func (r *routines) formats() map[quant.Type]Format {
	all := map[quant.Type]Format{
		quant.Q8_0: r.q8(),
		quant.Q4_1: r.q41(),
	}
	twins := generic().Formats
	if n := &r.nibbles; n.widen != nil {
		of := func(values *nibbleValues) func(dst, src *byte, blocks int) {
			return func(dst, src *byte, blocks int) { n.widen(dst, src, blocks, values) }
		}
		all[quant.Q4_0] = r.widened(twins[quant.Q4_0], quant.Q4_0, of(&q40Values), n.mulQ40)
		var lookUp func(dst *float32, w *byte, q *int16, scale *float32, rows, blocks, add int)
		if n.mul != nil {
			lookUp = func(dst *float32, w *byte, q *int16, scale *float32, rows, blocks, add int) {
				n.mul(dst, w, q, scale, rows, blocks, add, &iq4nlValues)
			}
		}
		all[quant.IQ4_NL] = r.widened(twins[quant.IQ4_NL], quant.IQ4_NL, of(&iq4nlValues), lookUp)
		all[quant.Q5_0] = r.widened(twins[quant.Q5_0], quant.Q5_0, n.widenQ50, n.mulQ50)
	}
	if s := &r.supers; s.tile != nil {
		all[quant.Q4_K] = r.super(twins[quant.Q4_K], quant.Q4_K, s.expandQ4K, s.mulQ4K)
		all[quant.Q5_K] = r.super(twins[quant.Q5_K], quant.Q5_K, s.expandQ5K, s.mulQ5K)
		all[quant.Q6_K] = r.super(twins[quant.Q6_K], quant.Q6_K, s.expandQ6K, s.mulQ6K)
	}
	return all
}

// q8 is the kernels for Q8_0 made of the routines.
func (r *routines) q8() Format {
	f := Format{
		Form: q8Form,
		Mul: func(dst []float32, w []byte, p *Panel, rows int, add bool) {
			checkMul("MulQ8", q8Form, dst, w, p, rows)
			n := rows &^ (mulRows - 1)
			if n > 0 {
				r.mulQ8(&dst[0], &w[0], &p.Q[0], &p.Scale[0], n, p.Blocks, one(add))
			}
			if n < rows {
				mulQ8(dst[n:], w[n*p.Blocks*q8Bytes:], p, rows-n, add)
			}
		}, Pack: func(dst, src []byte, blocks int) {
			checkPack("PackQ8", q8Form, dst, src, blocks)
			r.packQ8(&dst[0], &src[0], blocks)
		}, Tile: func(dst []float32, stride int, w []byte, p *Panel, rows int, add bool, scratch []float32, ahead []byte) {
			checkTile("TileQ8", q8Form, dst, stride, w, p, rows, scratch)
			switch {
			case rows == 0: // the assembly would not end
			case p.Tokens == 1 && r.tile1Q8 != nil:
				r.tile1Q8(&dst[0], &w[0], &p.Q[0], &p.Scale[0], rows, p.Blocks, one(add), first(ahead, w))
			default:
				r.tileQ8(&dst[0], 4*stride, &w[0], &p.Q[0], &p.Scale[0], rows, p.Blocks, p.Tokens, one(add), &scratch[0], first(ahead, w))
			}
		}}
	if r.packTileQ8 != nil {
		f.PackTile = func(dst []float32, stride int, w, room []byte, p *Panel, add bool, scratch []float32, ahead []byte) {
			const name = "PackTileQ8"
			checkPack(name, q8Form, room, w, p.Blocks)
			checkTile(name, q8Form, dst, stride, w, p, TileRows, scratch)
			r.packTileQ8(&dst[0], 4*stride, &w[0], &room[0], &p.Q[0], &p.Scale[0], p.Blocks, p.Tokens, one(add), &scratch[0], first(ahead, w))
		}
	}
	return f
}

// q41 is the kernels for Q4_1 made of the routines.
func (r *routines) q41() Format {
	return Format{
		Form: q41Form,
		Mul: func(dst []float32, w []byte, p *Panel, rows int, add bool) {
			checkMul("MulQ41", q41Form, dst, w, p, rows)
			n := rows &^ (mulRows - 1)
			if n > 0 {
				r.mulQ41(&dst[0], &w[0], &p.Q[0], &p.Scale[0], &p.Sum[0], n, p.Blocks, one(add))
			}
			if n < rows {
				mulQ41(dst[n:], w[n*p.Blocks*q41Bytes:], p, rows-n, add)
			}
		}, Pack: func(dst, src []byte, blocks int) {
			checkPack("PackQ41", q41Form, dst, src, blocks)
			r.packQ41(&dst[0], &src[0], blocks)
		}, Tile: func(dst []float32, stride int, w []byte, p *Panel, rows int, add bool, scratch []float32, ahead []byte) {
			checkTile("TileQ41", q41Form, dst, stride, w, p, rows, scratch)
			switch {
			case rows == 0: // the assembly would not end
			case p.Tokens == 1 && r.tile1Q41 != nil:
				r.tile1Q41(&dst[0], &w[0], &p.Q[0], &p.Scale[0], &p.Sum[0], rows, p.Blocks, one(add), first(ahead, w))
			default:
				r.tileQ41(&dst[0], 4*stride, &w[0], &p.Q[0], &p.Scale[0], &p.Sum[0], rows, p.Blocks, p.Tokens, one(add), &scratch[0], first(ahead, w))
			}
		}}
}

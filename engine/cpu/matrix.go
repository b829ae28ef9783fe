package cpu

import (
	"unsafe"

	"github.com/introgen/introgen/engine/cpu/kernel"
	"github.com/introgen/introgen/engine/quant"
	"github.com/introgen/introgen/engine/transformer"
)

// matrix is a weight and the kernels that multiply with it.
type matrix struct {
	*transformer.Matrix
	fast  int    // leading rows that the fast kernels do, a multiple of kernel.TileRows
	tiles []byte // those rows in tile order, or nil where they are read as the file has them

	format kernel.Format
}

// newMatrix returns m with the kernels of set, if set has any for its type.
func newMatrix(m *transformer.Matrix, set *kernel.Set) matrix {
	w := matrix{Matrix: m}
	if f, ok := set.Formats[m.Type]; ok {
		w.format, w.fast = f, m.Rows&^(kernel.TileRows-1)
	}
	return w
}

// slow reports whether some rows are dequantized and multiplied as floats.
func (w *matrix) slow() bool { return w.fast < w.Rows }

// vectors is the activations of some tokens, in one form or both: floats, Cols
// for each token, for slow rows; a panel for fast ones.
type vectors struct {
	floats []float32
	panel  *kernel.Panel
}

// newVectors makes room for tokens tokens of cols values in the forms that the
// matrices need.
func newVectors(tokens, cols int, ms ...*matrix) vectors {
	v := vectors{floats: floats(tokens * cols)}
	for _, m := range ms {
		if m.fast > 0 && v.panel == nil {
			v.panel = kernel.NewPanel(floats, tokens, cols)
			v.panel.Shape(tokens, cols)
		}
	}
	return v
}

// activations is room for the activations of one token and of several: in the
// last layer a pass of several goes on with one, and the shape must not change
// while some thread may look at it.
type activations struct {
	cols      int
	one, many vectors
}

// newRooms makes room for n tokens of each of some widths, and for one, in the forms that
// the matrices of the width need. Layers take turns, so one room of a width is enough.
func newRooms(n int, widths map[int][]*matrix) map[int]*activations {
	rooms := map[int]*activations{}
	for cols, ms := range widths {
		rooms[cols] = &activations{cols: cols, one: newVectors(1, cols, ms...), many: newVectors(n, cols, ms...)}
	}
	return rooms
}

// of returns the room for so many tokens.
func (a *activations) of(tokens int) *vectors {
	if tokens == 1 {
		return &a.one
	}
	return &a.many
}

// shape sets the number of tokens and values.
func (v *vectors) shape(tokens, cols int) {
	if v.panel != nil {
		v.panel.Shape(tokens, cols)
	}
}

// scratch is a thread's room for multiplying.
type scratch struct {
	sums []float32 // kernel.TileRows for each token
	tile []byte    // one tile in tile order
	row  []float32 // one dequantized row
}

// multiply writes rows r0 to r0+rows-1 of w times each of the tokens of in to
// dst: dst[t*stride+i] is row r0+i times token t, or is added to it. r0 is a
// multiple of kernel.TileRows.
func (w *matrix) multiply(set *kernel.Set, s *scratch, dst []float32, stride, r0, rows int, in *vectors, tokens int, add bool) {
	if n := min(rows, w.fast-r0); n > 0 {
		w.multiplyFast(s, dst, stride, r0, n, in.panel, add)
		dst, r0, rows = dst[n:], r0+n, rows-n
	}
	if rows > 0 {
		w.multiplySlow(set, s, dst, stride, r0, rows, in.floats, tokens, add)
	}
}

func (w *matrix) multiplyFast(s *scratch, dst []float32, stride, r0, rows int, p *kernel.Panel, add bool) {
	size := w.RowBytes
	switch {
	case w.tiles != nil:
		w.format.Tile(dst, stride, w.tiles[r0*size:(r0+rows)*size], p, rows, add, s.sums, w.tiles[min(len(w.tiles), r0*size+ahead):])
	case p.Tokens == 1:
		w.format.Mul(dst, w.Data[r0*size:(r0+rows)*size], p, rows, add)
	default:
		const n = kernel.TileRows
		tile := s.tile[:n*w.format.TileBytes(w.Cols)]
		for i := 0; i < rows; i += n {
			at := (r0 + i) * size
			if w.format.PackTile != nil {
				w.format.PackTile(dst[i:], stride, w.Data[at:at+n*size], tile, p, add, s.sums, w.Data[at+n*size:])
				continue
			}
			w.format.Pack(tile, w.Data[at:at+n*size], p.Blocks)
			w.format.Tile(dst[i:], stride, tile, p, n, add, s.sums, w.Data[at+n*size:])
		}
	}
}

// ahead is how far before its use a tile is asked for, in bytes: the best of 2 to
// 16 KiB, with one thread and with two. (The kernels that read rows in the file's order know their own.)
const ahead = 8192

// lead is how much of a matrix is asked for before its kernel begins: what comes
// in while the threads wait for each other and prepare.
const lead = 16 << 10

// lines returns the first bytes of row r and what follows: what a kernel that
// begins there will not have prefetched.
func (w *matrix) lines(r int) []byte {
	data := w.Data
	if w.tiles != nil && r < w.fast {
		data = w.tiles
	}
	at := r * w.RowBytes
	return data[at:min(len(data), at+lead)]
}

func (w *matrix) multiplySlow(set *kernel.Set, s *scratch, dst []float32, stride, r0, rows int, x []float32, tokens int, add bool) {
	for i := range rows {
		row := w.floatRow(s.row, r0+i)
		for t := range tokens {
			v := set.Dot(row, x[t*w.Cols:(t+1)*w.Cols])
			if add {
				v += dst[t*stride+i]
			}
			dst[t*stride+i] = v
		}
	}
}

// floatRow returns row r as floats: in place where it is F32, else in buf.
func (w *matrix) floatRow(buf []float32, r int) []float32 {
	data := w.Row(r)
	if w.Type == quant.F32 && littleEndian && uintptr(unsafe.Pointer(&data[0]))%4 == 0 {
		return unsafe.Slice((*float32)(unsafe.Pointer(&data[0])), w.Cols)
	}
	// The type can be decoded and the sizes fit: transformer.Load has checked both.
	_ = quant.Dequantize(buf[:w.Cols], w.Type, data)
	return buf[:w.Cols]
}

// littleEndian says whether numbers lie in memory as they do in the file.
var littleEndian = func() bool {
	x := uint16(1)
	return *(*byte)(unsafe.Pointer(&x)) == 1
}()

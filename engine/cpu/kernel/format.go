package kernel

const (
	q8Bytes  = 34 // a block of Q8_0: half d, 32 int8
	q41Bytes = 20 // a block of Q4_1: half d, half m, 16 bytes of low and high nibbles
)

// Form is the sizes of a weight format in both orders.
type Form struct {
	Columns int // columns that stand together, a multiple of Block: rows are whole ones
	Row     int // their bytes in a row
	Tile    int // their bytes for a row in tile order
}

var (
	q8Form  = Form{Block, q8Bytes, q8Bytes}
	q41Form = Form{Block, q41Bytes, q41Bytes}
)

// RowBytes is the bytes of a row of so many columns.
func (f Form) RowBytes(columns int) int { return columns / f.Columns * f.Row }

// TileBytes is the bytes that a row of so many columns takes in tile order.
func (f Form) TileBytes(columns int) int { return columns / f.Columns * f.Tile }

// Grows says whether weights are larger in tile order: then a copy of them in it
// costs more memory, and more to read, than it saves.
func (f Form) Grows() bool { return f.Tile > f.Row }

// Format is the kernels for the weights of one type. A panel's Blocks are those of
// 32 columns whatever the type, and whole Columns.
type Format struct {
	Form
	// Mul multiplies rows rows in row order, p.Blocks blocks each, with the one
	// token of p: dst[r] = row r · p, or is added to dst[r].
	Mul func(dst []float32, w []byte, p *Panel, rows int, add bool)
	// Pack rewrites TileRows rows, blocks blocks each, in tile order.
	Pack func(dst, src []byte, blocks int)
	// Tile multiplies rows rows (a multiple of TileRows) in tile order, p.Blocks
	// blocks each, with all tokens of p: dst[t*stride+r] = row r · token t, or is
	// added to it. scratch has TileRows floats for each token. ahead is memory that
	// will be read next, to be prefetched meanwhile; it may be empty.
	Tile func(dst []float32, stride int, w []byte, p *Panel, rows int, add bool, scratch []float32, ahead []byte)
	// PackTile is Pack and Tile of TileRows rows in row order in one, where the set can do
	// the two at once, else nil. room is what Pack would write to.
	PackTile func(dst []float32, stride int, w, room []byte, p *Panel, add bool, scratch []float32, ahead []byte)
}

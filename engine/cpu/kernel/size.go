package kernel

import "fmt"

// SizeError is what a kernel panics with when a slice is shorter than what it
// would read or write there, or a count is not what it takes. Nothing has been
// read or written then: assembly looks at no lengths, so they are looked at
// before it is entered, once a call.
type SizeError struct {
	Kernel, What string // "TileQ8", "dst"
	Have, Need   int
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("kernel %s: %s is %d, but %d is needed; this is a fault of the program, not of the model", e.Kernel, e.What, e.Have, e.Need)
}

// need panics where have is less than least.
func need(kernel, what string, have, least int) {
	if have < least {
		wrongSize(kernel, what, have, least)
	}
}

// wrongSize stands apart so that need is compiled in place.
//
//go:noinline
func wrongSize(kernel, what string, have, need int) {
	panic(&SizeError{kernel, what, have, need})
}

// check holds a panel's slices to its counts.
func (p *Panel) check(kernel string) {
	need(kernel, "number of tokens", p.Tokens, 1)
	need(kernel, "number of blocks", p.Blocks, 1)
	n := p.Tokens * p.Blocks
	need(kernel, "length of the panel's values", len(p.Q), n*Block)
	need(kernel, "length of the panel's scales", len(p.Scale), n)
	need(kernel, "length of the panel's sums", len(p.Sum), n)
}

// checkQuantize checks what Set.Quantize is given.
func checkQuantize(p *Panel, t, b0 int, x []float32) {
	const k = "Quantize"
	p.check(k)
	need(k, "token", t, 0)
	need(k, "number of tokens", p.Tokens, t+1)
	need(k, "first block", b0, 0)
	need(k, "number of blocks", p.Blocks, b0+len(x)/Block)
	if len(x)%Block != 0 {
		wrongSize(k, "length of x", len(x), (len(x)/Block+1)*Block)
	}
}

// checkMul checks what a Mul is given.
func checkMul(kernel string, f Form, dst []float32, w []byte, p *Panel, rows int) {
	p.check(kernel)
	if p.Tokens != 1 {
		wrongSize(kernel, "number of tokens", p.Tokens, 1)
	}
	f.check(kernel, p.Blocks)
	need(kernel, "number of rows", rows, 0)
	need(kernel, "length of dst", len(dst), rows)
	need(kernel, "length of w", len(w), rows*f.RowBytes(p.Blocks*Block))
}

// check holds the blocks of a row to what stands together.
func (f Form) check(kernel string, blocks int) {
	need(kernel, "number of blocks", blocks, 1)
	if n := f.Columns / Block; blocks%n != 0 {
		wrongSize(kernel, "number of blocks", blocks, (blocks/n+1)*n)
	}
}

// checkPack checks what a Pack is given.
func checkPack(kernel string, f Form, dst, src []byte, blocks int) {
	f.check(kernel, blocks)
	need(kernel, "length of dst", len(dst), TileRows*f.TileBytes(blocks*Block))
	need(kernel, "length of src", len(src), TileRows*f.RowBytes(blocks*Block))
}

// checkTile checks what a Tile is given.
func checkTile(kernel string, f Form, dst []float32, stride int, w []byte, p *Panel, rows int, scratch []float32) {
	p.check(kernel)
	f.check(kernel, p.Blocks)
	need(kernel, "number of rows", rows, 0)
	if rows%TileRows != 0 {
		wrongSize(kernel, "number of rows", rows, rows&^(TileRows-1)+TileRows)
	}
	last := 0 // where the last token's rows begin
	if p.Tokens > 1 {
		need(kernel, "stride", stride, rows)
		last = (p.Tokens - 1) * stride
	}
	if rows > 0 {
		need(kernel, "length of dst", len(dst), last+rows)
	}
	need(kernel, "length of w", len(w), rows*f.TileBytes(p.Blocks*Block))
	need(kernel, "length of scratch", len(scratch), p.Tokens*TileRows)
}

// checkThree checks what RMSNorm, SwiGLU and GeGLU are given: dst and w as long as x.
func checkThree(kernel string, dst, x, w []float32) {
	need(kernel, "length of the result", len(dst), len(x))
	need(kernel, "length of the last operand", len(w), len(x))
}

// checkRope checks what Set.Rope is given.
func checkRope(x, cos, sin []float32) {
	if min(len(x), len(sin)) < len(cos) { // the shortest kernel: nothing is called where all is well
		wrongRope(x, cos, sin)
	}
}

func wrongRope(x, cos, sin []float32) {
	need("Rope", "length of x", len(x), len(cos))
	need("Rope", "length of sin", len(sin), len(cos))
}

// checkRopeHalves checks what Set.RopeHalves is given.
func checkRopeHalves(x, cos, sin []float32) {
	need("RopeHalves", "length of x", len(x), 2*len(cos))
	need("RopeHalves", "length of sin", len(sin), len(cos))
}

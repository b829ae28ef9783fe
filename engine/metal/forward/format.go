package forward

import (
	"fmt"
	"strings"

	"github.com/introgen/introgen/metalshim"
)

// Format is how weights of one type lie, and how the matrix kernels of a block
// format are named and launched.
type Format struct {
	Name         string // in kernel names: "q8_0", "q4_K"
	Elems, Bytes int    // of one block
	// The matrix × vector kernel: threads (nthX, nthY) of a threadgroup and
	// the rows that a threadgroup makes
	// (candle-metal-kernels/src/kernels/quantized.rs).
	nthX, nthY, rows int
	float            bool // no blocks, and no matrix kernel of its own: f32, f16, bf16
}

var formats = []Format{
	{Name: "q4_0", Elems: 32, Bytes: 18, nthX: 8, nthY: 8, rows: 8},
	{Name: "q4_1", Elems: 32, Bytes: 20, nthX: 8, nthY: 8, rows: 8},
	{Name: "q5_0", Elems: 32, Bytes: 22, nthX: 8, nthY: 8, rows: 8},
	{Name: "q5_1", Elems: 32, Bytes: 24, nthX: 8, nthY: 8, rows: 8},
	{Name: "q8_0", Elems: 32, Bytes: 34, nthX: 8, nthY: 8, rows: 8},
	{Name: "q2_K", Elems: 256, Bytes: 84, nthX: 2, nthY: 32, rows: 4},
	{Name: "q3_K", Elems: 256, Bytes: 110, nthX: 2, nthY: 32, rows: 4},
	{Name: "q4_K", Elems: 256, Bytes: 144, nthX: 4, nthY: 8, rows: 4},
	{Name: "q5_K", Elems: 256, Bytes: 176, nthX: 2, nthY: 32, rows: 4},
	{Name: "q6_K", Elems: 256, Bytes: 210, nthX: 2, nthY: 32, rows: 2},
	{Name: "f32", Elems: 1, Bytes: 4, float: true},
	{Name: "f16", Elems: 1, Bytes: 2, float: true},
	{Name: "bf16", Elems: 1, Bytes: 2, float: true},
}

// Formats lists the formats that a matrix may have.
func Formats() []Format { return append([]Format(nil), formats...) }

// Float says that there is no block and no matrix kernel: F32, F16 and BF16.
// candle expands such a matrix on the CPU when the model is built, and
// multiplies by it as float32 (QMatMul::from_arc in
// candle-core/src/quantized/mod.rs).
func (f Format) Float() bool { return f.float }

// FormatOf finds a format by its name in GGUF's style, "Q8_0", whatever the
// case of its letters.
func FormatOf(name string) (Format, error) {
	for _, f := range formats {
		if strings.EqualFold(f.Name, name) {
			return f, nil
		}
	}
	var known []string
	for _, f := range formats {
		known = append(known, f.Name)
	}
	return Format{}, fmt.Errorf("no metal kernel multiplies weights of type %s; candle multiplies %s", name, strings.Join(known, ", "))
}

// MV and MM are the names of the kernels that multiply a matrix of this block
// format by one vector, and by several.
func (f Format) MV() string { return "kernel_mul_mv_" + f.Name + "_f32" }

// MM is described at MV.
func (f Format) MM() string { return "kernel_mul_mm_" + f.Name + "_f32" }

// VectorGrid is the launch of the vector kernel for a matrix of n rows.
func (f Format) VectorGrid(n int) (grid, group metalshim.Size) {
	return metalshim.Size{X: (n + f.rows - 1) / f.rows, Y: 1, Z: 1}, metalshim.Size{X: f.nthX, Y: f.nthY, Z: 1}
}

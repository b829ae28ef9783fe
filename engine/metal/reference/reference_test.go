package reference

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/introgen/introgen/engine/metal/forward"
	"github.com/introgen/introgen/engine/quant"
	"github.com/introgen/introgen/metalshim"
)

func f32s(v ...float32) []byte {
	var b []byte
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

func u64s(v ...uint64) []byte {
	var b []byte
	for _, x := range v {
		b = binary.LittleEndian.AppendUint64(b, x)
	}
	return b
}

func lanes(x int) metalshim.Size { return metalshim.Size{X: x, Y: 1, Z: 1} }

// TestByHand computes small cases whose results are plain to see.
func TestByHand(t *testing.T) {
	third := float32(1.0 / 3)
	for _, c := range []struct {
		call Call
		out  int
		want []float32
	}{
		{Call{Function: "badd_f32", Args: [31][]byte{u64s(3), f32s(1, 2, 3), f32s(10, 20, 30), f32s(0, 0, 0)}, Grid: lanes(1), Group: lanes(2)}, 3, []float32{11, 22, 33}},
		{Call{Function: "affine_f32", Args: [31][]byte{u64s(2), f32s(2), f32s(1), f32s(3, 4), f32s(0, 0)}, Grid: lanes(1), Group: lanes(1)}, 4, []float32{7, 9}},
		{Call{Function: "silu_f32", Args: [31][]byte{u64s(1), f32s(0), f32s(9)}, Grid: lanes(1), Group: lanes(1)}, 2, []float32{0}},
		// rms of (3, 4) is 5/√2
		{Call{Function: "rmsnorm_f32", Args: [31][]byte{u64s(2), u64s(2), f32s(3, 4), f32s(0, 0), f32s(1, 10), f32s(0)}, Grid: lanes(1), Group: lanes(1)}, 3, []float32{3 * math.Sqrt2 / 5, 40 * math.Sqrt2 / 5}},
		{Call{Function: "softmax_f32", Args: [31][]byte{u64s(3), u64s(3), f32s(7, 7, 7), f32s(0, 0, 0)}, Grid: lanes(1), Group: lanes(1)}, 3, []float32{third, third, third}},
		// a quarter turn of (1, 0)
		{Call{Function: "rope_i_f32", Args: [31][]byte{u64s(1), u64s(2), u64s(0), f32s(1, 0), f32s(0), f32s(1), f32s(9, 9)}, Grid: lanes(1), Group: lanes(1)}, 6, []float32{0, 1}},
		{Call{Function: "copy2d_f32", Args: [31][]byte{u64s(2), u64s(2), u64s(2), u64s(3), f32s(1, 2, 3, 4), f32s(0, 0, 0, 0, 0, 0)}, Grid: metalshim.Size{X: 2, Y: 2, Z: 1}, Group: metalshim.Size{X: 2, Y: 2, Z: 1}, InThreads: true}, 5, []float32{1, 2, 0, 3, 4, 0}},
	} {
		if err := Run(&c.call); err != nil {
			t.Error(err)
			continue
		}
		for i, w := range c.want {
			if got := float32(c.call.f32(c.out, i)); math.Abs(float64(got-w)) > 1e-6 {
				t.Errorf("%s: element %d is %v, want %v", c.call.Function, i, got, w)
			}
		}
	}
}

func TestRefused(t *testing.T) {
	for want, c := range map[string]Call{
		`no reference for kernel "nothing"`: {Function: "nothing"},
		`"gemm_tt_f32_f32_1_1_1_1_1"`:       {Function: "gemm_tt_f32_f32_1_1_1_1_1"},
		`weights of type "q9_f32"`:          {Function: "kernel_mul_mv_q9_f32"},
		`weights of type "f16_f32"`:         {Function: "kernel_mul_mv_f16_f32"},
		`"gemv_float32_bm1"`:                {Function: "gemv_float32_bm1"},
		"missing or too short":              {Function: "badd_f32", Args: [31][]byte{u64s(3), f32s(1)}, Grid: lanes(1), Group: lanes(2)},
		"a grid of 1 threads for 2 items":   {Function: "badd_f32", Args: [31][]byte{u64s(3)}, Grid: lanes(1), Group: lanes(1)},
		"power of two":                      {Function: "softmax_f32", Args: [31][]byte{u64s(3), u64s(3)}, Grid: lanes(1), Group: lanes(3)},
	} {
		if err := Run(&c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

// TestFormats: the plan and the codecs agree on the sizes of blocks.
func TestFormats(t *testing.T) {
	for _, f := range forward.Formats() {
		typ, err := quant.ParseType(f.Name)
		if err != nil {
			t.Error(err)
			continue
		}
		if elems, bytes := typ.Block(); elems != f.Elems || bytes != f.Bytes {
			t.Errorf("%s: blocks of %d elements in %d bytes, the codec has %d in %d", f.Name, f.Elems, f.Bytes, elems, bytes)
		}
	}
}

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

func u32s(v ...uint32) []byte {
	var b []byte
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, x)
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
		// Φ(1) is 0.8413, and the approximation 0.8412; of what is far off nothing, or all, is left.
		{Call{Function: "gelu_f32", Args: [31][]byte{u64s(4), f32s(0, 1, -20, 20), f32s(9, 9, 9, 9)}, Grid: lanes(1), Group: lanes(2)}, 2, []float32{0, 0.8411920, 0, 20}},
		// the second half of two tokens
		{Call{Function: "silu_f32_strided", Args: [31][]byte{u64s(2), u64s(2), u64s(2, 1), u64s(2, 1), f32s(0, 7, 0, 7), f32s(9, 9)}, Grid: lanes(1), Group: lanes(2)}, 5, []float32{0, 0}},
		// one row, added to two
		{Call{Function: "badd_f32_rstrided", Args: [31][]byte{u64s(4), u64s(2), u64s(2, 2), u64s(2, 1), u64s(0, 1), f32s(1, 2, 3, 4), f32s(10, 20), f32s(9, 9, 9, 9)}, Grid: lanes(1), Group: lanes(2)}, 7, []float32{11, 22, 13, 24}},
		// 1.5 is 0x3e00 as half precision, and 2049 is not there: 2048 is, 0x6800. Two of them make 0x68003e00.
		{Call{Function: "cast_f16_f32", Args: [31][]byte{u64s(2), {0, 0x3e, 0, 0x68}, f32s(9, 9)}, Grid: lanes(1), Group: lanes(1)}, 2, []float32{1.5, 2048}},
		{Call{Function: "cast_f32_f16", Args: [31][]byte{u64s(2), f32s(1.5, 2049), f32s(9)}, Grid: lanes(1), Group: lanes(1)}, 2, []float32{math.Float32frombits(0x68003e00)}},
		{Call{Function: "cast_u32_f16", Args: [31][]byte{u64s(2), u32s(0, 2049), f32s(9)}, Grid: lanes(1), Group: lanes(1)}, 2, []float32{math.Float32frombits(0x68000000)}},
		// cos 0 is 1, 0x3c00
		{Call{Function: "cos_f16", Args: [31][]byte{u64s(2), {0, 0, 0, 0}, f32s(9)}, Grid: lanes(1), Group: lanes(1)}, 2, []float32{math.Float32frombits(0x3c003c00)}},
		{Call{Function: "sin_f16", Args: [31][]byte{u64s(2), {0, 0, 0, 0}, f32s(9)}, Grid: lanes(1), Group: lanes(1)}, 2, []float32{0}},
		{Call{Function: "bmul_f32_lstrided", Args: [31][]byte{u64s(2), u64s(2), u64s(2, 1), u64s(2, 1), u64s(1, 1), f32s(3, 7, 5, 7), f32s(10, 100), f32s(9, 9)}, Grid: lanes(1), Group: lanes(1)}, 7, []float32{30, 500}},
		// The results are bytes: four of them, read as one number.
		{Call{Function: "eq_u32_cs", Args: [31][]byte{u64s(4), u64s(1), u64s(4), u64s(1), u64s(0), u32s(7, 8, 8, 7), u32s(8), f32s(9)}, Grid: lanes(1), Group: lanes(2)}, 7, []float32{math.Float32frombits(0x00010100)}},
		{Call{Function: "eq_u32_lss", Args: [31][]byte{u64s(4), u64s(2), u64s(2, 2), u64s(0, 1), u64s(0, 0), u32s(8, 7), u32s(7), f32s(9)}, Grid: lanes(1), Group: lanes(2)}, 7, []float32{math.Float32frombits(0x01000100)}},
		// a quarter turn of (1, 0), a half turn of (2, 3): elements 0 and 2, 1 and 3
		{Call{Function: "rope_f32", Args: [31][]byte{u64s(1), u64s(4), u64s(4), u64s(0), f32s(1, 2, 0, 3), f32s(0, -1), f32s(1, 0), f32s(9, 9, 9, 9)}, Grid: lanes(1), Group: lanes(2)}, 7, []float32{0, -2, 1, -3}},
		// (1, 2) times ((1, 2), (3, 4))
		{Call{Function: "gemv_t_float32_bm1_bn2_sm8_sn4_tm4_tn1_nc0_axpby0", Args: [31][]byte{f32s(1, 2, 3, 4), f32s(1, 2), nil, f32s(9, 9), u32s(2), u32s(2), u32s(2), nil, nil, nil, nil, u64s(2), u64s(4)}, Grid: metalshim.Size{X: 1, Y: 1, Z: 1}, Group: metalshim.Size{X: 32, Y: 2, Z: 1}}, 3, []float32{7, 10}},
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

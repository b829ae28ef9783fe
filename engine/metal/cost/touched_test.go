package cost_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/introgen/introgen/engine/metal/cost"
	"github.com/introgen/introgen/engine/metal/forward"
	"github.com/introgen/introgen/engine/metal/reference"
	"github.com/introgen/introgen/metalshim"
)

// TestTouched holds bytes to what the reference implementations do: a part of an
// argument is read if the results change, or there are none, when it does; a byte of
// a result is written if it is the same whatever stood there before.
func TestTouched(t *testing.T) {
	done := map[string]bool{}
	small := configs()[4]
	small.Heads, small.Hidden, small.FFN, small.Vocab = 2, 64, 64, 100
	all := append([]forward.Config{small}, configs()[:11]...)
	for _, c := range others() {
		c.Heads, c.KVHeads, c.HeadDim, c.RopeDim, c.Hidden, c.FFN, c.Vocab, c.Context = 2, 1, 32, 32, 64, 64, 100, 40
		all = append(all, c)
	}
	for _, c := range all {
		calls, err := forward.Calls(c)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range calls {
			if done[d.Function] {
				continue
			}
			done[d.Function] = true
			t.Run(d.Function, func(t *testing.T) { touched(t, smaller(d)) })
		}
	}
}

// smaller asks for less of what would take minutes to look at part by part.
func smaller(d forward.Dispatch) *forward.Dispatch {
	set := func(index int, data ...byte) {
		for i := range d.Args {
			if d.Args[i].Index == index {
				d.Args[i].Data = data
			}
		}
	}
	long := func(index, n int) { set(index, binary.LittleEndian.AppendUint64(nil, uint64(n))...) }
	switch f := d.Function; {
	case slices.Contains([]string{"cast_u32_f32", "cast_f16_f32", "cos_f16", "sin_f16", "cos_f32", "sin_f32", "silu_f32", "badd_f32", "bmul_f32", "affine_f32"}, f):
		long(0, 96)
	case f == "softmax_f32", f == "rmsnorm_f32":
		long(0, 96)
		long(1, 32)
	case f == "rope_i_f32":
		long(0, 3)
		long(1, 2*32)
	case f == "fast_argmax_f32":
		for _, index := range []int{0, 2, 3} {
			set(index, 96, 0, 0, 0)
		}
	case strings.HasPrefix(f, "sdpa_vector_2pass_1"):
		set(7, 5, 0, 0, 0) // keys
	case strings.HasPrefix(f, "kernel_mul_mm_"):
		long(13, 3)
		long(14, 5)
	case strings.HasPrefix(f, "kernel_mul_mv_"):
		long(4, 3)
		long(15, 3)
		for _, format := range forward.Formats() {
			if format.MV() == f {
				d.Extent = forward.Groups(format.VectorGrid(3))
			}
		}
	case strings.HasPrefix(f, "gemm_"):
		smallerProduct(&d)
	case strings.HasPrefix(f, "gemv_float32_") && !batched(&d):
		set(5, 8, 0, 0, 0) // rows
	}
	return &d
}

// batched says that a product is of several matrices, which lie as far apart as their
// rows ask for.
func batched(d *forward.Dispatch) bool {
	return slices.ContainsFunc(d.Args, func(a forward.Arg) bool { return a.Index == 10 && a.Data[0] != 1 })
}

// smallerProduct makes a product of two matrices of one tile, which is as wide as
// the last was, since the constants say so.
func smallerProduct(d *forward.Dispatch) {
	var trans string
	var bm, bn, bk, wm, wn int
	if _, err := fmt.Sscanf(strings.ReplaceAll(d.Function, "f16", "f32"), "gemm_%2s_f32_f32_%d_%d_%d_%d_%d", &trans, &bm, &bn, &bk, &wm, &wn); err != nil {
		panic(err)
	}
	const batch = 2
	for i := range d.Args {
		a := &d.Args[i]
		if a.Index != 4 {
			continue
		}
		side := func(i, tile int) int { return (int(binary.LittleEndian.Uint32(a.Data[4*i:]))-1)%tile + 1 }
		m, n, k := side(0, bm), side(1, bn), side(2, bk)
		ldb := n
		if trans == "nt" {
			ldb = k
		}
		a.Data = nil
		for _, v := range []int{m, n, k, k, ldb, n, (n + bn - 1) / bn, (m + bm - 1) / bm} {
			a.Data = binary.LittleEndian.AppendUint32(a.Data, uint32(v))
		}
		strides := []byte{}
		for _, v := range []int{m * k, n * k} {
			strides = binary.LittleEndian.AppendUint64(strides, uint64(v))
		}
		a.Data = append(binary.LittleEndian.AppendUint64(append(a.Data, strides...), uint64(m*n)), make([]byte, 16)...)
		for j := range d.Args {
			switch d.Args[j].Index {
			case 6:
				d.Args[j].Data = []byte{batch, 0, 0, 0}
			case 7:
				d.Args[j].Data = strides
			}
		}
		d.Constants = append([]metalshim.Constant{metalshim.BoolConstant(10, true)}, d.Constants[1:]...)
		d.Extent = forward.Groups(metalshim.Size{X: (n + bn - 1) / bn, Y: (m + bm - 1) / bm, Z: batch}, metalshim.Size{X: 32, Y: wn, Z: wm})
		return
	}
}

// touched compares the cost of a dispatch with what the reference touches.
func touched(t *testing.T, d *forward.Dispatch) {
	want, ok := cost.Of(d)
	if !ok {
		t.Fatal("its cost is not known")
	}
	grid, group, inThreads := d.Extent.Sizes(1024)
	call := &reference.Call{Function: d.Function, Constants: d.Constants, Grid: grid, Group: group, InThreads: inThreads, ThreadgroupBytes: d.ThreadgroupBytes}
	room := int(want.Read+want.Written)*3/2 + 64 // more than can be touched, if the cost is right
	random := rand.New(rand.NewPCG(1, 2))
	var outs, ins []int
	unit := map[int]int{} // bytes of an element
	for _, a := range d.Args {
		switch {
		case a.Buf == 0:
			call.Args[a.Index] = a.Data
		case a.Out:
			call.Args[a.Index] = make([]byte, room)
			outs = append(outs, a.Index)
		default:
			call.Args[a.Index], unit[a.Index] = filled(d.Function, a.Index, room, random)
			ins = append(ins, a.Index)
		}
	}
	run := func(before byte) ([][]byte, error) {
		var results [][]byte
		for _, i := range outs {
			for k := range call.Args[i] {
				call.Args[i][k] = before
			}
		}
		err := reference.Run(call)
		for _, i := range outs {
			results = append(results, slices.Clone(call.Args[i]))
		}
		return results, err
	}
	base, err := run(0xaa)
	if err != nil {
		t.Fatal(err)
	}
	other, err := run(0x55)
	if err != nil {
		t.Fatal(err)
	}
	var written, read int64
	for i := range base {
		for k := range base[i] {
			if base[i][k] == other[i][k] {
				written++
			}
		}
	}
	masks := []byte{0}
	if d.Function == "where_u8_f32" {
		masks = []byte{0, 1} // it takes the one or the other
	}
	changes := map[int]map[int]bool{}
	for _, mask := range masks {
		if len(masks) > 1 {
			for k := range call.Args[6] {
				call.Args[6][k] = mask
			}
			if base, err = run(0xaa); err != nil {
				t.Fatal(err)
			}
		}
		for _, i := range ins {
			if changes[i] == nil {
				changes[i] = map[int]bool{}
			}
			for at := 0; at+unit[i] <= room; at += unit[i] {
				if !changes[i][at] && altered(call.Args[i][at:at+unit[i]], func() bool {
					got, err := run(0xaa)
					return err != nil || !slices.EqualFunc(got, base, bytes.Equal)
				}) {
					changes[i][at] = true
				}
			}
		}
	}
	for _, i := range ins {
		read += int64(len(changes[i]) * unit[i])
	}
	if read != want.Read || written != want.Written {
		t.Errorf("the reference reads %d bytes and writes %d, its cost is said to be %d and %d", read, written, want.Read, want.Written)
	}
}

// filled is the content of an argument, and the bytes of an element.
func filled(function string, index, room int, random *rand.Rand) ([]byte, int) {
	b := make([]byte, 0, room)
	switch {
	case strings.HasPrefix(function, "eq_"): // all the same: what is altered shows
		return make([]byte, room), 4
	case slices.Contains([]string{"cast_f16_f32", "cos_f16", "sin_f16"}, function), strings.HasPrefix(function, "gemm_nn_f16_"):
		for range room / 2 { // about 1
			b = append(b, byte(random.IntN(256)), 0x3c)
		}
		return b, 2
	case strings.HasPrefix(function, "kernel_mul_") && index == 0:
		for range room { // in blocks: no scale is infinite
			b = append(b, byte(random.IntN(0x3f)+1))
		}
		return b, 1
	case function == "where_u8_f32" && index == 6:
		return b[:room], 1
	case function == "is_u32_f32" && index == 9, function == "cast_u32_f32":
		for i := range room / 4 {
			b = binary.LittleEndian.AppendUint32(b, uint32(i)) // each row once
		}
	default:
		for range room / 4 {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(random.NormFloat64())))
		}
	}
	return slices.Grow(b, 4)[:room], 4
}

// altered says whether any of a few other contents of a part is seen.
func altered(part []byte, seen func() bool) bool {
	was := slices.Clone(part)
	defer copy(part, was)
	var others [][]byte
	if len(part) == 1 {
		others = [][]byte{{was[0] ^ 0x11}, {was[0] ^ 0xff}, {was[0] ^ 1}}
	} else {
		for _, bits := range []uint32{0x7fc00000, 0x7f800000, 1} { // NaN, infinity, and an id of a row
			others = append(others, binary.LittleEndian.AppendUint32(nil, bits))
		}
	}
	for _, other := range others {
		copy(part, other)
		if seen() {
			return true
		}
	}
	return false
}

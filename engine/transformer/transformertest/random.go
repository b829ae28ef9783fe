package transformertest

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/introgen/introgen/engine/quant"
)

// Random returns the data of a matrix of rows x cols with random weights whose
// rows have a length of about 1. The types that quant encodes are encoded;
// the blocks of Q4_1 are drawn directly, and BF16 is the upper half of a float.
func Random(t testing.TB, r *rand.Rand, typ quant.Type, rows, cols int) []byte {
	t.Helper()
	rb, err := typ.RowBytes(cols)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]byte, rows*rb)
	scale := float32(math.Sqrt(3 / float64(cols)))
	if typ == quant.Q4_1 {
		for b := 0; b < len(out); b += 20 {
			d := scale * (0.5 + r.Float32()) / 8
			binary.LittleEndian.PutUint16(out[b:], quant.FloatToHalf(d))
			binary.LittleEndian.PutUint16(out[b+2:], quant.FloatToHalf(-d*(6+3*r.Float32())))
			for i := 4; i < 20; i++ {
				out[b+i] = byte(r.Uint32())
			}
		}
		return out
	}
	x := make([]float32, cols)
	for i := range rows {
		for j := range x {
			x[j] = scale * (2*r.Float32() - 1)
		}
		if typ == quant.BF16 {
			for j, v := range x {
				binary.LittleEndian.PutUint16(out[i*rb+2*j:], uint16(math.Float32bits(v)>>16))
			}
			continue
		}
		if err := quant.Quantize(out[i*rb:(i+1)*rb], typ, x); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// halves says where in a block of a type its binary16 scales lie, and what each
// is as a multiple of the first: so that what is subtracted is about the mean of
// what it is subtracted from. The layouts are those of ggml-common.h.
var halves = map[quant.Type][]struct {
	at    int
	times float32
}{
	quant.Q4_0: {{0, 1}}, quant.Q5_0: {{0, 1}}, quant.Q8_0: {{0, 1}}, quant.IQ4_NL: {{0, 1}},
	quant.Q4_1: {{0, 1}, {2, -7.5}}, quant.Q5_1: {{0, 1}, {2, -15.5}},
	quant.Q2_K: {{80, 1}, {82, 1.5}}, quant.Q3_K: {{108, 1}}, quant.Q6_K: {{208, 1}},
	quant.Q4_K: {{0, 1}, {2, 7.5}}, quant.Q5_K: {{0, 1}, {2, 15.5}},
}

// RandomBits is Random for every type that can be decoded, several times as
// fast: the bits of the blocks are drawn, and the scales are such that rows have
// a length of about 1.
func RandomBits(t testing.TB, r *rand.Rand, typ quant.Type, rows, cols int) []byte {
	t.Helper()
	rb, err := typ.RowBytes(cols)
	if err != nil {
		t.Fatal(err)
	}
	le := binary.LittleEndian
	out := make([]byte, (rows*rb+7)&^7)
	rms := 1 / math.Sqrt(float64(cols)) // of a value
	switch typ {
	case quant.F32, quant.F16, quant.BF16:
		_, size := typ.Block()
		scale := float32(rms * math.Sqrt(3))
		for i := 0; i < rows*rb; i += size {
			v := scale * (2*r.Float32() - 1)
			switch typ {
			case quant.F32:
				le.PutUint32(out[i:], math.Float32bits(v))
			case quant.F16:
				le.PutUint16(out[i:], quant.FloatToHalf(v))
			default:
				le.PutUint16(out[i:], uint16(math.Float32bits(v)>>16))
			}
		}
		return out[:rows*rb]
	}
	for i := 0; i < len(out); i += 8 {
		le.PutUint64(out[i:], r.Uint64())
	}
	out = out[:rows*rb]
	scales := halves[typ]
	if scales == nil {
		t.Fatalf("%v has no layout here", typ)
	}
	elems, size := typ.Block()
	put := func(block []byte, d float32) {
		for _, s := range scales {
			le.PutUint16(block[s.at:], quant.FloatToHalf(d*s.times))
		}
	}
	// What a value is when the scale is 1, by some blocks.
	var squares float64
	const sample = 64
	block, values := make([]byte, size), make([]float32, elems)
	for range sample {
		for i := range block {
			block[i] = byte(r.Uint32())
		}
		put(block, 1)
		if err := quant.Dequantize(values, typ, block); err != nil {
			t.Fatal(err)
		}
		for _, v := range values {
			squares += float64(v) * float64(v)
		}
	}
	d := float32(rms / math.Sqrt(squares/float64(sample*elems)))
	for b := 0; b < len(out); b += size {
		put(out[b:b+size], d*(0.5+r.Float32()))
	}
	return out
}

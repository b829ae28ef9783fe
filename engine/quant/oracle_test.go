package quant

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// vector is a file that scripts/reference/quant_oracle.py made with the PyPI
// package gguf.
type vector struct {
	typ    Type
	raw    []byte
	values []float32
}

func readVector(t testing.TB, path string) vector {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	magic, typ := string(b[:4]), Type(binary.LittleEndian.Uint32(b[4:]))
	elems, size := int(binary.LittleEndian.Uint32(b[8:])), int(binary.LittleEndian.Uint32(b[12:]))
	b = b[16:]
	if len(b) != 4*elems+size {
		t.Fatalf("%s: %d bytes for %d elements and %d bytes of %v", path, len(b), elems, size, typ)
	}
	v := vector{typ: typ, values: make([]float32, elems)}
	floats := b[size:]
	v.raw = b[:size]
	if magic == "QENC" {
		floats, v.raw = b[:4*elems], b[4*elems:]
	}
	for i := range v.values {
		v.values[i] = math.Float32frombits(binary.LittleEndian.Uint32(floats[4*i:]))
	}
	return v
}

// vectors returns the oracle's files with that ending, one for each of types.
func vectors(t testing.TB, ending string, types ...Type) []vector {
	t.Helper()
	var all []vector
	for _, typ := range types {
		v := readVector(t, filepath.Join("testdata", typ.String()+ending))
		if v.typ != typ {
			t.Fatalf("%v%s is of %v", typ, ending, v.typ)
		}
		all = append(all, v)
	}
	return all
}

var decodable = []Type{F32, F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q2_K, Q3_K, Q4_K, Q5_K, Q6_K,
	IQ4_NL, IQ4_XS, IQ3_XXS, IQ3_S, IQ2_XXS, IQ2_XS, IQ2_S, IQ1_S, IQ1_M, TQ1_0, TQ2_0, MXFP4}

// TestDecodeEqualsOracle: every bit of every value.
func TestDecodeEqualsOracle(t *testing.T) {
	for _, v := range vectors(t, ".decode", decodable...) {
		t.Run(v.typ.String(), func(t *testing.T) {
			got := make([]float32, len(v.values))
			if err := Dequantize(got, v.typ, v.raw); err != nil {
				t.Fatal(err)
			}
			wrong := 0
			for i, want := range v.values {
				if math.Float32bits(got[i]) != math.Float32bits(want) {
					if wrong++; wrong <= 5 {
						t.Errorf("element %d is %v (%08x), want %v (%08x)", i, got[i], math.Float32bits(got[i]), want, math.Float32bits(want))
					}
				}
			}
			if wrong > 5 {
				t.Errorf("%d of %d elements are wrong", wrong, len(got))
			}
		})
	}
}

// TestEncodeEqualsOracle: every byte.
func TestEncodeEqualsOracle(t *testing.T) {
	for _, v := range vectors(t, ".encode", F32, F16, Q8_0, Q4_0) {
		t.Run(v.typ.String(), func(t *testing.T) {
			got := make([]byte, len(v.raw))
			if err := Quantize(got, v.typ, v.values); err != nil {
				t.Fatal(err)
			}
			if bytes.Equal(got, v.raw) {
				return
			}
			elems, size := v.typ.Block()
			for b := 0; b*size < len(got); b++ {
				if g, w := got[b*size:][:size], v.raw[b*size:][:size]; !bytes.Equal(g, w) {
					t.Errorf("block %d of %v:\ngot  %v\nwant %v", b, v.values[b*elems:][:elems], g, w)
				}
			}
		})
	}
}

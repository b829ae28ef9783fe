// Package quant holds the block formats in which a GGUF file keeps tensors:
// their sizes, one plain decoder for each format that the engines read, and
// encoders for the formats that the requantizer writes. It is the reference
// that every fast kernel is tested against, so it is written to be read.
//
// The layouts and the arithmetic are those of ggml (ggml/src/ggml-common.h and
// ggml-quants.c in github.com/ggml-org/ggml). Results are bit-equal to the
// PyPI package gguf, which is the oracle of the tests.
package quant

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// Type is the id of a tensor format as a GGUF file states it (enum ggml_type).
type Type uint32

// The formats that Dequantize reads. Q8_0, Q4_0, F32 and F16 can be written
// too. Ids 4 and 5 (Q4_2, Q4_3) were withdrawn before GGUF existed.
const (
	F32  Type = 0
	F16  Type = 1
	Q4_0 Type = 2
	Q4_1 Type = 3
	Q5_0 Type = 6
	Q5_1 Type = 7
	Q8_0 Type = 8
	Q2_K Type = 10
	Q3_K Type = 11
	Q4_K Type = 12
	Q5_K Type = 13
	Q6_K Type = 14

	IQ2_XXS Type = 16
	IQ2_XS  Type = 17
	IQ3_XXS Type = 18
	IQ1_S   Type = 19
	IQ4_NL  Type = 20
	IQ3_S   Type = 21
	IQ2_S   Type = 22
	IQ4_XS  Type = 23
	IQ1_M   Type = 29
	BF16    Type = 30
	TQ1_0   Type = 34
	TQ2_0   Type = 35
	MXFP4   Type = 39
)

// format is what there is to know about a Type.
type format struct {
	name   string
	elems  int   // elements in a block
	bytes  int   // bytes of a block
	scales []int // where in a block the binary16 scales lie, for CheckScales

	decode func(dst []float32, src []byte)       // whole blocks, sizes checked
	encode func(dst []byte, src []float32) error // whole blocks, sizes checked
}

// formats lists every id with a size that the format states, so that a file
// holding one can be opened, listed and copied; those without decode are
// refused only when their numbers are asked for.
var formats = map[Type]*format{
	F32:  {name: "F32", elems: 1, bytes: 4, decode: decodeF32, encode: encodeF32},
	F16:  {name: "F16", elems: 1, bytes: 2, scales: []int{0}, decode: decodeF16, encode: encodeF16},
	BF16: {name: "BF16", elems: 1, bytes: 2, decode: decodeBF16},
	Q4_0: {name: "Q4_0", elems: 32, bytes: 18, scales: []int{0}, decode: decodeQ4_0, encode: encodeQ4_0},
	Q4_1: {name: "Q4_1", elems: 32, bytes: 20, scales: []int{0, 2}, decode: decodeQ4_1},
	Q5_0: {name: "Q5_0", elems: 32, bytes: 22, scales: []int{0}, decode: decodeQ5_0},
	Q5_1: {name: "Q5_1", elems: 32, bytes: 24, scales: []int{0, 2}, decode: decodeQ5_1},
	Q8_0: {name: "Q8_0", elems: 32, bytes: 34, scales: []int{0}, decode: decodeQ8_0, encode: encodeQ8_0},
	Q2_K: {name: "Q2_K", elems: 256, bytes: 84, scales: []int{80, 82}, decode: decodeQ2_K},
	Q3_K: {name: "Q3_K", elems: 256, bytes: 110, scales: []int{108}, decode: decodeQ3_K},
	Q4_K: {name: "Q4_K", elems: 256, bytes: 144, scales: []int{0, 2}, decode: decodeQ4_K},
	Q5_K: {name: "Q5_K", elems: 256, bytes: 176, scales: []int{0, 2}, decode: decodeQ5_K},
	Q6_K: {name: "Q6_K", elems: 256, bytes: 210, scales: []int{208}, decode: decodeQ6_K},

	IQ2_XXS: {name: "IQ2_XXS", elems: 256, bytes: 66, scales: []int{0}, decode: decodeIQ2_XXS},
	IQ2_XS:  {name: "IQ2_XS", elems: 256, bytes: 74, scales: []int{0}, decode: decodeIQ2_XS},
	IQ3_XXS: {name: "IQ3_XXS", elems: 256, bytes: 98, scales: []int{0}, decode: decodeIQ3_XXS},
	IQ1_S:   {name: "IQ1_S", elems: 256, bytes: 50, scales: []int{0}, decode: decodeIQ1_S},
	IQ4_NL:  {name: "IQ4_NL", elems: 32, bytes: 18, scales: []int{0}, decode: decodeIQ4_NL},
	IQ3_S:   {name: "IQ3_S", elems: 256, bytes: 110, scales: []int{0}, decode: decodeIQ3_S},
	IQ2_S:   {name: "IQ2_S", elems: 256, bytes: 82, scales: []int{0}, decode: decodeIQ2_S},
	IQ4_XS:  {name: "IQ4_XS", elems: 256, bytes: 136, scales: []int{0}, decode: decodeIQ4_XS},
	IQ1_M:   {name: "IQ1_M", elems: 256, bytes: 56, decode: decodeIQ1_M},
	TQ1_0:   {name: "TQ1_0", elems: 256, bytes: 54, scales: []int{52}, decode: decodeTQ1_0},
	TQ2_0:   {name: "TQ2_0", elems: 256, bytes: 66, scales: []int{64}, decode: decodeTQ2_0},
	MXFP4:   {name: "MXFP4", elems: 32, bytes: 17, decode: decodeMXFP4},

	9:  {name: "Q8_1", elems: 32, bytes: 40},
	15: {name: "Q8_K", elems: 256, bytes: 292},
	24: {name: "I8", elems: 1, bytes: 1},
	25: {name: "I16", elems: 1, bytes: 2},
	26: {name: "I32", elems: 1, bytes: 4},
	27: {name: "I64", elems: 1, bytes: 8},
	28: {name: "F64", elems: 1, bytes: 8},
	40: {name: "NVFP4", elems: 64, bytes: 36},
	41: {name: "Q1_0", elems: 128, bytes: 18},
}

// byName answers ParseType; keys are upper case.
var byName = func() map[string]Type {
	m := make(map[string]Type, len(formats))
	for t, f := range formats {
		m[f.name] = t
	}
	return m
}()

// String returns the name that ggml gives the type, "Q8_0" for example, or
// "type 77" for an id that it does not know.
func (t Type) String() string {
	if f, ok := formats[t]; ok {
		return f.name
	}
	return fmt.Sprintf("type %d", uint32(t))
}

// Known reports whether the type's block size is known. That a type is known
// does not mean that it can be decoded: see CanDecode.
func (t Type) Known() bool { return formats[t] != nil }

// CanDecode reports whether Dequantize reads the type.
func (t Type) CanDecode() bool { f := formats[t]; return f != nil && f.decode != nil }

// CanEncode reports whether Quantize writes the type.
func (t Type) CanEncode() bool { f := formats[t]; return f != nil && f.encode != nil }

// Block returns the elements and the bytes of one block; both are 0 when the
// type is not Known, and elems is 1 for the plain number formats.
func (t Type) Block() (elems, bytes int) {
	if f, ok := formats[t]; ok {
		return f.elems, f.bytes
	}
	return 0, 0
}

// RowBytes returns the bytes of n elements that lie one after another. n must
// be positive and fill whole blocks.
func (t Type) RowBytes(n int) (int, error) {
	f, ok := formats[t]
	switch {
	case !ok:
		return 0, fmt.Errorf("tensor %v is not a known format", t)
	case n <= 0:
		return 0, fmt.Errorf("%d elements of %s: a row has at least one", n, f.name)
	case n%f.elems != 0:
		return 0, fmt.Errorf("%d elements of %s do not fill whole blocks of %d", n, f.name, f.elems)
	case n/f.elems > math.MaxInt/f.bytes:
		return 0, fmt.Errorf("%d elements of %s: their size in bytes overflows", n, f.name)
	}
	return n / f.elems * f.bytes, nil
}

// ParseType finds a type by its name in either case: "q8_0", "Q4_K".
func ParseType(s string) (Type, error) {
	if t, ok := byName[strings.ToUpper(s)]; ok {
		return t, nil
	}
	return 0, fmt.Errorf("tensor type %q is not known; the types that can be read are %s", s, readable())
}

// readable lists the types with a decoder, in the order of their ids.
func readable() string {
	var names []string
	for _, t := range slices.Sorted(maps.Keys(formats)) {
		if t.CanDecode() {
			names = append(names, t.String())
		}
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

package quant

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Dequantize decodes len(dst) elements of type t from src. dst must fill whole
// blocks and src must hold exactly their bytes.
func Dequantize(dst []float32, t Type, src []byte) error {
	f, err := sized(t, len(dst), len(src))
	if err != nil {
		return fmt.Errorf("dequantize: %w", err)
	}
	if f.decode == nil {
		return fmt.Errorf("dequantize: %s has no decoder; types that can be read are F32, F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0 and Q2_K to Q6_K", f.name)
	}
	f.decode(dst, src)
	return nil
}

// sized returns the format of t once n elements are known to take size bytes.
func sized(t Type, n, size int) (*format, error) {
	want, err := t.RowBytes(n)
	if err != nil {
		return nil, err
	}
	f := formats[t]
	if size != want {
		return nil, fmt.Errorf("%d elements of %s take %d bytes, not %d", n, f.name, want, size)
	}
	return f, nil
}

func decodeF32(dst []float32, src []byte) {
	for i := range dst {
		dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(src[4*i:]))
	}
}

func decodeF16(dst []float32, src []byte) {
	for i := range dst {
		dst[i] = halfAt(src[2*i:])
	}
}

// decodeBF16 reads bfloat16: the upper half of a float32.
func decodeBF16(dst []float32, src []byte) {
	for i := range dst {
		dst[i] = math.Float32frombits(uint32(binary.LittleEndian.Uint16(src[2*i:])) << 16)
	}
}

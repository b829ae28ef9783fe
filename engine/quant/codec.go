package quant

import "fmt"

// Dequantize decodes len(dst) elements of type t from src. dst must fill whole
// blocks and src must hold exactly their bytes.
func Dequantize(dst []float32, t Type, src []byte) error {
	f, err := sized(t, len(dst), len(src))
	if err != nil {
		return fmt.Errorf("dequantize: %w", err)
	}
	if f.decode == nil {
		return fmt.Errorf("dequantize: %s has no decoder; types that can be read are %s", f.name, readable())
	}
	f.decode(dst, src)
	return nil
}

// Quantize encodes src as type t into dst: Q8_0 and Q4_0 as ggml's reference
// does (quantize_row_q8_0_ref, quantize_row_q4_0_ref), F16 rounded to nearest
// even, F32 as it is. src must fill whole blocks and dst have exactly their
// size. A value that the type cannot hold (not a number, infinite, or so large
// that the scale overflows) is an error that names it; dst is then undefined.
func Quantize(dst []byte, t Type, src []float32) error {
	f, err := sized(t, len(src), len(dst))
	if err != nil {
		return fmt.Errorf("quantize: %w", err)
	}
	if f.encode == nil {
		return fmt.Errorf("quantize: %s has no encoder; types that can be written are Q8_0, Q4_0, F16 and F32", f.name)
	}
	if err := f.encode(dst, src); err != nil {
		return fmt.Errorf("quantize: %w", err)
	}
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

package quant

import (
	"encoding/binary"
	"fmt"
)

// CheckScales returns an error that names the first block of data whose scale
// or minimum is not a finite number; for F32, F16 and BF16, the first such
// element. Types without a decoder are refused.
//
// It reads every block and so costs about as much as a pass over the weights
// (see BenchmarkCheckScales). A forward pass carries such a number into its
// logits, where looking for it is nearly free; so an engine runs this only
// once it has met one, to say which tensor is damaged.
func CheckScales(t Type, data []byte) error {
	f, ok := formats[t]
	if !ok || f.decode == nil {
		return fmt.Errorf("check scales: %v has no decoder", t)
	}
	if len(data)%f.bytes != 0 {
		return fmt.Errorf("check scales: %d bytes are not whole blocks of %s, %d bytes each", len(data), f.name, f.bytes)
	}
	at, what := firstBad(t, f, data)
	if at < 0 {
		return nil
	}
	return fmt.Errorf("%s of %s block %d (byte %d of the tensor) is not a finite number", what, f.name, at/f.bytes, at)
}

// firstBad returns the offset of the first number that is not finite, or -1.
func firstBad(t Type, f *format, data []byte) (at int, what string) {
	switch t {
	case F32:
		for i := 0; i < len(data); i += 4 {
			if binary.LittleEndian.Uint32(data[i:])&0x7f800000 == 0x7f800000 {
				return i, "the value"
			}
		}
		return -1, ""
	case BF16:
		for i := 0; i < len(data); i += 2 {
			if data[i+1]&0x7f == 0x7f && data[i]&0x80 != 0 {
				return i, "the value"
			}
		}
		return -1, ""
	case MXFP4: // whose scales are finite, and whose elements overflow under the largest
		for i := 0; i < len(data); i += f.bytes {
			var y [32]float32
			decodeMXFP4(y[:], data[i:i+f.bytes])
			for _, v := range y {
				if v-v != 0 {
					return i, "an element"
				}
			}
		}
		return -1, ""
	case IQ1_M: // whose scale is spread over the block
		for i := 0; i < len(data); i += f.bytes {
			if halfOfIQ1M(data[i:])&0x7c00 == 0x7c00 {
				return i, "the scale"
			}
		}
		return -1, ""
	}
	first := -1
	for _, off := range f.scales {
		for i := off; i < len(data); i += f.bytes {
			if data[i+1]&0x7c == 0x7c { // a binary16 exponent of 31
				if first < 0 || i < first {
					first = i
				}
				break
			}
		}
	}
	return first, "the scale or minimum"
}

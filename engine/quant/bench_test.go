package quant

import "testing"

// benchBytes is about what the stand-in's largest tensor has: 30 MB.
const benchBytes = 30_081_024

// filled returns whole blocks of t with small finite scales.
func filled(b *testing.B, t Type) []byte {
	v := vectors(b, ".decode", t)[0]
	_, size := t.Block()
	out := make([]byte, 0, benchBytes)
	for len(out)+size <= benchBytes {
		out = append(out, v.raw[:min(len(v.raw), (benchBytes-len(out))/size*size)]...)
	}
	return out
}

// BenchmarkCheckScales is what a check of every weight at load would cost; see
// CheckScales for why engines do not make it.
func BenchmarkCheckScales(b *testing.B) {
	for _, t := range []Type{Q8_0, Q4_1, Q4_K, F32} {
		raw := filled(b, t)
		if t == F32 {
			clear(raw)
		}
		b.Run(t.String(), func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			for b.Loop() {
				if err := CheckScales(t, raw); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkDequantize(b *testing.B) {
	for _, t := range decodable {
		v := vectors(b, ".decode", t)[0]
		dst := make([]float32, len(v.values))
		b.Run(t.String(), func(b *testing.B) {
			b.SetBytes(int64(len(v.raw)))
			for b.Loop() {
				if err := Dequantize(dst, t, v.raw); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(dst)), "ns/weight")
		})
	}
}

func BenchmarkQuantize(b *testing.B) {
	for _, t := range []Type{Q8_0, Q4_0} {
		v := vectors(b, ".encode", t)[0]
		dst := make([]byte, len(v.raw))
		b.Run(t.String(), func(b *testing.B) {
			b.SetBytes(int64(4 * len(v.values)))
			for b.Loop() {
				if err := Quantize(dst, t, v.values); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(v.values)), "ns/weight")
		})
	}
}

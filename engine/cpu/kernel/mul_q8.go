package kernel

// mulQ8 is the twin of Mul for Q8_0.
func mulQ8(dst []float32, w []byte, p *Panel, rows int, add bool) {
	checkMul("MulQ8", q8Form, dst, w, p, rows)
	for r := range rows {
		row := w[r*p.Blocks*q8Bytes:]
		var sum float32
		for b, scale := range p.Scale[:p.Blocks] {
			block := (*[q8Bytes]byte)(row[b*q8Bytes:])
			q := (*[Block]int16)(p.Q[b*Block:])
			var s0, s1, s2, s3 int32
			for i := 0; i < Block; i += 4 {
				s0 += int32(int8(block[2+i])) * int32(q[i])
				s1 += int32(int8(block[3+i])) * int32(q[i+1])
				s2 += int32(int8(block[4+i])) * int32(q[i+2])
				s3 += int32(int8(block[5+i])) * int32(q[i+3])
			}
			sum += half(block[:2]) * (scale * float32(s0+s1+s2+s3))
		}
		store(&dst[r], sum, add)
	}
}

// store writes or adds a result.
func store(dst *float32, v float32, add bool) {
	if add {
		v += *dst
	}
	*dst = v
}

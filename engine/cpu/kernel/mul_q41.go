package kernel

// mulQ41 is the twin of Mul for Q4_1. A weight is d*nibble + m, so a block's
// product is d times the integer product plus m times the activations' sum.
func mulQ41(dst []float32, w []byte, p *Panel, rows int, add bool) {
	checkMul("MulQ41", q41Form, dst, w, p, rows)
	for r := range rows {
		row := w[r*p.Blocks*q41Bytes:]
		var sum float32
		for b, scale := range p.Scale[:p.Blocks] {
			block := (*[q41Bytes]byte)(row[b*q41Bytes:])
			q := (*[Block]int16)(p.Q[b*Block:])
			var s0, s1 int32
			for i := range Block / 2 {
				c := int32(block[4+i])
				s0 += (c & 15) * int32(q[i])
				s1 += (c >> 4) * int32(q[16+i])
			}
			sum += half(block[:2])*(scale*float32(s0+s1)) + half(block[2:4])*p.Sum[b]
		}
		store(&dst[r], sum, add)
	}
}

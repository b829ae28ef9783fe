package forward

import "math"

// The order of steps below is that of quantized_llama.rs, and so are the
// places where buffers are given back: a Rust value lives to the end of its
// scope, even where a later one has taken its name. Which buffer the pool
// gives out next, and thus which barriers the encoder sets, depends on it.

// forward is the pass of n tokens from position pos on, up to the logits of
// the last one.
func (p *Planner) forward(tokens Buf, n, pos int) Buf {
	c := &p.config
	var mask Buf
	if n > 1 {
		mask = p.mask(n, pos)
	}
	p.outside(PartEmbedding)
	x := p.lookup(p.embedding, tokens, c.Vocab, c.Hidden, n)
	for i := range p.layers {
		x = p.block(&p.layers[i], x, mask, n, pos)
	}
	p.outside(PartOutputNorm)
	normed := p.rmsNorm(x, p.outputNorm, n, c.Hidden, c.RMSEps)
	p.as(PartOutput)
	logits := p.matmulRow(p.w.output, p.output, normed, (n-1)*c.Hidden)
	p.release(x, normed)
	return logits
}

// mask is the causal mask of n tokens over pos+n keys: a byte 1 where the
// token must not see the key. It is made on the CPU, once for each shape.
func (p *Planner) mask(n, pos int) Buf {
	keys := pos + n
	shape := [2]int{n, keys}
	if m, ok := p.masks[shape]; ok {
		return m
	}
	data := make([]byte, n*keys)
	for i := range n {
		for j := pos + i + 1; j < keys; j++ {
			data[i*keys+j] = 1
		}
	}
	m := p.upload(data)
	p.masks[shape] = m
	return m
}

// block is one layer. It gives x back and returns the next layer's input.
func (p *Planner) block(l *layer, x, mask Buf, n, pos int) Buf {
	c := &p.config
	wide, size := n*c.FFN, n*c.Hidden

	p.part = Part{l.number, PartAttnNorm}
	normed := p.rmsNorm(x, l.bufs.attnNorm, n, c.Hidden, c.RMSEps)
	attn := p.attention(l, normed, mask, n, pos)
	p.as(PartAttnResidual)
	h := p.binary("badd_f32", attn, x, size)
	p.release(attn)

	p.as(PartFFNNorm)
	normed2 := p.rmsNorm(h, l.bufs.ffnNorm, n, c.Hidden, c.RMSEps)
	p.as(PartGate)
	gate := p.matmul(l.gate, l.bufs.gate, normed2, n)
	p.as(PartUp)
	up := p.matmul(l.up, l.bufs.up, normed2, n)
	p.as(PartActivation)
	silu := p.unary("Unary", "silu_f32", gate, wide)
	product := p.binary("bmul_f32", silu, up, wide)
	p.release(silu, up)
	p.as(PartDown)
	down := p.matmul(l.down, l.bufs.down, product, n)
	p.release(gate, product)
	p.as(PartFFNResidual)
	out := p.binary("badd_f32", down, h, size)
	p.release(down, normed2, h, normed, x)
	return out
}

// attention is forward_attn: projections, rotation, the cache, and attention
// in one kernel for one token, or step by step for several.
func (p *Planner) attention(l *layer, x, mask Buf, n, pos int) Buf {
	c := &p.config
	dim, heads, kvHeads := c.HeadDim, c.Heads, c.KVHeads

	p.as(PartQ)
	q := p.matmul(l.q, l.bufs.q, x, n)
	p.as(PartK)
	k := p.matmul(l.k, l.bufs.k, x, n)
	p.as(PartV)
	v := p.matmul(l.v, l.bufs.v, x, n)
	p.as(PartHeads)
	values, vOwn := p.byHead(v, n, kvHeads)
	qHeads, qOwn := p.byHead(q, n, heads)
	p.as(PartRope)
	query := p.rope(qHeads, p.cos, p.sin, heads, n, dim, pos)
	if qOwn {
		p.release(qHeads)
	}
	p.as(PartHeads)
	kHeads, kOwn := p.byHead(k, n, kvHeads)
	p.as(PartRope)
	keys := p.rope(kHeads, p.cos, p.sin, kvHeads, n, dim, pos)
	if kOwn {
		p.release(kHeads)
	}

	// What is released when the function ends.
	end := []Buf{q, k, query}
	if vOwn {
		end = append(end, v)
	}
	if pos > 0 {
		end = append(end, keys, values)
		p.as(PartCache)
		keys = p.extend(l.keys, keys, l.cached, pos, n)
		values = p.extend(l.values, values, l.cached, pos, n)
	}
	if l.cached > 0 {
		p.release(l.keys, l.values)
	}
	l.keys, l.values, l.cached = keys, values, pos+n

	var y Buf
	p.as(PartAttention)
	if n == 1 {
		y = p.attend(query, keys, values, heads, kvHeads, dim, l.cached, 1/float32(math.Sqrt(float64(dim))))
	} else {
		y = p.attendMany(query, keys, values, mask, n, pos)
	}
	end = append(end, y)
	if n > 1 && heads > 1 {
		p.as(PartHeads)
		y = p.copyStrided(y, [4]int{1, n, heads, dim}, [4]int{n * heads * dim, dim, n * dim, 1})
		end = append(end, y)
	}
	p.as(PartAttnOutput)
	o := p.matmul(l.o, l.bufs.o, y, n)
	p.release(end...)
	return o
}

// byHead turns tokens × heads × dim into heads × tokens × dim. With one token
// or one head that is the same, and nothing is done: own says whether a buffer
// was made.
func (p *Planner) byHead(x Buf, n, heads int) (y Buf, own bool) {
	if n == 1 || heads == 1 {
		return x, false
	}
	dim := p.config.HeadDim
	return p.copyStrided(x, [4]int{1, heads, n, dim}, [4]int{n * heads * dim, dim, heads * dim, 1}), true
}

// extend appends n positions to the first pos of a cache of cached positions:
// a new buffer with both, as Tensor::cat makes it.
func (p *Planner) extend(cache, x Buf, cached, pos, n int) Buf {
	dim, rows := p.config.HeadDim, p.config.KVHeads
	all := (pos + n) * dim
	out := p.alloc(rows * all)
	p.copy2d(cache, out, rows, pos*dim, cached*dim, all, 0)
	p.copy2d(x, out, rows, n*dim, n*dim, all, pos*dim)
	return out
}

// attendMany is attention of n tokens from position pos on by two matrix
// products, with the keys and values repeated for each head of their group.
func (p *Planner) attendMany(query, keys, values, mask Buf, n, pos int) Buf {
	c := &p.config
	dim, heads, count := c.HeadDim, c.Heads, pos+n
	group := heads / c.KVHeads
	apart := count * dim // from one head's values to the next's
	if heads == 1 && pos == 0 {
		apart = dim // candle passes on the stride of what it did not need to copy
	}
	allKeys, allValues := keys, values
	if group > 1 {
		allKeys = p.repeat(keys, group, count)
		allValues = p.repeat(values, group, count)
	}
	size := heads * n * count
	raw := p.alloc(size)
	p.gemm(gemm{batch: heads, m: n, n: count, k: dim, transB: true, strideA: n * dim, strideB: count * dim}, query, allKeys, raw)
	scaled := p.affine(raw, size, float32(1/math.Sqrt(float64(dim))), 0)
	p.release(raw)
	masked := p.masked(mask, p.negInf, scaled, heads, n, count)
	probs := p.softmax(masked, heads*n, count)
	y := p.alloc(heads * n * dim)
	p.gemm(gemm{batch: heads, m: n, n: dim, k: count, strideA: n * count, strideB: apart}, probs, allValues, y)
	if group > 1 {
		p.release(allKeys, allValues)
	}
	p.release(scaled, masked, probs)
	return y
}

// repeat puts group copies of each head after one another.
func (p *Planner) repeat(x Buf, group, count int) Buf {
	rows, cols := p.config.KVHeads, count*p.config.HeadDim
	out := p.alloc(rows * group * cols)
	for i := range group {
		p.copy2d(x, out, rows, cols, cols, group*cols, i*cols)
	}
	return out
}

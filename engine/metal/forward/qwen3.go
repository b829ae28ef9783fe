package forward

import (
	"encoding/binary"
	"math"
)

// qwen3 is quantized_qwen3.rs.
type qwen3 struct{}

func (qwen3) rows(context int) int { return context }

func (qwen3) check(c *Config) error {
	if c.Candle && c.HalfTables && c.Context == 1 {
		return Unsupported("a context of 1, for which candle launches other kernels than for all larger ones")
	}
	return nil
}

func (qwen3) layer(c *Config, get getter) layer {
	l := c.separate(get)
	l.qNorm = get("attn_q_norm.weight", 1, c.HeadDim)
	l.kNorm = get("attn_k_norm.weight", 1, c.HeadDim)
	c.biases(get, false, map[*loaded]loaded{&l.qBias: l.q, &l.kBias: l.k, &l.vBias: l.v})
	return l
}

func (qwen3) decoding(c *Config, keys int) any { return products(keys, c.HeadDim) }

func (m qwen3) build(p *Planner) {
	p.outside(PartWeights)
	embedding := p.uploadWeight(p.w.embedding)
	p.embedding = p.expand(p.w.embedding, embedding)
	p.outside(PartRotary)
	m.tables(p)
	bring := func(w *loaded) {
		p.load(w)
		p.matrices(w)
	}
	norm := func(w *loaded) {
		p.load(w)
		p.expandAll(w)
	}
	for _, l := range p.w.layers {
		p.part = Part{l.number, PartWeights}
		norm(&l.attnNorm)
		norm(&l.ffnNorm)
		bring(&l.q)
		bring(&l.k)
		bring(&l.v)
		bring(&l.o)
		norm(&l.qNorm)
		norm(&l.kNorm)
		bring(&l.gate)
		bring(&l.up)
		bring(&l.down)
		for _, b := range []*loaded{&l.qBias, &l.kBias, &l.vBias} { // not candle's
			norm(b)
		}
		p.layers = append(p.layers, l)
	}
	p.outside(PartWeights)
	p.loadOutputNorm()
	p.output = loaded{Weight: p.w.output} // uploaded once more where it is the embedding
	bring(&p.output)
	p.release(embedding) // from_gguf keeps it to its end
}

// half says that the tables and masks are float16.
func (qwen3) half(c *Config) element {
	if c.Candle && c.HalfTables {
		return float16s
	}
	return float32s
}

// tables is RotaryEmbedding::new. It brings the tables to the CPU too, where this model
// does not use them.
func (m qwen3) tables(p *Planner) {
	c := &p.config
	half := m.half(c)
	r := c.rotary(0)
	if c.Rotary == nil || c.Candle {
		for i := range r.Frequencies { // powers in float64, unlike in other models
			r.Frequencies[i] = 1 / float32(math.Pow(float64(c.RopeBase), float64(2*i)/float64(c.RopeDim)))
		}
	}
	whole := shaped(p.upload(floats(r.Frequencies...)), 1, len(r.Frequencies))
	theta := p.cast(whole, half)
	p.release(whole.buf)
	positions := p.positions(c.Context)
	index := p.cast(positions, half)
	p.release(positions.buf)
	angles := p.product(index, theta)
	p.sin = p.factored(p.map1("sin", angles), r.Scale)
	p.cos = p.factored(p.map1("cos", angles), r.Scale)
	for _, t := range []tensor{p.cos, p.sin} {
		wide := p.cast(t, float32s)
		p.release(p.fetch(wide.buf, 4*wide.count()))
		p.release(wide.buf)
	}
	p.release(theta.buf, index.buf, angles.buf)
}

func (m qwen3) forward(p *Planner, tokens Buf, n, pos int) Buf {
	c := &p.config
	p.outside(PartEmbedding)
	x := p.lookup(p.embedding, tokens, c.Vocab, c.Hidden, n)
	var mask tensor
	if n > 1 {
		p.outside(PartMask)
		mask = m.mask(p, n, pos)
	}
	for i := range p.layers {
		x = m.block(p, &p.layers[i], x, mask, n, pos)
	}
	p.outside(PartOutputNorm)
	normed := p.rmsNorm(x, p.outputNorm.buf, n, c.Hidden, c.RMSEps)
	p.as(PartOutput)
	var logits Buf
	if p.output.Format.Float() {
		logits = p.times(p.output, shaped(normed, 1, n, c.Hidden).narrowed(1, n-1, 1)).buf
	} else {
		logits = p.mulMV(p.output, normed, (n-1)*c.Hidden)
	}
	p.release(x, normed, mask.buf)
	return logits
}

// mask is what is added to the scores of n tokens over pos+n keys: −∞ where the token
// must not see the key. candle makes it anew for each pass.
func (m qwen3) mask(p *Planner, n, pos int) tensor {
	keys := pos + n
	below := math.Float32bits(float32(math.Inf(-1)))
	whole := shaped(p.uploadMade(4*n*keys, func(data []byte) {
		for i := range n {
			for j := pos + i + 1; j < keys; j++ {
				binary.LittleEndian.PutUint32(data[4*(i*keys+j):], below)
			}
		}
	}), 1, 1, n, keys)
	mask := p.cast(whole, m.half(&p.config))
	p.release(whole.buf)
	return mask
}

// block is LayerWeights::forward.
func (m qwen3) block(p *Planner, l *layer, x Buf, mask tensor, n, pos int) Buf {
	c := &p.config
	wide, size := n*c.FFN, n*c.Hidden

	p.part = Part{l.number, PartAttnNorm}
	normed := p.rmsNorm(x, l.attnNorm.buf, n, c.Hidden, c.RMSEps)
	attn := m.attention(p, l, normed, mask, n, pos)
	p.as(PartAttnResidual)
	h := p.binary("badd_f32", x, attn, size)
	p.release(attn)

	p.as(PartFFNNorm)
	normed2 := p.rmsNorm(h, l.ffnNorm.buf, n, c.Hidden, c.RMSEps)
	p.as(PartGate)
	gate := p.matmul(l.gate, normed2, n)
	p.as(PartActivation)
	silu := p.unary("Unary", "silu_f32", gate, wide)
	p.release(gate)
	p.as(PartUp)
	up := p.matmul(l.up, normed2, n)
	p.as(PartActivation)
	product := p.binary("bmul_f32", silu, up, wide)
	p.release(silu, up)
	p.as(PartDown)
	down := p.matmul(l.down, product, n)
	p.release(product)
	p.as(PartFFNResidual)
	out := p.binary("badd_f32", h, down, size)
	p.release(down, normed2, h, normed, x)
	return out
}

// attention is AttentionWeights::forward, where the device is not the CPU.
func (m qwen3) attention(p *Planner, l *layer, x Buf, mask tensor, n, pos int) Buf {
	c := &p.config
	var end []Buf // what is released when the function ends
	keep := func(t tensor) tensor {
		end = append(end, t.buf)
		return t
	}
	project := func(part string, w, bias loaded, heads int) tensor {
		p.as(part)
		return p.heads(keep(shaped(p.linear(w, bias, x, n), 1, n, w.Rows)), n, heads)
	}
	q, k, v := project(PartQ, l.q, l.qBias, c.Heads), project(PartK, l.k, l.kBias, c.KVHeads), project(PartV, l.v, l.vBias, c.KVHeads)
	p.as(PartHeads)
	q = keep(p.packed(q))
	k = keep(p.packed(k))
	p.as(PartQNorm)
	q = keep(p.normed(q, l.qNorm.buf, c.RMSEps))
	p.as(PartKNorm)
	k = keep(p.normed(k, l.kNorm.buf, c.RMSEps))
	p.as(PartRope)
	cos, sin := p.cast(p.cos.narrowed(0, pos, n), float32s), p.cast(p.sin.narrowed(0, pos, n), float32s)
	q = keep(p.turned(q, cos, sin))
	k = keep(p.turned(k, cos, sin))
	p.release(cos.buf, sin.buf)

	p.as(PartHeads)
	v = p.packed(v)
	p.as(PartCache)
	whole := [2]tensor{p.behind(l.keys, k, l.cached, pos)}
	p.release(l.keys) // before the values grow, unlike in other models
	whole[1] = p.behind(l.values, v, l.cached, pos)
	p.release(l.values, v.buf)
	k, v = whole[0], whole[1]
	l.keys, l.values, l.cached = k.buf, v.buf, pos+n
	p.as(PartAttention)
	k, v = keep(p.repeated(k)), keep(p.repeated(v))
	scores := p.scores(q, k)
	if n > 1 {
		whole := p.cast(mask, float32s)
		masked := p.map2("badd", scores, whole.spread(scores))
		p.release(scores.buf, whole.buf)
		scores = masked
	}
	keep(scores)
	weights := keep(p.weighed(scores))
	y := keep(p.product(weights, v))
	p.as(PartHeads)
	y = keep(p.reshaped(y.transposed(1, 2), 1, n, c.Heads*c.HeadDim))
	p.as(PartAttnOutput)
	o := p.matmul(l.o, y.buf, n)
	p.release(end...)
	return o
}

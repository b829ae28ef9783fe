package forward

import "math"

// phi3 is quantized_phi3.rs. Whatever the model's file says, it turns heads by
// frequencies of base 10000 and attends to all of the cache; a plan of the model's
// arithmetic turns them by the model's, and keeps to its window.
type phi3 struct{}

// phi3Base is the base of the frequencies.
const phi3Base = 10000

func (phi3) rows(context int) int { return context }

func (phi3) check(c *Config) error {
	if c.Candle && !c.OwnOutput {
		return Unsupported("tensor output.weight is missing, and candle's phi3 does not take the embedding for it (--arithmetic model does)")
	}
	return c.wholeHeads()
}

func (phi3) layer(c *Config, get getter) layer {
	q, kv := c.Heads*c.HeadDim, c.KVHeads*c.HeadDim
	l := layer{
		qkv:      get("attn_qkv.weight", q+2*kv, c.Hidden),
		o:        get("attn_output.weight", c.Hidden, q),
		up:       get("ffn_up.weight", 2*c.FFN, c.Hidden),
		down:     get("ffn_down.weight", c.Hidden, c.FFN),
		attnNorm: get("attn_norm.weight", 1, c.Hidden),
		ffnNorm:  get("ffn_norm.weight", 1, c.Hidden),
	}
	c.biases(get, false, map[*loaded]loaded{&l.qkvBias: l.qkv})
	return l
}

func (phi3) decoding(c *Config, keys int) any {
	if w := c.window(0); w > 0 && !c.Candle {
		keys = min(keys, w)
	}
	return products(keys, c.HeadDim)
}

func (f phi3) build(p *Planner) {
	c := &p.config
	p.outside(PartRotary)
	if c.Candle {
		p.cos, p.sin = p.rotaryTables(Rotary{frequencies(phi3Base, c.RopeDim), 1}, c.Context)
	} else {
		p.cos, p.sin = p.rotaryTables(c.rotary(0), c.tableRows(c.Context))
	}
	p.outside(PartWeights)
	p.negInf = p.upload(floats(float32(math.Inf(-1))))
	embedding := p.uploadWeight(p.w.embedding)
	p.embedding = p.expand(p.w.embedding, embedding)
	p.loadOutputNorm()
	bring := func(weights ...*loaded) {
		for _, w := range weights {
			p.load(w)
			p.matrices(w)
		}
	}
	p.output = loaded{Weight: p.w.output}
	bring(&p.output)
	for _, l := range p.w.layers {
		p.part = Part{l.number, PartWeights}
		bring(&l.up, &l.down)
		for _, norm := range []*loaded{&l.attnNorm, &l.ffnNorm} {
			p.load(norm)
			p.expandAll(norm)
		}
		bring(&l.qkv, &l.o)
		p.load(&l.qkvBias)
		p.expandAll(&l.qkvBias)
		p.layers = append(p.layers, l)
	}
	p.outside(PartWeights)
	p.release(embedding) // from_gguf keeps it to its end
}

func (f phi3) forward(p *Planner, tokens Buf, n, pos int) Buf {
	c := &p.config
	var mask tensor
	if n > 1 {
		p.outside(PartMask)
		mask = f.mask(p, n, pos)
	}
	p.outside(PartEmbedding)
	x := shaped(p.lookup(p.embedding, tokens, c.Vocab, c.Hidden, n), 1, n, c.Hidden)
	for i := range p.layers {
		x = f.block(p, &p.layers[i], x, mask, n, pos)
	}
	p.outside(PartOutputNorm)
	normed := p.normed(x, p.outputNorm.buf, c.RMSEps)
	p.as(PartOutput)
	logits := p.matmulRow(p.output, normed.buf, n-1)
	p.release(x.buf, normed.buf)
	return logits
}

// mask says which of pos+n keys each of n tokens must not see.
func (phi3) mask(p *Planner, n, pos int) tensor {
	window := 0
	if !p.config.Candle {
		window = p.config.window(0)
	}
	return shaped(p.mask(n, pos, window), n, pos+n).as(bytes8)
}

// block is one layer. It gives x back and returns the next layer's input.
func (f phi3) block(p *Planner, l *layer, x, mask tensor, n, pos int) tensor {
	eps := p.config.RMSEps
	p.part = Part{l.number, PartAttnNorm}
	normed := p.normed(x, l.attnNorm.buf, eps)
	attn := f.attention(p, l, normed, mask, n, pos)
	p.as(PartAttnResidual)
	h := p.map2("badd", attn, x)
	p.release(attn.buf)

	p.as(PartFFNNorm)
	normed2 := p.normed(h, l.ffnNorm.buf, eps)
	down := f.feedForward(p, l, normed2, n)
	p.as(PartFFNResidual)
	out := p.map2("badd", down, h)
	p.release(down.buf, x.buf, normed2.buf, h.buf, normed.buf)
	return out
}

// feedForward has the rows of gate and up in one matrix.
func (phi3) feedForward(p *Planner, l *layer, x tensor, n int) tensor {
	c := &p.config
	p.as(PartUp)
	both := shaped(p.matmul(l.up, x.buf, n), 1, n, 2*c.FFN)
	p.as(PartActivation)
	gate, up := both.narrowed(2, 0, c.FFN), both.narrowed(2, c.FFN, c.FFN)
	activated := p.map1("silu", gate)
	product := p.map2("bmul", up, activated)
	p.release(activated.buf)
	p.as(PartDown)
	down := p.matmul(l.down, product.buf, n)
	p.release(both.buf, product.buf)
	return shaped(down, 1, n, c.Hidden)
}

// attention is forward_attn: one projection, rotation, the cache, and attention step by
// step, of several tokens as of one.
func (f phi3) attention(p *Planner, l *layer, x, mask tensor, n, pos int) tensor {
	c := &p.config
	dim, heads, kvHeads := c.HeadDim, c.Heads, c.KVHeads
	p.as(PartQKV)
	qkv := shaped(p.linear(l.qkv, l.qkvBias, x.buf, n), 1, n, l.qkv.Rows)
	p.as(PartHeads)
	cut := func(at, heads int) tensor {
		return p.reshaped(qkv.narrowed(2, at*dim, heads*dim), 1, n, heads, dim).transposed(1, 2)
	}
	q, k, v := cut(0, heads), cut(heads, kvHeads), cut(heads+kvHeads, kvHeads)
	cos, sin := p.cos.narrowed(0, pos, n), p.sin.narrowed(0, pos, n)
	query, key := f.turn(p, q, cos, sin), f.turn(p, k, cos, sin)
	keys, values := f.cache(p, l, key, v, n, pos)

	p.as(PartAttention)
	if window := c.window(l.number); n == 1 && window > 0 && !c.Candle {
		// One token needs no mask: it takes the keys of its window alone.
		first := max(0, l.cached-window)
		keys, values = keys.narrowed(2, first, l.cached-first), values.narrowed(2, first, l.cached-first)
	}
	keys, values = p.repeated(keys), p.repeated(values)
	y := f.attend(p, query, keys, values, mask)
	p.as(PartHeads)
	joined := p.reshaped(y.transposed(1, 2), 1, n, heads*dim)
	p.as(PartAttnOutput)
	o := p.matmul(l.o, joined.buf, n)
	p.release(joined.buf, y.buf, keys.buf, values.buf, query.buf, key.buf, q.buf, k.buf, v.buf, qkv.buf)
	return shaped(o, 1, n, c.Hidden)
}

// turn is apply_rotary_emb. Where a part of each head is turned, as candle's own model
// of phi3 without quantization does, that is cut off before and the rest put behind it
// again.
func (phi3) turn(p *Planner, x, cos, sin tensor) tensor {
	dim, leading := x.dims[3], p.config.RopeDim
	p.as(PartHeads)
	packed := p.reshaped(x, x.dims[:x.rank]...)
	defer p.release(packed.buf)
	p.as(PartRope)
	if leading == dim {
		return p.turned(packed, cos, sin)
	}
	part := p.packed(packed.narrowed(3, 0, leading))
	turned := p.turned(part, cos, sin)
	p.release(part.buf)
	whole := p.cat(3, turned, packed.narrowed(3, leading, dim-leading))
	p.release(turned.buf)
	return whole
}

// cache puts keys and values of n tokens into the layer's room for all positions, of the
// model by candle's arithmetic and of the run by the model's, which is made anew with each pass from position 0 on (KvCache in candle-nn/src/kv_cache.rs).
func (phi3) cache(p *Planner, l *layer, key, v tensor, n, pos int) (keys, values tensor) {
	c := &p.config
	if pos == 0 && l.cached > 0 {
		p.release(l.keys, l.values)
		l.keys, l.values = 0, 0
	}
	l.cached = pos + n
	p.as(PartHeads)
	packed := p.packed(v)
	p.as(PartCache)
	most, _ := c.positions()
	put := func(room *Buf, t tensor) tensor {
		if *room == 0 {
			*room = p.zeros(c.KVHeads * most * c.HeadDim)
		}
		all := shaped(*room, 1, c.KVHeads, most, c.HeadDim)
		p.sliceSet(all, t, 2, pos)
		return all.narrowed(2, 0, l.cached)
	}
	keys, values = put(&l.keys, key), put(&l.values, packed)
	p.release(packed.buf)
	return keys, values
}

func (phi3) attend(p *Planner, q, k, v, mask tensor) tensor {
	scaled := p.scores(q, k)
	scores := scaled
	if mask.buf != 0 {
		scores = p.chosen(mask.spread(scaled), shaped(p.negInf).spread(scaled), scaled)
	} else {
		p.hold(scaled.buf)
	}
	weights := p.weighed(scores)
	y := p.product(weights, v)
	p.release(scaled.buf, scores.buf, weights.buf)
	return y
}

package forward

import (
	"encoding/binary"
	"math"
)

// gemma3 is quantized_gemma3.rs. It computes something else than the model in three
// places, where a plan of the model's arithmetic leaves it: the gate's function is SiLU
// where the model has GELU, a window reaches one position further, and a pass of one
// token attends to all of the cache, whatever the window. Scaled positions are not read.
type gemma3 struct{}

// gemma3Positions is the length of candle's rotary tables (MAX_SEQ_LEN in
// quantized_gemma3.rs), of which each layer has its own.
const gemma3Positions = 131072

func (gemma3) rows(int) int { return gemma3Positions }

func (gemma3) check(c *Config) error {
	switch {
	case !c.Candle:
	case c.Heads == c.KVHeads && c.Heads > 1:
		return Unsupported("a head of keys for each of %d heads of queries: candle's gemma3 cannot multiply by their values as they lie after a prompt (--arithmetic model can)", c.Heads)
	case !c.windowed():
		return Unsupported("no layer has a window, and candle's gemma3 does not load without metadata gemma3.attention.sliding_window (--arithmetic model does)")
	}
	return nil
}

// checkPass refuses what candle's mask cannot be made of: numbers of 32 bits, and
// float32 for the keys of earlier passes.
func (gemma3) checkPass(c *Config, n, pos int) error {
	if c.Candle && n > 1 && pos > 0 {
		return Unsupported("a pass of %d tokens from position %d on: candle's gemma3 takes several tokens from position 0 alone (--arithmetic model takes them anywhere)", n, pos)
	}
	return nil
}

func (gemma3) layer(c *Config, get getter) layer {
	l := c.separate(get)
	l.qNorm = get("attn_q_norm.weight", 1, c.HeadDim)
	l.kNorm = get("attn_k_norm.weight", 1, c.HeadDim)
	l.attnPostNorm = get("post_attention_norm.weight", 1, c.Hidden)
	l.ffnPostNorm = get("post_ffw_norm.weight", 1, c.Hidden)
	c.biases(get, false, map[*loaded]loaded{&l.qBias: l.q, &l.kBias: l.k, &l.vBias: l.v})
	return l
}

// decoding depends on the windows too: layers without one see all keys, others no more
// than it.
func (gemma3) decoding(c *Config, keys int) any {
	within := keys
	for i := range c.Layers {
		if w := c.window(i); w > 0 && !c.Candle {
			within = min(within, w)
		}
	}
	return [2]any{products(keys, c.HeadDim), products(within, c.HeadDim)}
}

func (g gemma3) build(p *Planner) {
	p.outside(PartWeights)
	p.negInf = p.upload(floats(float32(math.Inf(-1))))
	embedding := p.uploadWeight(p.w.embedding)
	p.embedding = p.expand(p.w.embedding, embedding)
	p.loadOutputNorm()
	p.output = loaded{Weight: p.w.output} // uploaded once more where it is the embedding
	p.load(&p.output)
	for _, l := range p.w.layers {
		p.part = Part{l.number, PartWeights}
		p.load(&l.q, &l.k, &l.v, &l.o)
		for _, norm := range []*loaded{&l.qNorm, &l.kNorm, &l.attnNorm, &l.attnPostNorm, &l.ffnNorm, &l.ffnPostNorm} {
			p.load(norm)
			p.expandAll(norm)
		}
		p.load(&l.gate, &l.up, &l.down)
		p.matrices(&l.gate, &l.up, &l.down)
		p.as(PartRotary)
		l.cos, l.sin = g.tables(p, l.number)
		p.as(PartWeights)
		p.matrices(&l.q, &l.k, &l.v, &l.o)
		p.load(&l.qBias, &l.kBias, &l.vBias)
		p.expandAll(&l.qBias, &l.kBias, &l.vBias)
		p.layers = append(p.layers, l)
	}
	p.outside(PartWeights)
	p.matrices(&p.output)
	p.release(embedding) // from_gguf keeps it to its end
}

// tables are a layer's. Those of the model's arithmetic end with the run, and are an
// earlier layer's where that turns its heads alike.
func (gemma3) tables(p *Planner, layer int) (cos, sin tensor) {
	c := &p.config
	r := c.rotary(layer)
	if c.Candle {
		return p.rotaryTables(r, gemma3Positions)
	}
	for i := range layer {
		if r.same(c.rotary(i)) {
			return p.layers[i].cos, p.layers[i].sin
		}
	}
	return p.rotaryTables(r, c.tableRows(gemma3Positions))
}

func (g gemma3) forward(p *Planner, tokens Buf, n, pos int) Buf {
	c := &p.config
	p.outside(PartEmbedding)
	rows := shaped(p.lookup(p.embedding, tokens, c.Vocab, c.Hidden, n), 1, n, c.Hidden)
	x := p.scaled(rows, float32(math.Sqrt(float64(c.Hidden))))
	p.release(rows.buf)
	for i := range p.layers {
		x = g.block(p, &p.layers[i], x, n, pos)
	}
	p.outside(PartOutputNorm)
	normed := p.normed(x.narrowed(1, n-1, 1), p.outputNorm.buf, c.RMSEps)
	p.as(PartOutput)
	logits := p.matmulRow(p.output, normed.buf, 0)
	p.release(x.buf, normed.buf)
	return logits
}

// mask says which of pos+n keys each of n tokens sees: 1 for those, else 0. candle makes
// it for each layer of each pass.
func (gemma3) mask(p *Planner, l *layer, n, pos int) tensor {
	keys, reach := pos+n, p.config.window(l.number)
	if reach > 0 && p.config.Candle {
		reach++
	}
	size := words32.size()
	return shaped(p.uploadMade(size*n*keys, func(data []byte) {
		for i := range n {
			first, last := 0, pos+i
			if reach > 0 {
				first = max(0, last-reach+1)
			}
			for j := first; j <= last; j++ {
				binary.LittleEndian.PutUint32(data[size*(i*keys+j):], 1)
			}
		}
	}), n, keys).as(words32)
}

// block is one layer. It gives x back and returns the next layer's input.
func (g gemma3) block(p *Planner, l *layer, x tensor, n, pos int) tensor {
	eps := p.config.RMSEps
	p.part = Part{l.number, PartMask}
	var mask tensor
	if n > 1 {
		mask = g.mask(p, l, n, pos)
	}
	p.as(PartAttnNorm)
	normed := p.normed(x, l.attnNorm.buf, eps)
	attn := g.attention(p, l, normed, mask, n, pos)
	p.as(PartAttnPostNorm)
	attnNormed := p.normed(attn, l.attnPostNorm.buf, eps)
	p.as(PartAttnResidual)
	h := p.map2("badd", attnNormed, x)
	p.release(attnNormed.buf)

	p.as(PartFFNNorm)
	normed2 := p.normed(h, l.ffnNorm.buf, eps)
	down := g.feedForward(p, l, normed2, n)
	p.as(PartFFNPostNorm)
	downNormed := p.normed(down, l.ffnPostNorm.buf, eps)
	p.as(PartFFNResidual)
	out := p.map2("badd", downNormed, h)
	p.release(downNormed.buf, x.buf, down.buf, normed2.buf, h.buf, attn.buf, normed.buf, mask.buf)
	return out
}

func (gemma3) feedForward(p *Planner, l *layer, x tensor, n int) tensor {
	c := &p.config
	activation := "gelu"
	if c.Candle {
		activation = "silu"
	}
	p.as(PartGate)
	gate := shaped(p.matmul(l.gate, x.buf, n), 1, n, c.FFN)
	p.as(PartUp)
	up := shaped(p.matmul(l.up, x.buf, n), 1, n, c.FFN)
	p.as(PartActivation)
	activated := p.map1(activation, gate)
	product := p.map2("bmul", activated, up)
	p.release(activated.buf, up.buf)
	p.as(PartDown)
	down := p.matmul(l.down, product.buf, n)
	p.release(gate.buf, product.buf)
	return shaped(down, 1, n, c.Hidden)
}

// attention is forward_attn: projections, norms of the heads, rotation, the cache, and
// attention step by step, of several tokens as of one.
func (g gemma3) attention(p *Planner, l *layer, x, mask tensor, n, pos int) tensor {
	c := &p.config
	var end []Buf // what is released when the function ends
	keep := func(t tensor) tensor {
		end = append(end, t.buf)
		return t
	}
	project := func(part string, w, bias loaded, heads int) tensor {
		p.as(part)
		return p.heads(shaped(p.linear(w, bias, x.buf, n), 1, n, w.Rows), n, heads)
	}
	q, k := keep(project(PartQ, l.q, l.qBias, c.Heads)), keep(project(PartK, l.k, l.kBias, c.KVHeads))
	v := project(PartV, l.v, l.vBias, c.KVHeads)
	q = keep(g.headNorm(p, PartQNorm, q, l.qNorm))
	k = keep(g.headNorm(p, PartKNorm, k, l.kNorm))
	p.as(PartRope)
	cos, sin := l.cos.narrowed(0, pos, n), l.sin.narrowed(0, pos, n)
	q = keep(p.turned(q, cos, sin))
	k = p.turned(k, cos, sin)
	if pos > 0 {
		end = append(end, k.buf, v.buf)
		p.as(PartCache)
		oldKeys, oldValues := g.cached(p, l)
		k = p.cat(2, oldKeys.narrowed(2, 0, pos), k)
		v = p.cat(2, oldValues.narrowed(2, 0, pos), v)
	}
	if l.cached > 0 {
		p.release(l.keys, l.values)
	}
	l.keys, l.values, l.cached = k.buf, v.buf, pos+n
	l.tokensFirst = v.strides[2] != c.HeadDim

	p.as(PartAttention)
	y := g.attend(p, l, q, k, v, mask, keep)
	p.as(PartHeads)
	y = keep(p.reshaped(y.transposed(1, 2), 1, n, c.Heads*c.HeadDim))
	p.as(PartAttnOutput)
	o := p.matmul(l.o, y.buf, n)
	p.release(end...)
	return shaped(o, 1, n, c.Hidden)
}

// cached are the layer's keys and values. The values of a prompt stay as their
// projection made them, token by token, and so do those that are put behind them.
func (gemma3) cached(p *Planner, l *layer) (keys, values tensor) {
	c := &p.config
	keys = shaped(l.keys, 1, c.KVHeads, l.cached, c.HeadDim)
	values = keys.of(l.values)
	if l.tokensFirst {
		values = p.heads(values, l.cached, c.KVHeads)
	}
	return keys, values
}

// headNorm is the norm of each head, by head and token.
func (gemma3) headNorm(p *Planner, part string, x tensor, weights loaded) tensor {
	p.as(PartHeads)
	packed := p.packed(x)
	p.as(part)
	normed := p.normed(packed, weights.buf, p.config.RMSEps)
	p.release(packed.buf)
	return normed
}

// attend is what the tokens see of keys and values. One token needs no mask: where its
// window begins behind the first key it takes the later ones alone. What it makes it
// keeps.
func (gemma3) attend(p *Planner, l *layer, q, k, v, mask tensor, keep func(tensor) tensor) tensor {
	c := &p.config
	window := c.window(l.number)
	if first := k.dims[2] - window; mask.buf == 0 && window > 0 && first > 0 && !c.Candle {
		k, v = k.narrowed(2, first, window), v.narrowed(2, first, window)
	}
	k, v = keep(p.repeated(k)), keep(p.repeated(v))
	if v.dims[1] > 1 && v.dims[2] > 1 && v.strides[2] != c.HeadDim {
		v = keep(p.packed(v)) // candle's product refuses values that lie token by token
	}
	scores := p.scores(q, k)
	if mask.buf != 0 {
		zero := shaped(p.upload(words([]uint32{0}))).as(words32)
		hidden := p.map2("eq", mask.spread(scores), zero.spread(scores))
		p.release(zero.buf)
		masked := p.chosen(hidden, shaped(p.negInf).spread(scores), scores)
		p.release(scores.buf, hidden.buf)
		scores = masked
	}
	weights := keep(p.weighed(keep(scores)))
	return keep(p.product(weights, v))
}

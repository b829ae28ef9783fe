package forward

import "math"

// qwen2 is quantized_qwen2.rs.
type qwen2 struct{}

func (qwen2) rows(context int) int { return context }

func (qwen2) check(c *Config) error { return c.wholeHeads() }

func (qwen2) layer(c *Config, get getter) layer {
	l := c.separate(get)
	c.biases(get, true, map[*loaded]loaded{&l.qBias: l.q, &l.kBias: l.k, &l.vBias: l.v})
	return l
}

func (qwen2) decoding(c *Config, keys int) any { return products(keys, c.HeadDim) }

func (qwen2) build(p *Planner) {
	p.outside(PartWeights)
	p.negInf = p.upload(floats(float32(math.Inf(-1))))
	embedding := p.uploadWeight(p.w.embedding)
	p.embedding = p.expand(p.w.embedding, embedding)
	p.loadOutputNorm()
	p.output = loaded{Weight: p.w.output} // uploaded once more where it is the embedding
	p.load(&p.output)
	p.matrices(&p.output)
	p.outside(PartRotary)
	p.cos, p.sin = p.rotaryTables(p.config.rotary(0), p.config.Context)
	for _, l := range p.w.layers {
		p.part = Part{l.number, PartWeights}
		p.load(&l.q, &l.k, &l.v)
		p.load(&l.qBias, &l.kBias, &l.vBias)
		biases := []Buf{l.qBias.buf, l.kBias.buf, l.vBias.buf}
		p.load(&l.o)
		p.load(&l.gate, &l.down, &l.up)
		p.matrices(&l.gate, &l.down, &l.up)
		p.load(&l.attnNorm, &l.ffnNorm)
		p.matrices(&l.q, &l.k, &l.v)
		for _, b := range []*loaded{&l.qBias, &l.kBias, &l.vBias} {
			if b.buf != 0 {
				b.buf = p.expand(b.Weight, b.buf)
			}
		}
		p.matrices(&l.o)
		p.expandAll(&l.attnNorm, &l.ffnNorm)
		p.release(biases...)
		p.layers = append(p.layers, l)
	}
	p.outside(PartWeights)
	p.release(embedding) // from_gguf keeps it to its end
}

func (m qwen2) forward(p *Planner, tokens Buf, n, pos int) Buf {
	return p.pass(tokens, n, pos, m.attention)
}

// attention is forward_attn. It is the same for one token and for several, but for
// the mask.
func (qwen2) attention(p *Planner, l *layer, x, mask Buf, n, pos int) Buf {
	c := &p.config
	var end []Buf // what is released when the function ends
	keep := func(t tensor) tensor {
		end = append(end, t.buf)
		return t
	}
	project := func(part string, w loaded) tensor {
		p.as(part)
		return keep(shaped(p.matmul(w, x, n), 1, n, w.Rows))
	}
	q, k, v := project(PartQ, l.q), project(PartK, l.k), project(PartV, l.v)
	bias := func(part string, t tensor, b loaded) tensor {
		if b.buf == 0 {
			return t // candle's refuses such a file
		}
		p.as(part)
		return keep(p.biased(t, b))
	}
	q, k, v = bias(PartQ, q, l.qBias), bias(PartK, k, l.kBias), bias(PartV, v, l.vBias)
	p.as(PartHeads)
	q = keep(p.packed(p.heads(q, n, c.Heads)))
	k = keep(p.packed(p.heads(k, n, c.KVHeads)))
	v = keep(p.packed(p.heads(v, n, c.KVHeads)))
	p.as(PartRope)
	cos, sin := p.cos.narrowed(0, pos, n), p.sin.narrowed(0, pos, n)
	q = keep(p.turned(q, cos, sin))
	k = keep(p.turned(k, cos, sin))

	p.as(PartCache)
	old := []Buf{l.keys, l.values}
	k, v = p.behind(l.keys, k, l.cached, pos), p.behind(l.values, v, l.cached, pos)
	p.release(old...)
	l.keys, l.values, l.cached = k.buf, v.buf, pos+n
	p.as(PartAttention)
	k, v = keep(p.repeated(k)), keep(p.repeated(v))
	scores := keep(p.scores(q, k))
	if n > 1 {
		scores = keep(scores.of(p.masked(mask, p.negInf, scores.buf, c.Heads, n, pos+n)))
	}
	weights := keep(p.weighed(scores))
	y := keep(p.product(weights, v))
	p.as(PartHeads)
	y = keep(p.reshaped(y.transposed(1, 2), 1, n, c.Heads*c.HeadDim))
	p.as(PartAttnOutput)
	o := p.matmul(l.o, y.buf, n)
	p.release(end...)
	return o
}

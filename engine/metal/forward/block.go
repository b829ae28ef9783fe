package forward

import (
	"encoding/binary"
	"math"
	"slices"
)

// What several of candle's models have in common, in the order in which all of them
// do it.

// attention is forward_attn of a model: from what the layer's norm gave to what is
// added to the layer's input.
type attention func(p *Planner, l *layer, x, mask Buf, n, pos int) Buf

// pass is ModelWeights::forward of llama and qwen2: the logits of the last of n tokens.
func (p *Planner) pass(tokens Buf, n, pos int, attend attention) Buf {
	c := &p.config
	var mask Buf
	if n > 1 {
		mask = p.mask(n, pos, 0)
	}
	p.outside(PartEmbedding)
	x := p.lookup(p.embedding, tokens, c.Vocab, c.Hidden, n)
	for i := range p.layers {
		x = p.block(&p.layers[i], x, mask, n, pos, attend)
	}
	p.outside(PartOutputNorm)
	normed := p.rmsNorm(x, p.outputNorm.buf, n, c.Hidden, c.RMSEps)
	p.as(PartOutput)
	logits := p.matmulRow(p.output, normed, n-1)
	p.release(x, normed)
	return logits
}

// block is one layer of them. It gives x back and returns the next layer's input.
func (p *Planner) block(l *layer, x, mask Buf, n, pos int, attend attention) Buf {
	c := &p.config
	wide, size := n*c.FFN, n*c.Hidden

	p.part = Part{l.number, PartAttnNorm}
	normed := p.rmsNorm(x, l.attnNorm.buf, n, c.Hidden, c.RMSEps)
	attn := attend(p, l, normed, mask, n, pos)
	p.as(PartAttnResidual)
	h := p.binary("badd_f32", attn, x, size)
	p.release(attn)

	p.as(PartFFNNorm)
	normed2 := p.rmsNorm(h, l.ffnNorm.buf, n, c.Hidden, c.RMSEps)
	p.as(PartGate)
	gate := p.linear(l.gate, l.gateBias, normed2, n)
	p.as(PartUp)
	up := p.linear(l.up, l.upBias, normed2, n)
	p.as(PartActivation)
	silu := p.unary("Unary", "silu_f32", gate, wide)
	product := p.binary("bmul_f32", silu, up, wide)
	p.release(silu, up)
	p.as(PartDown)
	down := p.linear(l.down, l.downBias, product, n)
	p.release(gate, product)
	p.as(PartFFNResidual)
	out := p.binary("badd_f32", down, h, size)
	p.release(down, normed2, h, normed, x)
	return out
}

// linear multiplies n rows of x by w, and adds a bias where there is one.
func (p *Planner) linear(w, bias loaded, x Buf, n int) Buf {
	y := p.matmul(w, x, n)
	if bias.buf == 0 {
		return y
	}
	biased := p.biased(shaped(y, 1, n, w.Rows), bias)
	p.release(y)
	return biased.buf
}

// biased adds a bias to each row of x.
func (p *Planner) biased(x tensor, bias loaded) tensor {
	return p.map2("badd", x, shaped(bias.buf, bias.Cols).spread(x))
}

// mask is the causal mask of n tokens over pos+n keys: a byte 1 where the
// token must not see the key, for it comes later, or before the token's window (0 is
// all). It is made on the CPU, once for each shape.
func (p *Planner) mask(n, pos, window int) Buf {
	keys := pos + n
	shape := [2]int{n, keys}
	if m, ok := p.masks[shape]; ok {
		return m
	}
	m := p.uploadMade(n*keys, func(data []byte) {
		for i := range n {
			for j := range keys {
				if j > pos+i || window > 0 && j <= pos+i-window {
					data[i*keys+j] = 1
				}
			}
		}
	})
	p.masks[shape] = m
	return m
}

// uploadMade uploads n bytes that fill makes, which nobody does where nobody looks at them.
func (p *Planner) uploadMade(n int, fill func([]byte)) Buf {
	if p.dry {
		return p.result(Step{Op: Upload, Bytes: n})
	}
	data := make([]byte, n)
	fill(data)
	return p.upload(data)
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

// repeat puts group copies of each head after one another.
func (p *Planner) repeat(x Buf, group, count int) Buf {
	rows, cols := p.config.KVHeads, count*p.config.HeadDim
	out := p.alloc(rows * group * cols)
	for i := range group {
		p.copy2d(x, out, rows, cols, cols, group*cols, i*cols)
	}
	return out
}

// behind puts keys or values of tokens from position pos on behind the first pos of a
// cache of cached positions: x itself, held once more, where there are none.
func (p *Planner) behind(cache Buf, x tensor, cached, pos int) tensor {
	if pos == 0 {
		p.hold(x.buf)
		return x
	}
	n := x.dims[2]
	return shaped(p.extend(cache, x.buf, cached, pos, n), 1, x.dims[1], pos+n, x.dims[3])
}

// heads is a projection of n tokens, in heads.
func (p *Planner) heads(x tensor, n, heads int) tensor {
	x.rank = 4
	x.dims = [4]int{1, n, heads, p.config.HeadDim}
	x.strides = rowMajor(4, x.dims)
	return x.transposed(1, 2)
}

// scores are q·kᵀ, scaled.
func (p *Planner) scores(q, k tensor) tensor {
	raw := p.product(q, k.transposed(2, 3))
	s := p.scaled(raw, p.scale(float32(1/math.Sqrt(float64(p.config.HeadDim)))))
	p.release(raw.buf)
	return s
}

// scale is what scores are multiplied by, where candle has the usual factor.
func (p *Planner) scale(usual float32) float32 {
	if c := &p.config; c.AttnScale != 0 && !c.Candle {
		return c.AttnScale
	}
	return usual
}

// window is how far a layer's attention reaches; 0 is all.
func (c *Config) window(layer int) int {
	if c.Window == nil {
		return 0
	}
	return c.Window(layer)
}

// rotary is how a layer's heads are turned.
func (c *Config) rotary(layer int) Rotary {
	switch {
	case c.Rotary != nil && !c.Candle:
		return c.Rotary(layer)
	case c.RopeBaseLocal != 0 && c.window(layer) > 0:
		return Rotary{frequencies(c.RopeBaseLocal, c.RopeDim), 1}
	}
	return Rotary{frequencies(c.RopeBase, c.RopeDim), 1}
}

// same says that heads are turned alike.
func (r Rotary) same(as Rotary) bool {
	return r.Scale == as.Scale && slices.Equal(r.Frequencies, as.Frequencies)
}

// frequencies are those of each pair of dim values, computed in float32 as candle does
// (precomput_freqs_cis in quantized_llama.rs).
func frequencies(base float32, dim int) []float32 {
	t := make([]float32, dim/2)
	for i := range t {
		exponent := float32(2*i) / float32(dim)
		t[i] = 1 / float32(math.Pow(float64(base), float64(exponent)))
	}
	return t
}

// rotaryTables makes cos and sin of rows positions times every frequency.
func (p *Planner) rotaryTables(r Rotary, rows int) (cos, sin tensor) {
	theta := shaped(p.upload(floats(r.Frequencies...)), 1, len(r.Frequencies))
	positions := p.positions(rows)
	index := p.cast(positions, float32s)
	angles := p.product(index, theta)
	cos = p.factored(p.map1("cos", angles), r.Scale)
	sin = p.factored(p.map1("sin", angles), r.Scale)
	p.release(theta.buf, positions.buf, index.buf, angles.buf)
	return cos, sin
}

// factored is t times a factor, which candle has none of.
func (p *Planner) factored(t tensor, by float32) tensor {
	if by == 1 {
		return t
	}
	s := p.scaled(t, by)
	p.release(t.buf)
	return s
}

// positions are the numbers from 0 to rows-1, one a row.
func (p *Planner) positions(rows int) tensor {
	all := make([]byte, 0, 4*rows)
	for i := range uint32(rows) {
		all = binary.LittleEndian.AppendUint32(all, i)
	}
	return shaped(p.upload(all), rows, 1).as(words32)
}

// loadOutputNorm brings the norm before the output.
func (p *Planner) loadOutputNorm() {
	p.outputNorm = loaded{Weight: p.w.outputNorm}
	p.load(&p.outputNorm)
	p.expandAll(&p.outputNorm)
}

package forward

import (
	"math"
	"slices"
)

// llama is quantized_llama.rs. The order of steps below is candle's, and so are the
// places where buffers are given back: a Rust value lives to the end of its
// scope, even where a later one has taken its name. Which buffer the pool
// gives out next, and thus which barriers the encoder sets, depends on it.
type llama struct{}

// MaxPositions is the length of the rotary tables of candle's llama (MAX_SEQ_LEN in
// candle-transformers/src/models/quantized_llama.rs), whatever the model file
// says. Position MaxPositions and above cannot be computed.
const MaxPositions = 4096

// headDims are the head dimensions that candle's attention of one token takes
// (call_sdpa_vector in candle-metal-kernels/src/kernels/sdpa.rs). The Sdpa
// library has kernels for 72 and 80 too, and the host refuses to launch them.
var headDims = []int{32, 64, 96, 128, 256, 512}

func (llama) rows(int) int { return MaxPositions }

func (llama) check(c *Config) error {
	if !slices.Contains(headDims, c.HeadDim) {
		return Unsupported("no attention kernel for head dimension %d; candle launches kernels for %v", c.HeadDim, headDims)
	}
	return c.wholeHeads()
}

func (llama) layer(c *Config, get getter) layer {
	l := c.separate(get)
	c.biases(get, false, map[*loaded]loaded{
		&l.qBias: l.q, &l.kBias: l.k, &l.vBias: l.v, &l.oBias: l.o,
		&l.gateBias: l.gate, &l.upBias: l.up, &l.downBias: l.down,
	})
	return l
}

func (llama) decoding(_ *Config, keys int) any { return keys >= twoPassKeys }

func (llama) build(p *Planner) {
	p.outside(PartRotary)
	p.cos, p.sin = p.rotaryTables(p.config.rotary(0), MaxPositions)
	p.outside(PartWeights)
	p.negInf = p.upload(floats(float32(math.Inf(-1))))

	embedding := p.uploadWeight(p.w.embedding)
	p.embedding = p.expand(p.w.embedding, embedding)
	p.loadOutputNorm()
	p.output = loaded{p.w.output, embedding} // tied
	if p.config.OwnOutput {
		p.load(&p.output)
	}
	for _, l := range p.w.layers {
		p.part.Layer = l.number
		p.load(&l.q, &l.k, &l.v, &l.o)
		p.load(&l.gate, &l.down, &l.up)
		p.matrices(&l.gate, &l.down, &l.up)
		p.load(&l.attnNorm, &l.ffnNorm)
		p.matrices(&l.q, &l.k, &l.v, &l.o)
		p.expandAll(&l.attnNorm, &l.ffnNorm)
		// Biases are not candle's.
		for _, b := range []*loaded{&l.qBias, &l.kBias, &l.vBias, &l.oBias, &l.gateBias, &l.upBias, &l.downBias} {
			p.load(b)
			p.expandAll(b)
		}
		p.layers = append(p.layers, l)
	}
	p.outside(PartWeights)
	p.matrices(&p.output)
	if p.config.OwnOutput {
		p.release(embedding) // from_gguf keeps it to its end
	}
}

func (m llama) forward(p *Planner, tokens Buf, n, pos int) Buf {
	return p.pass(tokens, n, pos, m.attention)
}

// attention is forward_attn: projections, rotation, the cache, and attention
// in one kernel for one token, or step by step for several.
func (llama) attention(p *Planner, l *layer, x, mask Buf, n, pos int) Buf {
	c := &p.config
	dim, heads, kvHeads := c.HeadDim, c.Heads, c.KVHeads

	p.as(PartQ)
	q := p.linear(l.q, l.qBias, x, n)
	p.as(PartK)
	k := p.linear(l.k, l.kBias, x, n)
	p.as(PartV)
	v := p.linear(l.v, l.vBias, x, n)
	p.as(PartHeads)
	values, vOwn := p.byHead(v, n, kvHeads)
	qHeads, qOwn := p.byHead(q, n, heads)
	p.as(PartRope)
	query := p.rope(qHeads, p.cos.buf, p.sin.buf, heads, n, dim, pos)
	if qOwn {
		p.release(qHeads)
	}
	p.as(PartHeads)
	kHeads, kOwn := p.byHead(k, n, kvHeads)
	p.as(PartRope)
	keys := p.rope(kHeads, p.cos.buf, p.sin.buf, kvHeads, n, dim, pos)
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
		y = p.attend(query, keys, values, heads, kvHeads, dim, l.cached, p.scale(1/float32(math.Sqrt(float64(dim)))))
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
	o := p.linear(l.o, l.oBias, y, n)
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
	scaled := p.affine(raw, size, p.scale(float32(1/math.Sqrt(float64(dim)))), 0)
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

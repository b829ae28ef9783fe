package cpu

import (
	"unsafe"

	"github.com/introgen/introgen/engine/cpu/kernel"
)

// Do implements threads.Body: it does units lo to hi-1 of a stage of the current
// pass. What it reads was written in stages before, and no two units write the
// same place.
func (e *Engine) Do(tid, number, lo, hi int) {
	s := e.cur.stages[number]
	th := &e.threads[tid]
	switch s.kind {
	case normAttn:
		e.doNorm(th, s, e.blocks[s.layer].AttnNorm, lo, hi)
	case normFFN:
		e.doNorm(th, s, e.blocks[s.layer].FFNNorm, lo, hi)
	case qkv:
		in := e.normed(th, number, s, e.blocks[s.layer].AttnNorm, lo)
		for u := lo; u < hi; {
			u += e.doQKV(th, s, in, u, hi)
		}
	case attend:
		for u := lo; u < hi; u++ {
			e.doAttend(th, s, u)
		}
	case quantAtt:
		width := e.blocks[s.layer].o.Cols
		att := e.blocks[s.layer].att.of(s.tokens)
		for t := lo; t < hi; t++ {
			e.set.Quantize(att.panel, t, 0, att.floats[t*width:(t+1)*width])
		}
	case project:
		b := &e.blocks[s.layer]
		e.doResidual(th, s, &b.o, b.OB, b.att.of(s.tokens), lo, hi)
	case gateUp:
		in := e.normed(th, number, s, e.blocks[s.layer].FFNNorm, lo)
		for r0, end := lo*unitRows, min(hi*unitRows, e.blocks[s.layer].FFN); r0 < end; {
			r1 := min(r0+e.gateUpRows(s.tokens), end)
			e.doGateUp(th, s, in, r0, r1, e.cur.ahead[number][tid])
			r0 = r1
		}
	case down:
		b := &e.blocks[s.layer]
		e.doResidual(th, s, &b.down, b.DownB, b.h.of(s.tokens), lo, hi)
	case packing:
		for _, j := range e.jobs[lo:hi] {
			j.do()
		}
	case head:
		e.doHead(th, s, e.normed(th, number, s, e.m.OutputNorm, lo), lo, hi)
	}
}

// doNorm writes the norms of tokens lo to hi-1 for all threads.
func (e *Engine) doNorm(th *thread, s stage, w []float32, lo, hi int) {
	n := e.m.Hidden
	if s.post != nil {
		for t := lo; t < hi; t++ {
			x := e.x[t*n : (t+1)*n]
			e.settle(x, x, e.added[t*n:(t+1)*n], s.post, e.xn.floats[t*n:(t+1)*n])
		}
		if th.watch != nil {
			th.watch.settled = e.opt.Observer.Now()
		}
	}
	for t := lo; t < hi; t++ {
		y := e.xn.floats[t*n : (t+1)*n]
		e.set.RMSNorm(y, e.x[t*n:(t+1)*n], w, e.m.RMSEps)
		if e.xn.panel != nil {
			e.set.Quantize(e.xn.panel, t, 0, y)
		}
	}
}

// normed returns the norms that a stage starts from: the shared ones, or for
// one token the thread's own, which it computes when it first needs them. lo is the
// first unit that the thread does.
func (e *Engine) normed(th *thread, number int, s stage, w []float32, lo int) *vectors {
	if s.tokens > 1 {
		return &e.xn
	}
	if now := (stamp{e.serial, number}); th.stamp != now {
		th.stamp = now
		x := e.stream(s, false)
		if s.post != nil {
			e.settle(th.x, x, e.added[:e.m.Hidden], s.post, th.xn.floats)
			x = th.x
			if th.watch != nil {
				th.watch.settled = e.opt.Observer.Now()
			}
		}
		e.set.RMSNorm(th.xn.floats, x, w, e.m.RMSEps)
		if th.xn.panel != nil {
			e.set.Quantize(th.xn.panel, 0, 0, th.xn.floats)
		}
		if th.watch != nil {
			th.watch.normed = e.opt.Observer.Now()
		}
	}
	if s.post != nil && lo == 0 {
		copy(e.stream(s, true), th.x)
	}
	return &th.xn
}

// addBias adds bias to the rows of each token.
func addBias(dst []float32, stride int, bias []float32, tokens int) {
	for t := range tokens {
		for i, v := range bias {
			dst[t*stride+i] += v
		}
	}
}

// doResidual adds rows of w times in, and bias where there is one, to the
// residual stream, or leaves them to be normed before they are added.
func (e *Engine) doResidual(th *thread, s stage, w *matrix, bias []float32, in *vectors, lo, hi int) {
	n := e.m.Hidden
	r0, r1 := lo*unitRows, min(hi*unitRows, n)
	dst, add := e.added, false
	if dst == nil {
		dst, add = e.x[s.first*n:], true
	}
	dst = dst[r0:]
	w.multiply(e.set, &th.scratch, dst, n, r0, r1-r0, in, s.tokens, add)
	if bias != nil {
		addBias(dst, n, bias[r0:r1], s.tokens)
	}
}

// doGateUp does rows r0 to r1-1 of gate and up, at most gateUpRows, and joins
// them. next is what the next stage will read.
func (e *Engine) doGateUp(th *thread, s stage, in *vectors, r0, r1 int, next []byte) {
	b, n := &e.blocks[s.layer], r1-r0
	e.set.Prefetch(b.up.lines(r0)) // the kernel's own prefetching goes on in gate
	gate, up := th.gate[:n*s.tokens], th.up[:n*s.tokens]
	b.gate.multiply(e.set, &th.scratch, gate, n, r0, n, in, s.tokens, false)
	b.up.multiply(e.set, &th.scratch, up, n, r0, n, in, s.tokens, false)
	if b.GateB != nil {
		addBias(gate, n, b.GateB[r0:r1], s.tokens)
	}
	if b.UpB != nil {
		addBias(up, n, b.UpB[r0:r1], s.tokens)
	}
	if s.tokens == 1 {
		e.set.Prefetch(next) // while there is only computing to do
	}
	h := b.h.of(s.tokens)
	for t := range s.tokens {
		y := h.floats[t*b.FFN+r0:][:n]
		e.gate(y, gate[t*n:][:n], up[t*n:][:n])
		if h.panel != nil {
			e.set.Quantize(h.panel, t, r0/kernel.Block, y[:n&^(kernel.Block-1)])
		}
	}
}

// doHead writes logits and the largest of each unit.
func (e *Engine) doHead(th *thread, s stage, in *vectors, lo, hi int) {
	r0, r1 := lo*headRows, min(hi*headRows, e.m.Vocab)
	e.output.multiply(e.set, &th.scratch, e.logits[r0:], e.m.Vocab, r0, r1-r0, in, s.tokens, false)
	for u := lo; u < hi; u++ {
		v, finite := e.set.Max(e.logits[u*headRows : min((u+1)*headRows, e.m.Vocab)])
		e.tops[u] = top{v, finite}
	}
}

// Ahead implements threads.Body: while a thread waits for the others, the first
// lines of its part of the next matrix come in.
func (e *Engine) Ahead(tid, number int, of any) {
	e.set.Prefetch(of.(*pass).ahead[number][tid])
}

// bytesOf views floats as bytes.
func bytesOf(x []float32) []byte {
	if len(x) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&x[0])), 4*len(x))
}

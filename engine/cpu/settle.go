package cpu

// Where the architecture norms what attention and the feed-forward add to the residual
// stream, the sum has to wait until all of the vector is there. It waits in Engine.added
// for the stage that norms the residual stream next, which adds it first: so that
// there is no stage, and no wait of the threads for each other, for it alone. For
// one token each thread adds for itself, as it norms for itself, and who has the first
// unit leaves the new residual stream for the stages behind: in another buffer, since
// others may still read the old one.

// waiting is the norm of the sum that waits, while a pass is planned, and in which of the
// two buffers the residual stream of one token is.
type waiting struct {
	post   []float32
	stream int
}

// pass gives stage s of e what waits for it, and notes what s leaves.
func (w *waiting) pass(s *stage, e *Engine) {
	s.stream = w.stream
	switch s.kind {
	case project:
		w.post = e.blocks[s.layer].AttnPostNorm
	case down:
		w.post = e.blocks[s.layer].FFNPostNorm
	case normAttn, normFFN:
		s.post, w.post = w.post, nil
	case qkv, gateUp, head:
		if s.tokens == 1 && w.post != nil {
			s.post, w.post = w.post, nil
			w.stream = 1 - w.stream
		}
	}
}

// stream returns the residual stream of one token that is stage s's, before what waits
// is added, or after.
func (e *Engine) stream(s stage, after bool) []float32 {
	n := e.m.Hidden
	if (s.stream == 1) != (after && s.post != nil) {
		return e.spare
	}
	return e.x[s.first*n : (s.first+1)*n]
}

// settle adds the norm of sum, weighted by post, to x and writes that to dst, which
// may be x. room is for the norm.
func (e *Engine) settle(dst, x, sum, post, room []float32) {
	e.set.RMSNorm(room, sum, post, e.m.RMSEps)
	for i, v := range room {
		dst[i] = x[i] + v
	}
}

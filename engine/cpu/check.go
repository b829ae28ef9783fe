package cpu

import (
	"math"

	"github.com/introgen/introgen/engine"
)

// findNonFinite runs a step whose logits are not finite again, on one thread, looking
// at the residual stream after each stage that adds to it, and returns the error that
// says where the first value went wrong: nil where none has. It costs nothing until
// something has.
func (e *Engine) findNonFinite(ids []int32, pos int) error {
	for n := ceil(len(ids), chunk); n > 0; n-- {
		size := ceil(len(ids), n)
		if err := e.prepare(ids[:size], pos, n == 1); err != nil {
			return err
		}
		if err := guard(func() error { return e.checkedPass(size) }); err != nil {
			return err
		}
		ids, pos = ids[size:], pos+size
	}
	return nil
}

// checkedPass does the prepared pass of so many tokens and checks it.
func (e *Engine) checkedPass(tokens int) error {
	x := e.x[:tokens*e.m.Hidden]
	if v, ok := e.firstOverflow(x); ok {
		return &engine.NonFiniteError{Layer: -1, Where: "embedding", Value: v}
	}
	var last engine.NonFiniteError // what added to the residual stream last
	for i, s := range e.cur.stages {
		e.Do(0, i, 0, e.units(s))
		looked := x
		switch s.kind {
		case project:
			last = engine.NonFiniteError{Layer: s.layer, Where: "attention"}
		case down:
			last = engine.NonFiniteError{Layer: s.layer, Where: "feed-forward"}
		default:
			if s.post == nil { // the residual stream is as it was
				looked = nil
			} else if s.tokens == 1 {
				looked = e.stream(s, true)
			}
		}
		if e.added != nil && (s.kind == project || s.kind == down) {
			looked = e.added[:s.tokens*e.m.Hidden]
		}
		if v, ok := e.firstOverflow(looked); ok {
			last.Value = v
			return &last
		}
		if s.kind == head {
			if v, ok := firstNonFinite(e.logits); ok {
				return &engine.NonFiniteError{Layer: -1, Where: "output", Value: v}
			}
		}
	}
	return nil
}

// firstOverflow returns the first value of the residual streams x that is not
// finite, or the largest of a stream whose squares are too large for a norm.
func (e *Engine) firstOverflow(x []float32) (float32, bool) {
	if v, ok := firstNonFinite(x); ok {
		return v, true
	}
	for n := e.m.Hidden; len(x) > 0; x = x[n:] {
		sum, largest := 0.0, float32(0)
		for _, v := range x[:n] {
			sum += float64(v) * float64(v)
			if math.Abs(float64(v)) > math.Abs(float64(largest)) {
				largest = v
			}
		}
		if sum > math.MaxFloat32 {
			return largest, true
		}
	}
	return 0, false
}

// firstNonFinite returns the first value that is NaN or infinite.
func firstNonFinite(x []float32) (float32, bool) {
	for _, v := range x {
		if v-v != 0 {
			return v, true
		}
	}
	return 0, false
}

package cpu

import (
	"math"

	"github.com/introgen/introgen/engine"
)

// findNonFinite runs a step whose logits are not finite again, on one thread,
// looking at the residual stream after each stage that adds to it, and returns
// the error that says where the first value went wrong. It costs nothing until
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
	return &engine.NonFiniteError{Layer: -1, Where: "output", Value: float32(math.NaN())}
}

// checkedPass does the prepared pass of so many tokens and checks it.
func (e *Engine) checkedPass(tokens int) error {
	x := e.x[:tokens*e.m.Hidden]
	if v, ok := firstNonFinite(x); ok {
		return &engine.NonFiniteError{Layer: -1, Where: "embedding", Value: v}
	}
	for i, s := range e.cur.stages {
		e.Do(0, i, 0, e.units(s))
		switch s.kind {
		case project:
			if v, ok := firstNonFinite(x); ok {
				return &engine.NonFiniteError{Layer: s.layer, Where: "attention", Value: v}
			}
		case down:
			if v, ok := firstNonFinite(x); ok {
				return &engine.NonFiniteError{Layer: s.layer, Where: "feed-forward", Value: v}
			}
		case head:
			if v, ok := firstNonFinite(e.logits); ok {
				return &engine.NonFiniteError{Layer: -1, Where: "output", Value: v}
			}
		}
	}
	return nil
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

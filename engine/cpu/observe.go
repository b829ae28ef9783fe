package cpu

import "time"

// Observer is told what the threads of an engine do, and when.
type Observer interface {
	// Now is the clock of all times that Passed is given. Any thread calls it.
	Now() time.Duration
	// Passed is called when a pass has ended, or the packing of the weights, by the
	// goroutine that wanted it: the operations that it is made of, and what each
	// thread did of them, in order. A prompt of more than 64 tokens is several
	// passes. Both slices are the engine's again when Passed returns. A pass that
	// failed is not told.
	Passed(operations []Operation, work [][]Work)
}

// Work is what a thread did of an operation without a break.
type Work struct {
	Operation  int           // its place among the operations of the pass
	Start, End time.Duration // by the observer's clock
}

// breath is how short a break between two parts of an operation is none: to claim
// the next part takes some 150 ns, and to look at the clock as much again.
const breath = time.Microsecond

// watch is what is seen of a thread in the pass under way.
type watch struct {
	work []Work
	// settled is when the thread had added what waited for a stage to the residual
	// stream, and normed when it had computed the norm that its part of the stage
	// starts from; 0 where it did not.
	settled, normed time.Duration
	_               [128]byte // keep threads off each other's cache lines
}

// watched does the work of an engine, and looks at the clock before and after it.
// An engine that nobody observes does its work itself.
type watched struct{ e *Engine }

// Do implements threads.Body.
func (o watched) Do(tid, number, lo, hi int) {
	w := o.e.threads[tid].watch
	w.settled, w.normed = 0, 0
	start := o.e.opt.Observer.Now()
	o.e.Do(tid, number, lo, hi)
	end := o.e.opt.Observer.Now()
	at := o.e.cur.places[number]
	if w.settled > 0 {
		w.add(at.post, start, w.settled)
		start = w.settled
	}
	if w.normed > 0 {
		w.add(at.norm, start, w.normed)
		start = w.normed
	}
	w.add(at.own, start, end)
}

// Ahead implements threads.Body.
func (o watched) Ahead(tid, number int, of any) { o.e.Ahead(tid, number, of) }

// add notes a part of an operation, as one with the part before it where they belong
// together.
func (w *watch) add(operation int, start, end time.Duration) {
	if n := len(w.work); n > 0 && w.work[n-1].Operation == operation && start-w.work[n-1].End < breath {
		w.work[n-1].End = end
		return
	}
	w.work = append(w.work, Work{operation, start, end})
}

// observe begins to look at the pass that is prepared next.
func (e *Engine) observe() {
	for i := range e.threads {
		e.threads[i].watch.work = e.threads[i].watch.work[:0]
	}
}

// observed tells what was seen of the pass of so many tokens that has ended.
func (e *Engine) observed(tokens int) {
	work := make([][]Work, len(e.threads))
	for i := range e.threads {
		work[i] = e.threads[i].watch.work
	}
	e.opt.Observer.Passed(e.operations(e.cur, tokens), work)
}

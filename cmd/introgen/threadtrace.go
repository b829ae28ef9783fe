package main

import (
	"slices"
	"time"

	"github.com/introgen/introgen/engine/cpu"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace"
)

// threadTrace observes the CPU engine, and makes events of what it saw between the
// passes: what is written during a pass would slow it down.
type threadTrace struct {
	rec  *trace.Recorder
	seen []seenPass
	ids  map[cpu.Operation]int // of the operations that have been told
}

// seenPass is a pass that has not been told yet.
type seenPass struct {
	span       trace.ID // in which it took place
	operations []cpu.Operation
	work       [][]cpu.Work
}

func newThreadTrace(rec *trace.Recorder) *threadTrace {
	return &threadTrace{rec: rec, ids: map[cpu.Operation]int{}}
}

// Now implements cpu.Observer.
func (t *threadTrace) Now() time.Duration { return t.rec.Now() }

// Passed implements cpu.Observer.
func (t *threadTrace) Passed(operations []cpu.Operation, work [][]cpu.Work) {
	p := seenPass{span: t.rec.Current(), operations: slices.Clone(operations), work: make([][]cpu.Work, len(work))}
	for i, w := range work {
		p.work[i] = slices.Clone(w)
	}
	t.seen = append(t.seen, p)
}

// tell puts the passes that were seen since it was called last: of each span what
// each thread did in it, after the operations that had not been told, in their order in
// a pass.
func (t *threadTrace) tell(put func(recording.Event)) {
	for i := 0; i < len(t.seen); {
		n := i + 1
		for n < len(t.seen) && t.seen[n].span == t.seen[i].span { // a long prompt is several passes
			n++
		}
		t.tellSpan(t.seen[i:n], put)
		i = n
	}
	t.seen = t.seen[:0]
}

func (t *threadTrace) tellSpan(passes []seenPass, put func(recording.Event)) {
	var threads []*recording.Executed
	for _, p := range passes {
		for _, o := range p.operations {
			t.id(o, put)
		}
		for tid, work := range p.work {
			if tid == len(threads) {
				threads = append(threads, &recording.Executed{Span: p.span, Track: tid})
			}
			e := threads[tid]
			for _, w := range work {
				e.Operations = append(e.Operations, t.id(p.operations[w.Operation], put))
				e.Start = append(e.Start, int64(w.Start))
				e.Time = append(e.Time, int64(w.End-w.Start))
			}
		}
	}
	for _, e := range threads {
		if len(e.Operations) > 0 {
			put(e)
		}
	}
}

// id is the number of an operation, which is told when it is asked for first.
func (t *threadTrace) id(o cpu.Operation, put func(recording.Event)) int {
	id, told := t.ids[o]
	if !told {
		id = len(t.ids) + 1
		t.ids[o] = id
		put(&recording.Operation{ID: id, Layer: o.Layer, Name: o.Name, Library: o.Set, Kernel: o.Kernel, Read: o.Read, Written: o.Written, Ops: o.Ops})
	}
	return id
}

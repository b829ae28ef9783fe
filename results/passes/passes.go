// Package passes sums up what the threads of the CPU engine did in the passes of a
// traced run: each operation over all layers, held against what the machine can do at
// the most, and how much of the time each thread worked.
package passes

import (
	"cmp"
	"slices"
	"time"

	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// Passes is what the threads of a run did.
type Passes struct {
	Phases []Phase // those in which threads worked: build model where weights were packed, prefill, decode step
	Number int     // of threads
	// Memory and Float32 are what the machine can do at the most, and Observing how
	// often a thread can tell what it does in a second; nil where the run did not
	// measure it.
	Memory, Float32, Observing *recording.Limit
	Observations               int64         // that threads made, each of two looks at the clock
	Writing                    time.Duration // of the recording between passes
}

// Phase is what all phases of a name did, over all rounds.
type Phase struct {
	Name       string // a span's
	Times      int
	Passes     int             // of the model in them: a long prompt takes several
	Wall       time.Duration   // of all of them
	Busy       []time.Duration // of each thread
	Operations []Operation     // in the order of a pass

	at map[named]int // where in Operations
}

// named is what tells operations apart: a file may name many.
type named struct{ name, library, kernel string }

// Operation is what was done of an operation by one kernel, in all layers.
type Operation struct {
	// Library is the instruction set of the kernel.
	Name, Library, Kernel string

	Times   int64         // in how many passes and layers
	Working time.Duration // of all threads together
	// Elapsed is from when the first thread began with it until the last one had
	// done its part, of each time: what its bytes are divided by.
	Elapsed            time.Duration
	Read, Written, Ops int64
	first              int64 // when it began for the first time
}

// Of sums up a run; nil where no threads were observed in it.
func Of(run *breakdown.Run) *Passes {
	bySpan := map[trace.ID][]*recording.Executed{}
	t := &Passes{}
	for _, e := range run.Executed {
		if !e.Timed() {
			continue
		}
		bySpan[e.Span] = append(bySpan[e.Span], e)
	}
	operations := map[int]*recording.Operation{}
	for _, o := range run.Operations {
		operations[o.ID] = o
	}
	at := map[string]int{}
	for _, r := range run.Rounds {
		for _, p := range r.Phases {
			if p.Name == names.SpanRecord {
				t.Writing += p.Time()
			}
			executed := bySpan[p.ID]
			if len(executed) == 0 || p.Open {
				continue
			}
			i, ok := at[p.Name]
			if !ok {
				i = len(t.Phases)
				at[p.Name] = i
				t.Phases = append(t.Phases, Phase{Name: p.Name, at: map[named]int{}})
			}
			t.add(&t.Phases[i], p, executed, operations)
		}
	}
	if len(t.Phases) == 0 {
		return nil
	}
	t.Memory, t.Float32, t.Observing = run.Limit(recording.LimitMemory), run.Limit(recording.LimitFloat32), run.Limit(recording.LimitObserved)
	for i := range t.Phases {
		p := &t.Phases[i]
		p.Busy = append(p.Busy, make([]time.Duration, t.Number-len(p.Busy))...)
		slices.SortStableFunc(p.Operations, func(a, b Operation) int { return cmp.Compare(a.first, b.first) })
	}
	return t
}

// once is an operation of one of the passes of a phase.
type once struct{ operation, pass int }

// add adds a phase, which is several passes where its prompt is long.
func (t *Passes) add(sum *Phase, p breakdown.Phase, executed []*recording.Executed, operations map[int]*recording.Operation) {
	sum.Times++
	sum.Wall += p.Time()
	begins := beginnings(executed, operations)
	sum.Passes += max(1, len(begins))
	elapsed := map[once]interval{}
	for _, e := range executed {
		t.Number = max(t.Number, e.Track+1)
		t.Observations += int64(len(e.Start))
		sum.Busy = append(sum.Busy, make([]time.Duration, max(0, e.Track+1-len(sum.Busy)))...)
		for i, id := range e.Operations {
			o := operations[id]
			if o == nil {
				continue
			}
			start, took := e.Start[i], e.Time[i]
			sum.Busy[e.Track] += time.Duration(took)
			of := sum.operation(o, start)
			of.Working += time.Duration(took)
			pass, _ := slices.BinarySearch(begins, start+1)
			key := once{id, pass}
			between, known := elapsed[key]
			if !known {
				between = interval{start, start + took}
				of.Times++
				of.Read, of.Written, of.Ops = of.Read+o.Read, of.Written+o.Written, of.Ops+o.Ops
			}
			elapsed[key] = interval{min(between.from, start), max(between.to, start+took)}
		}
	}
	for key, between := range elapsed {
		sum.operation(operations[key.operation], between.from).Elapsed += time.Duration(between.to - between.from)
	}
}

// interval is a stretch of time, in nanoseconds on the run's clock.
type interval struct{ from, to int64 }

// beginnings is when the passes of a phase begin: each with its tokens' embedding, on the
// first thread.
func beginnings(executed []*recording.Executed, operations map[int]*recording.Operation) (begins []int64) {
	for _, e := range executed {
		for i, id := range e.Operations {
			if o := operations[id]; o != nil && o.Name == embedding {
				begins = append(begins, e.Start[i])
			}
		}
	}
	slices.Sort(begins)
	return begins
}

// embedding is the name of the first operation of a pass (package engine/cpu).
const embedding = "token_embd"

// operation is the sum that an operation belongs to, which began at start.
func (p *Phase) operation(o *recording.Operation, start int64) *Operation {
	i, ok := p.at[named{o.Name, o.Library, o.Kernel}]
	if !ok {
		i = len(p.Operations)
		p.at[named{o.Name, o.Library, o.Kernel}] = i
		p.Operations = append(p.Operations, Operation{Name: o.Name, Library: o.Library, Kernel: o.Kernel, first: start})
	}
	p.Operations[i].first = min(p.Operations[i].first, start)
	return &p.Operations[i]
}

// Whole is a phase as one operation: all that it read, wrote and computed in its
// wall clock.
func (p *Phase) Whole() Operation {
	w := Operation{Name: p.Name, Times: int64(p.Times), Elapsed: p.Wall}
	for _, o := range p.Operations {
		w.Working += o.Working
		w.Read, w.Written, w.Ops = w.Read+o.Read, w.Written+o.Written, w.Ops+o.Ops
	}
	return w
}

// Cost is how long a thread told what it did, and the share of the time of all passes
// that this is; ok is false where the run did not measure what telling costs.
func (t *Passes) Cost() (each time.Duration, share float64, ok bool) {
	if t.Observing == nil {
		return 0, 0, false
	}
	each = time.Duration(1e9 / t.Observing.Median)
	var wall time.Duration
	for _, p := range t.Phases {
		wall += p.Wall
	}
	return each, float64(t.Observations) / t.Observing.Median / max(1e-9, float64(t.Number)*wall.Seconds()), true
}

package steps

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/stats"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// operation tells operations apart that are the same work in each step. Those of the
// attention have a number of their own in each, since what they read grows.
type operation struct {
	layer        int
	name, kernel string
}

func (o operation) String() string {
	if o.layer == recording.NoLayer {
		return o.name
	}
	return fmt.Sprintf("%s of layer %d", o.name, o.layer)
}

// ran is one time that an operation ran, or a thread's share of it.
type ran struct {
	operation
	track       int
	start, took time.Duration
}

// observed is what ran in each of a round's later steps, where the run was traced.
type observed struct {
	in    [][]ran // by the place of the step
	usual map[operation]time.Duration
	idle  time.Duration // in the median of the steps
}

// tracing is what a run says of its operations, made ready once for all of its rounds,
// of which there may be thousands.
type tracing struct {
	operations map[int]operation
	executed   []executed // in the order in which their spans began
}

// executed is what ran in a span, and when that began.
type executed struct {
	*recording.Executed
	begin time.Duration
}

func traced(run *breakdown.Run) *tracing {
	t := &tracing{operations: map[int]operation{}}
	for _, o := range run.Operations {
		t.operations[o.ID] = operation{o.Layer, o.Name, o.Kernel}
	}
	for _, e := range run.Executed {
		if s, ok := spanOf(run, e.Span); ok && e.Timed() {
			t.executed = append(t.executed, executed{e, s.Start})
		}
	}
	slices.SortStableFunc(t.executed, func(a, b executed) int { return cmp.Compare(a.begin, b.begin) })
	return t
}

// between is what ran in spans that began then.
func (t *tracing) between(begin, end time.Duration) []executed {
	first := func(from time.Duration) int {
		i, _ := slices.BinarySearchFunc(t.executed, from, func(e executed, from time.Duration) int { return cmp.Compare(e.begin, from) })
		return i
	}
	return t.executed[first(begin):first(end)]
}

// observe finds what ran in which of the steps, which are in order. It is nil where
// nothing is recorded.
func (t *tracing) observe(run *breakdown.Run, later []breakdown.Phase) *observed {
	at := map[trace.ID]int{}
	for i, p := range later {
		at[p.ID] = i
	}
	o := &observed{in: make([][]ran, len(later)), usual: map[operation]time.Duration{}}
	took, found := map[operation][]float64{}, false
	for _, e := range t.between(later[0].Start, later[len(later)-1].End) {
		i, ok := stepOf(run, later, at, e.Span)
		if !ok {
			continue
		}
		for k, id := range e.Operations {
			r := ran{t.operations[id], e.Track, time.Duration(e.Start[k]), time.Duration(e.Time[k])}
			o.in[i] = append(o.in[i], r)
			took[r.operation] = append(took[r.operation], float64(r.took))
			found = true
		}
	}
	if !found {
		return nil
	}
	for key, all := range took {
		o.usual[key] = time.Duration(stats.Median(all))
	}
	idle := make([]float64, len(later))
	for i, p := range later {
		idle[i] = float64(o.idleIn(i, p))
	}
	o.idle = time.Duration(stats.Median(idle))
	return o
}

// stepOf is the step in which something was executed: the span itself, or on a device
// the one in which its command buffer began to run.
func stepOf(run *breakdown.Run, later []breakdown.Phase, at map[trace.ID]int, span trace.ID) (int, bool) {
	if i, ok := at[span]; ok {
		return i, true
	}
	s, ok := spanOf(run, span)
	if !ok || s.Name != names.SpanGPU {
		return 0, false
	}
	start := s.Start
	i, exact := slices.BinarySearchFunc(later, start, func(p breakdown.Phase, t time.Duration) int { return cmp.Compare(p.Start, t) })
	if !exact {
		i--
	}
	return i, i >= 0 && start < later[i].End
}

func spanOf(run *breakdown.Run, id trace.ID) (trace.Record, bool) {
	k, ok := slices.BinarySearchFunc(run.Spans, id, func(s trace.Record, id trace.ID) int { return cmp.Compare(s.ID, id) })
	if !ok {
		return trace.Record{}, false
	}
	return run.Spans[k], true
}

// idleIn is for how long nothing ran in a step on any track.
func (o *observed) idleIn(i int, p breakdown.Phase) time.Duration {
	in := slices.SortedFunc(slices.Values(o.in[i]), func(a, b ran) int { return cmp.Compare(a.start, b.start) })
	idle, until := time.Duration(0), p.Start
	for _, r := range in {
		idle += max(0, r.start-until)
		until = max(until, r.start+r.took)
	}
	return idle + max(0, p.End-until)
}

// causes are the operations that took longer than usual in the step at i, each where
// that is at least so much, or else all of a track together.
func (o *observed) causes(i int, p breakdown.Phase, least time.Duration) []Cause {
	if o == nil {
		return nil
	}
	type key struct {
		operation
		track int
	}
	longer, all := map[key]time.Duration{}, map[int]time.Duration{}
	for _, r := range o.in[i] {
		more := r.took - o.usual[r.operation]
		all[r.track] += more
		if more >= least && more > 0 {
			longer[key{r.operation, r.track}] += more
		}
	}
	thread := func(track int) int {
		if len(all) < 2 {
			return NoThread
		}
		return track
	}
	var out []Cause
	for k, more := range longer {
		out = append(out, Cause{Kind: Operation, Time: more, Name: k.String(), Thread: thread(k.track)})
	}
	slices.SortFunc(out, func(a, b Cause) int { return cmp.Or(longest(a, b), cmp.Compare(a.Name, b.Name), a.Thread-b.Thread) })
	out = out[:min(told, len(out))]
	if len(out) == 0 {
		track, most := 0, time.Duration(0)
		for t, more := range all {
			if more > most || more == most && t < track {
				track, most = t, more
			}
		}
		if most >= least && most > 0 {
			out = append(out, Cause{Kind: Operation, Time: most, Thread: thread(track)})
		}
	}
	// A step with parts has those of the CPU, and the rest of them.
	if more := o.idleIn(i, p) - o.idle; more >= least && more > 0 && len(p.Parts()) == 0 && !p.Lost {
		out = append(out, Cause{Kind: Idle, Time: more})
	}
	return out
}

// NoThread is the Thread of a cause that is of none, or of the only one.
const NoThread = -1

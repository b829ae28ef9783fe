package recording

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// Operation is what one dispatch, or one stage of a pass on the CPU, computes. It
// is told once, before the first Executed that names it; only of traced runs.
type Operation struct {
	ID    int    `json:"id"`    // from 1, in the order in which they are told
	Layer int    `json:"layer"` // the block, from 0; NoLayer outside of the blocks
	Name  string `json:"name"`  // in the model's terms: "attn_norm", "attn_q", "attention", "ffn_down", "output" …
	// Library is of Metal, of the CPU engine the instruction set of its kernel. Kernel is
	// the function, of a copy names.Blit; of the CPU engine the name of its kernel.
	Library string   `json:"library,omitempty"`
	Kernel  string   `json:"kernel"`
	Grid    [3]int64 `json:"grid,omitzero"`     // threadgroups, or threads
	Group   [3]int64 `json:"group,omitzero"`    // threads of one threadgroup
	Threads bool     `json:"threads,omitempty"` // whether Grid counts threads
	Read    int64    `json:"read_bytes"`        // of buffers, each byte once
	Written int64    `json:"written_bytes"`     // the same
	Ops     int64    `json:"operations"`        // on numbers; a multiply-add is two
	Unknown bool     `json:"unknown,omitempty"` // nobody knows the bytes and the operations of this kernel
}

// NoLayer is the Layer of an operation outside of the blocks.
const NoLayer = -1

// Executed is when operations ran, in order; only of traced runs.
type Executed struct {
	// Span is on Metal the span "gpu" of the command buffer; of the CPU engine that
	// of the pass: prefill, decode step or, of what is packed, build model.
	Span       trace.ID `json:"span"`
	Track      int      `json:"track,omitempty"` // of the CPU engine: the thread, from 0
	Operations []int    `json:"operations"`      // their IDs
	// Start is when each began, on the run's clock, and Time how long it took. Both
	// are empty where the device cannot tell: then only the order is known.
	Start []int64 `json:"start_ns"`
	Time  []int64 `json:"ns"`
}

// Timed says whether it is known when each operation ran.
func (e *Executed) Timed() bool { return len(e.Start) > 0 }

// What a machine is limited by: Limit.What.
const (
	LimitMemory  = "memory read" // bytes a second
	LimitFloat32 = "float32"     // operations on float32 a second
	// LimitObserved is how many times a second a thread of the CPU engine could tell
	// what it does: what telling costs.
	LimitObserved = "observations"
)

// Limit is the most that this machine can do, measured by the run itself after its
// last round; only of traced runs.
type Limit struct {
	What    string  `json:"what"` // one of the Limit constants
	Threads int     `json:"threads"`
	Best    float64 `json:"best"`   // a second
	Median  float64 `json:"median"` // a second
	Samples int     `json:"samples"`
	Kernel  string  `json:"kernel"`                // that measured it: "avx512"
	Bytes   int64   `json:"bytes,omitempty"`       // that were read each time
	Cache   int64   `json:"cache_bytes,omitempty"` // the last-level cache of the machine; 0 unknown
}

// Limit is what the run measured of the limit, of those of several numbers of
// threads the highest; nil where it did not.
func (r *Run) Limit(what string) *Limit {
	var out *Limit
	for _, l := range r.Limits {
		if l.What == what && (out == nil || l.Best > out.Best) {
			out = l
		}
	}
	return out
}

// clockTolerance is by how much the times of one clock may differ once they are
// those of another: how long it takes to read both.
const clockTolerance = 20 * time.Microsecond

func (o *Operation) check() error {
	switch {
	case o.ID < 1 || o.Layer < NoLayer || o.Name == "" || o.Kernel == "":
		return fmt.Errorf("operation %d, %q of layer %d by the kernel %q: numbers begin at 1, layers at %d, and names are wanted", o.ID, o.Name, o.Layer, o.Kernel, NoLayer)
	case o.Read < 0 || o.Written < 0 || o.Ops < 0 || slices.Min(o.Grid[:]) < 0 || slices.Min(o.Group[:]) < 0:
		return fmt.Errorf("operation %d reads %d bytes, writes %d and makes %d operations on the grid %v of %v: no negative number is wanted", o.ID, o.Read, o.Written, o.Ops, o.Grid, o.Group)
	case o.Unknown && (o.Read != 0 || o.Written != 0 || o.Ops != 0):
		return fmt.Errorf("operation %d is of unknown cost, and reads %d bytes, writes %d and makes %d operations", o.ID, o.Read, o.Written, o.Ops)
	}
	return within(o, slices.Concat([]int64{int64(o.ID), int64(o.Layer), o.Read, o.Written, o.Ops}, o.Grid[:], o.Group[:])...)
}

func (e *Executed) check() error {
	n := len(e.Operations)
	switch {
	case e.Span < 1 || e.Track < 0 || e.Track > maxTrack || n == 0:
		return fmt.Errorf("%d operations ran in span %d on track %d: at least one, a span, and a track from 0 to %d are wanted", n, e.Span, e.Track, maxTrack)
	case len(e.Start) != len(e.Time) || len(e.Start) != n && len(e.Start) != 0:
		return fmt.Errorf("%d operations of span %d begin at %d times and take %d: as many of each are wanted, or no times", n, e.Span, len(e.Start), len(e.Time))
	}
	if err := within(e, slices.Concat(e.Start, e.Time)...); err != nil {
		return err
	}
	if id := slices.Min(e.Operations); id < 1 {
		return fmt.Errorf("operation %d ran in span %d: numbers begin at 1", id, e.Span)
	}
	last := int64(0)
	for i, start := range e.Start {
		switch {
		case e.Time[i] < 0 || start < 0:
			return fmt.Errorf("operation %d of span %d begins at %d and takes %d ns: no negative time is wanted", e.Operations[i], e.Span, start, e.Time[i])
		case start < last-int64(clockTolerance):
			return fmt.Errorf("operation %d of span %d begins at %d ns, before the one before it has ended at %d", e.Operations[i], e.Span, start, last)
		}
		last = max(last, start+e.Time[i])
	}
	return nil
}

// maxTrack bounds the number of a thread.
const maxTrack = 1 << 16

func (l *Limit) check() error {
	if l.Threads < 1 || l.Samples < 1 || l.Bytes < 0 || l.Cache < 0 || !(l.Median >= 1) || l.Best < l.Median || l.Best > maxAmount {
		return fmt.Errorf("limit of %s by %d threads: %g at the best and %g in the middle of %d: at least one thread, one sample and 1 a second, and at the best no less than in the middle, are wanted", l.What, l.Threads, l.Best, l.Median, l.Samples)
	}
	return within(l, int64(l.Threads), int64(l.Samples), l.Bytes, l.Cache)
}

// kernelCost looks at what a kernel read, wrote and computed.
func (k *Kernel) kernelCost() error {
	if k.Read < 0 || k.Written < 0 || k.Ops < 0 || k.Unknown < 0 || k.Unknown > k.Dispatches {
		return fmt.Errorf("kernel %q reads %d bytes, writes %d and makes %d operations, with %d of %d dispatches of unknown cost: it cannot be", k.Name, k.Read, k.Written, k.Ops, k.Unknown, k.Dispatches)
	}
	return nil
}

// knows says whether all operations of e have been told.
func (g *gathering) knows(e *Executed) bool {
	return !slices.ContainsFunc(e.Operations, func(id int) bool { return !g.operations[id] })
}

// operations looks at operations and at when they ran.
func (j *judge) operations() {
	told := map[int]int{}
	for _, o := range j.Operations {
		told[o.ID]++
	}
	j.Operations = slices.DeleteFunc(j.Operations, func(o *Operation) bool {
		n := told[o.ID]
		if n > 1 {
			j.tell("operation", "operation %d is told %d times: none counts", o.ID, n)
		}
		return n > 1
	})
	for i, o := range j.Operations {
		if o.ID != i+1 && len(told) == len(j.Operations) {
			j.tell("operation order", "operation %d is told as number %d: one is missing, or out of order", o.ID, i+1)
			break
		}
	}
	// Operations that lines tell out of order count, and are found by their IDs all the same.
	slices.SortStableFunc(j.Operations, func(a, b *Operation) int { return cmp.Compare(a.ID, b.ID) })
	at, ran := j.byID(), map[place]int{}
	for _, e := range j.Executed {
		ran[place{e.Span, e.Track}]++
	}
	sound := len(j.Executed)
	j.Executed = slices.DeleteFunc(j.Executed, func(e *Executed) bool {
		err := j.misplaced(e, at, told, ran[place{e.Span, e.Track}])
		if err != nil {
			j.tell("executed", "%v: they do not count", err)
		}
		return err != nil
	})
	j.limits()
	if sound == len(j.Executed) {
		j.executedAll()
	}
}

// place is a span and a thread.
type place struct {
	span  trace.ID
	track int
}

// misplaced says why the operations that ran cannot have run there.
func (j *judge) misplaced(e *Executed, at map[trace.ID]trace.Record, told map[int]int, times int) error {
	s, ok := at[e.Span]
	what := fmt.Sprintf("%d operations of span %d", len(e.Operations), e.Span)
	switch {
	case !ok:
		return fmt.Errorf("%s, which is missing, ran", what)
	case !slices.Contains([]string{names.SpanGPU, names.SpanBuild, names.SpanPrefill, names.SpanStep}, s.Name):
		return fmt.Errorf("%s ran in %s, which runs none", what, called(s))
	case s.Name == names.SpanGPU && e.Track != 0:
		return fmt.Errorf("%s ran on track %d of a device that has one", what, e.Track)
	case times > 1:
		return fmt.Errorf("%s on track %d stand there %d times", what, e.Track, times)
	}
	dispatches := int64(0)
	for _, id := range e.Operations {
		if told[id] != 1 {
			return fmt.Errorf("%s ran with operation %d, which is told %d times", what, id, told[id])
		}
		if j.operation(id).Kernel != names.Blit {
			dispatches++
		}
	}
	if s.Name == names.SpanGPU && dispatches != s.N {
		return fmt.Errorf("%s of %d dispatches are those of %s, which has %d", what, dispatches, called(s), s.N)
	}
	if !e.Timed() {
		return nil
	}
	last := len(e.Start) - 1
	begin, end := time.Duration(e.Start[0]), time.Duration(e.Start[last]+e.Time[last])
	if begin < s.Start-clockTolerance || s.End >= 0 && end > s.End+clockTolerance {
		return fmt.Errorf("%s ran from %d to %d ns, outside of %s", what, int64(begin), int64(end), called(s))
	}
	return nil
}

// operation is the operation of the number, which there is.
func (j *judge) operation(id int) *Operation {
	if i := id - 1; i < len(j.Operations) && j.Operations[i].ID == id {
		return j.Operations[i]
	}
	i, _ := slices.BinarySearchFunc(j.Operations, id, func(o *Operation, id int) int { return o.ID - id })
	return j.Operations[i]
}

// limits takes out what is said of one limit more than once.
func (j *judge) limits() {
	type limit struct {
		what    string
		threads int
	}
	said := map[limit]int{}
	for _, l := range j.Limits {
		said[limit{l.What, l.Threads}]++
	}
	j.Limits = slices.DeleteFunc(j.Limits, func(l *Limit) bool {
		n := said[limit{l.What, l.Threads}]
		if n > 1 {
			j.tell("limit", "the limit %q by %d threads stands there %d times: none counts", l.What, l.Threads, n)
		} else if l.What != LimitMemory && l.What != LimitFloat32 && l.What != LimitObserved {
			j.tell("limit of", "the limit %q is not known: no figure is made of it", l.What)
		}
		return n > 1
	})
}

// executedAll holds what is said of each kernel over the run to its operations,
// where a run on a device that ended well has them all.
func (j *judge) executedAll() {
	if len(j.Executed) == 0 || len(j.Kernels) == 0 || j.End == nil || j.End.Code != 0 || j.LostSpans() > 0 {
		return
	}
	sums, timed := map[string]*Kernel{}, true
	for _, e := range j.Executed {
		timed = timed && e.Timed()
		for i, id := range e.Operations {
			o := j.operation(id)
			k := sums[o.Kernel]
			if k == nil {
				k = &Kernel{Name: o.Kernel}
				sums[o.Kernel] = k
			}
			k.Dispatches, k.Read, k.Written, k.Ops = k.Dispatches+1, k.Read+o.Read, k.Written+o.Written, k.Ops+o.Ops
			if o.Unknown {
				k.Unknown++
			}
			if e.Timed() {
				k.Time += e.Time[i]
			}
		}
	}
	for _, k := range j.Kernels {
		sum := sums[k.Name]
		if sum != nil && !timed {
			k.Time, sum.Time = 0, 0 // some of its dispatches have none
		}
		if sum == nil || *sum != k {
			j.tell("executed kernels", "the kernel %q is said to have done %s, and its operations did %s", k.Name, k.done(), sum.done())
		}
	}
}

func (k *Kernel) done() string {
	if k == nil {
		return "nothing"
	}
	return fmt.Sprintf("%d dispatches in %d ns that read %d bytes, wrote %d and made %d operations, %d of them unknown", k.Dispatches, k.Time, k.Read, k.Written, k.Ops, k.Unknown)
}

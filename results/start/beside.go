package start

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// introgen's own engine says which thread did what: what it compiles beside the thread
// that generates lies on tracks of its own, and a span "await" says where that thread
// waited for which of them. Where it did not have to wait, nothing is recorded: then it
// is taken as needed when it was there.

// engine is what an engine's spans tell besides the phases.
type engine struct {
	weights map[trace.ID][]trace.Record // by the phase that they lie in
	await   []trace.Record              // in the order of their begin
	beside  map[begun]bool
}

// begun is a compile by when it began.
type begun struct {
	at   time.Duration
	made recording.Made
}

// nowhere is the need of a compile that is not placed yet.
const nowhere = math.MaxInt

// mode is how an engine's run compiled, by its knob.
func mode(run *recording.Run) When {
	knob, _ := run.Header.Knob("compile")
	when, _, _ := strings.Cut(knob, ",")
	switch when {
	case Concurrent.String():
		return Concurrent
	case Early.String():
		return Early
	}
	return Serial
}

// read keeps what the spans tell.
func (e *engine) read(spans []trace.Record) {
	e.weights, e.beside = map[trace.ID][]trace.Record{}, map[begun]bool{}
	for _, s := range spans {
		switch {
		case s.Name == names.SpanWeights && s.End > s.Start:
			e.weights[s.Parent] = append(e.weights[s.Parent], s)
		case s.Name == names.SpanAwait && s.End > s.Start && s.Track == 0:
			e.await = append(e.await, s)
		case (s.Name == names.SpanLibrary || s.Name == names.SpanPipeline) && s.Track > 0:
			e.beside[begun{s.Start, recording.MadeIn(s)}] = true
		}
	}
	slices.SortStableFunc(e.await, func(x, y trace.Record) int { return cmp.Compare(x.Start, y.Start) })
}

// isBeside says whether something was made beside the thread that generates.
func (e *engine) isBeside(c breakdown.Compile) bool {
	return e.beside[begun{c.Start, recording.Made{Library: c.Library, Function: c.Function}}]
}

// awaited are the waits that begin in the phase.
func (e *engine) awaited(p breakdown.Phase) []trace.Record {
	from, _ := slices.BinarySearchFunc(e.await, p.Start, func(s trace.Record, at time.Duration) int { return cmp.Compare(s.Start, at) })
	to := from
	for to < len(e.await) && e.await[to].Start < p.End {
		to++
	}
	return e.await[from:to]
}

// awaits is the compile that a wait was for: of those that it can be, the one that
// ended when the wait did; −1 where none can.
func (b *builder) awaits(s trace.Record) int {
	best, off := -1, time.Duration(math.MaxInt64)
	for i, c := range b.Compiles {
		if c.need != nowhere || c.IsLibrary() || c.Library+" "+c.Function != s.Detail {
			continue
		}
		if d := max(s.End-c.Start-c.Time, c.Start+c.Time-s.End); d < off {
			best, off = i, d
		}
	}
	return best
}

// place gives each compile that was made beside the main thread, and never waited for,
// a piece that needs it.
func (b *builder) place() {
	insert := func(at, c int) {
		p := b.Pieces[min(at, len(b.Pieces)-1)]
		b.Pieces = slices.Insert(b.Pieces, at, Piece{Phase: p.Phase, Kind: Await, Compile: c, from: p.from})
		for k := range b.Compiles {
			if need := &b.Compiles[k].need; *need >= at && *need != nowhere {
				*need++
			}
		}
		for k := range b.ends {
			if b.ends[k].after > at {
				b.ends[k].after++
			}
		}
		b.Compiles[c].need = at
	}
	if len(b.Pieces) == 0 {
		return
	}
	for i, c := range b.Compiles {
		if c.need == nowhere && !c.IsLibrary() {
			insert(b.cut(c.Start+c.Time), i)
		}
	}
	for i, c := range b.Compiles {
		if c.need != nowhere {
			continue
		}
		first := nowhere
		for _, p := range b.Compiles {
			if p.Of == i {
				first = min(first, p.need)
			}
		}
		if first == nowhere {
			first = b.cut(c.Start + c.Time)
		}
		insert(first, i)
	}
	for i, c := range b.Compiles {
		b.Compiles[i].Phase = b.Pieces[c.need].Phase
	}
}

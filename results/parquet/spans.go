package parquet

import (
	"cmp"
	"slices"
	"time"

	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/sanitize"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// Span is a row of the table of spans: a span, or of a traced run an operation that
// ran in one.
type Span struct {
	Of
	Round  *int32  `parquet:"round,optional"`
	Phase  *string `parquet:"phase,optional,dict"`
	Step   *int64  `parquet:"step,optional"` // the number of the phase, where it is a step
	Name   string  `parquet:"name,dict"`
	Detail string  `parquet:"detail,dict"` // of an operation its kernel
	N      int64   `parquet:"n"`
	Parent int32   `parquet:"parent"`      // 0 where it lies in nothing
	ID     *int32  `parquet:"id,optional"` // an operation has none
	Track  int32   `parquet:"track"`
	Start  *int64  `parquet:"start_ns,optional"` // of operations where the device tells
	Time   *int64  `parquet:"ns,optional"`       // the same; of a span that the recording ends in none is known
	// Operation and what follows are of operations alone.
	Operation *int32 `parquet:"operation,optional"` // its number in the run, by which it is known again in the next pass
	Layer     *int32 `parquet:"layer,optional"`     // from 0; of those outside of the blocks none
	Read      *int64 `parquet:"read_bytes,optional"`
	Written   *int64 `parquet:"written_bytes,optional"`
	Ops       *int64 `parquet:"operations,optional"` // on numbers; a multiply-add is two
}

// where is the place of a span in its run.
type where struct {
	round *int32
	phase *string
	step  *int64
}

// in is the place of a phase and of all that lies in it.
func in(round int, p breakdown.Phase) where {
	w := where{round: positive[int32](round)}
	name := p.Name
	if name == names.SpanPhase && p.Detail != "" {
		name = p.Detail
	}
	w.phase = said(name)
	if names.IsStep(p.Name) {
		w.step = positive[int64](int(p.N))
	}
	return w
}

// spans puts the rows of the run.
func (r *run) spans(put func(Span) error) error {
	places := map[trace.ID]where{}
	var phases []placed // of a program, whose spans need not lie in its phases
	for _, round := range r.taken.Rounds {
		places[round.ID] = where{round: positive[int32](round.Number)}
		for _, p := range round.Phases {
			w := in(round.Number, p)
			if places[p.ID] = w; round.Program() {
				phases = append(phases, placed{p.Start, p.End, w})
			}
		}
	}
	ran := map[trace.ID][]*recording.Executed{}
	for _, e := range r.taken.Executed {
		ran[e.Span] = append(ran[e.Span], e)
	}
	told := map[int]*recording.Operation{}
	for _, o := range r.taken.Operations {
		told[o.ID] = o
	}
	slices.SortStableFunc(phases, func(a, b placed) int { return cmp.Compare(a.from, b.from) })
	for _, s := range r.taken.Spans {
		w, ok := places[s.ID]
		if !ok {
			if w, ok = places[s.Parent]; !ok {
				w = at(phases, s.Start)
			}
			places[s.ID] = w
		}
		row := Span{Of: r.of, Round: w.round, Phase: w.phase, Step: w.step, Name: sanitize.Line(s.Name), Detail: sanitize.Line(s.Detail), N: s.N,
			Parent: int32(s.Parent), ID: positive[int32](int(s.ID)), Track: s.Track, Start: known(int64(s.Start))}
		if s.End >= 0 {
			row.Time = known(int64(s.Duration()))
		}
		if err := put(row); err != nil {
			return err
		}
		for _, e := range ran[s.ID] {
			if err := operations(row, e, told, put); err != nil {
				return err
			}
		}
	}
	return nil
}

// operations puts a row for each operation that ran in the span.
func operations(span Span, e *recording.Executed, told map[int]*recording.Operation, put func(Span) error) error {
	for i, id := range e.Operations {
		o := told[id] // a recording is judged: it names what was told
		row := Span{Of: span.Of, Round: span.Round, Phase: span.Phase, Step: span.Step, Name: sanitize.Line(o.Name), Detail: sanitize.Line(o.Kernel),
			Parent: *span.ID, Track: int32(e.Track), Operation: positive[int32](id)}
		if o.Layer != recording.NoLayer {
			row.Layer = known(int32(o.Layer))
		}
		if !o.Unknown {
			row.Read, row.Written, row.Ops = known(o.Read), known(o.Written), known(o.Ops)
		}
		if e.Timed() {
			row.Start, row.Time = known(e.Start[i]), known(e.Time[i])
		}
		if err := put(row); err != nil {
			return err
		}
	}
	return nil
}

// known is a number that is known, whatever it is.
func known[N int32 | int64](n N) *N { return &n }

// placed is a phase on the clock of its run.
type placed struct {
	from, to time.Duration
	where
}

// at is the place of what begins then, outside of all spans: in the phase that goes
// on meanwhile, if one does.
func at(phases []placed, begin time.Duration) where {
	i, found := slices.BinarySearchFunc(phases, begin, func(p placed, t time.Duration) int { return cmp.Compare(p.from, t) })
	if !found {
		i--
	}
	if i < 0 || begin >= phases[i].to {
		return where{}
	}
	return phases[i].where
}

package timeline

import (
	"cmp"
	"slices"
	"time"

	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// near is how far from its commit the device's clock may say that a command buffer
// was committed: two clocks are read one after the other.
const near = 100 * time.Microsecond

// flight is a command buffer that ran.
type flight struct {
	commit, queued, gpu trace.Record // queued is the zero Record where the device does not tell
}

// began is when it was committed.
func (f flight) began() time.Duration { return f.commit.Start }

// flightsOf pairs what was committed with what ran, and counts what it cannot pair.
// Within a span the device's times stand in the order of the commits; where they
// are not as many, each is of the commit of as many dispatches that is nearest to
// when it was queued.
func flightsOf(run *recording.Run) (out []flight, unpaired int) {
	type committed struct {
		span trace.Record
		ran  bool
	}
	commits := map[trace.ID][]*committed{}
	ran := map[trace.ID][]flight{}
	var order []trace.ID
	var queued trace.Record
	for _, s := range run.Spans {
		switch {
		case s.End < 0:
		case s.Name == names.SpanCommit:
			commits[s.Parent] = append(commits[s.Parent], &committed{span: s})
		case s.Name == names.SpanQueued:
			queued = s
		case s.Name == names.SpanGPU:
			f := flight{gpu: s}
			if queued.Parent == s.Parent && queued.End == s.Start && queued.N == s.N && queued.ID < s.ID && queued.ID != 0 {
				f.queued = queued
			}
			if len(ran[s.Parent]) == 0 {
				order = append(order, s.Parent)
			}
			ran[s.Parent] = append(ran[s.Parent], f)
			queued = trace.Record{}
		}
	}
	for _, in := range order {
		all := commits[in]
		as := len(all) == len(ran[in])
		for i, f := range ran[in] {
			as = as && all[i].span.N == f.gpu.N
		}
		for i, f := range ran[in] {
			k := i
			if !as {
				k = nearest(f, func(yield func(int, trace.Record) bool) {
					for i, c := range all {
						if !c.ran && !yield(i, c.span) {
							return
						}
					}
				})
			}
			if k < 0 || all[k].span.Start > f.gpu.Start {
				unpaired++
				continue
			}
			all[k].ran = true
			f.commit = all[k].span
			out = append(out, f)
		}
	}
	slices.SortStableFunc(out, func(a, b flight) int { return cmp.Compare(a.commit.ID, b.commit.ID) })
	return out, unpaired
}

// nearest is the commit of a command buffer by when it was queued; −1 where there
// is none.
func nearest(f flight, commits func(func(int, trace.Record) bool)) int {
	found, least := -1, near
	for i, c := range commits {
		if c.N != f.gpu.N || f.queued.ID == 0 {
			continue
		}
		off := max(0, c.Start-f.queued.Start, f.queued.Start-c.End)
		if off <= least && (found < 0 || off < least) {
			found, least = i, off
		}
		if c.Start > f.queued.Start+near {
			break
		}
	}
	return found
}

// flights draws the arrow of each command buffer from its encoder over its commit
// to where it ran, and counts how many were on their way.
func (l *layout) flights() {
	all, unpaired := flightsOf(l.run)
	if unpaired > 0 {
		l.note("%s: of %d command buffers that ran it is not known where they were committed: they have no arrow, and are not counted in flight", l.p.Name, unpaired)
	}
	encoders := map[trace.ID]trace.ID{} // by the commit behind them
	last := map[[2]int64]trace.Record{}
	for _, s := range l.run.Spans {
		on := [2]int64{int64(s.Parent), int64(s.Track)}
		switch s.Name {
		case names.SpanEncoder:
			last[on] = s
		case names.SpanCommit:
			if e := last[on]; e.ID != 0 && e.End >= 0 && e.End <= s.Start {
				encoders[s.ID] = e.ID
			}
			delete(last, on)
		}
	}
	var points []Point
	for _, f := range all {
		l.Timeline.flows++
		id := l.Timeline.flows
		from := l.of[f.commit.ID]
		from.Flow, from.Way = id, WayBegin
		if e := l.of[encoders[f.commit.ID]]; e != nil {
			e.Flow, e.Way = id, WayBegin
			from.Way = WayStep
		}
		to := l.of[f.gpu.ID]
		to.Flow, to.Way = id, WayEnd
		points = append(points, Point{l.offset + f.began(), 1}, Point{to.End, -1})
	}
	if len(points) > 0 {
		l.p.Counters = append(l.p.Counters, &Counter{Name: "buffers", Unit: "in flight", Points: summed(points)})
	}
}

// summed are amounts that are added and taken away, as what there is from then on.
func summed(changes []Point) []Point {
	slices.SortStableFunc(changes, func(a, b Point) int { return cmp.Compare(a.At, b.At) })
	var out []Point
	sum := 0.0
	for _, c := range changes {
		sum += c.Value
		if n := len(out); n > 0 && out[n-1].At == c.At {
			out[n-1].Value = sum
			continue
		}
		out = append(out, Point{c.At, sum})
	}
	return out
}

// counters are what was counted in a run, and what was read of the machine.
func (l *layout) counters() {
	var made, resident, cache []Point
	for _, c := range l.run.Samples {
		if c.At < 0 {
			l.timeless++
			continue
		}
		x := Point{l.offset + c.At, float64(c.Value)}
		switch c.Name {
		case names.CountAllocated:
			made = append(made, x)
		case names.CountResident:
			resident = append(resident, x)
		case names.CountCache:
			cache = append(cache, x)
		}
	}
	add := func(name, unit string, points []Point) {
		if len(points) > 0 {
			l.p.Counters = append(l.p.Counters, &Counter{name, unit, points})
		}
	}
	add("resident memory", "bytes", resident)
	add("KV cache", "bytes", cache)
	add("metal buffers made", "bytes", summed(made))
	var busy, clock []Point
	for _, m := range l.run.Machine {
		if m.At < 0 {
			l.timeless++
			continue
		}
		at := l.offset + time.Duration(m.At)
		if m.OtherCores >= 0 {
			busy = append(busy, Point{at, m.OtherCores})
		}
		if m.MHz > 0 {
			clock = append(clock, Point{at, m.MHz})
		}
	}
	add("cores", "of other processes", busy)
	add("processor clock", "MHz", clock)
}

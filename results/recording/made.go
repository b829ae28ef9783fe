package recording

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// MadeIn is what a span LIB or PIPE made, by its detail alone: the library's name,
// of a pipeline and behind a blank the function's. The event of the span says it
// apart; it is missing where a run was cut off, or a line is.
func MadeIn(s trace.Record) Made {
	m := Made{Library: s.Detail}
	if s.Name == names.SpanPipeline {
		m.Library, m.Function, _ = strings.Cut(s.Detail, " ")
	}
	return m
}

// made looks at libraries and pipelines: each is a span, and an event that says
// what it was. Where the two contradict each other neither counts.
func (j *judge) made() {
	at, told := j.byID(), map[trace.ID]int{}
	for _, l := range j.Libraries {
		told[l.Span]++
	}
	for _, p := range j.Pipelines {
		told[p.Span]++
	}
	// wrong says whether an event is to be taken out, whose span should have the
	// name.
	wrong := func(library, function, name string, span trace.ID, bytes int64) bool {
		s, ok := at[span]
		event, detail := "library "+library, library
		if name == names.SpanPipeline {
			detail = library + " " + function
			event = "pipeline " + detail
		}
		switch {
		case !ok:
			j.Unmade = append(j.Unmade, Made{library, function})
			j.tell("unmade", "the event of %s belongs to span %d, which is missing: how long it took is not known", event, span)
		case told[span] > 1:
			j.tell("made", "the event of %s is one of %d of span %d: none counts", event, told[span], span)
		case s.Name != name, s.Detail != detail, bytes >= 0 && s.N != bytes:
			j.tell("made", "the event of %s belongs to %s, which is another: neither counts", event, called(s))
			if s.Name == names.SpanLibrary || s.Name == names.SpanPipeline {
				j.out[span] = true
			}
		default:
			return false
		}
		return true
	}
	j.Libraries = slices.DeleteFunc(j.Libraries, func(l Library) bool {
		return wrong(l.Name, "", names.SpanLibrary, l.Span, int64(l.SourceBytes))
	})
	j.Pipelines = slices.DeleteFunc(j.Pipelines, func(p Pipeline) bool {
		return wrong(p.Library, p.Function, names.SpanPipeline, p.Span, -1)
	})
	if j.End == nil || j.End.Code != 0 || len(told) == 0 {
		return // a run that was cut off had not told of all, another tells of none
	}
	libraries, of := map[string]bool{}, map[trace.ID]string{}
	for _, p := range j.Pipelines {
		of[p.Span] = p.Library
	}
	for _, s := range j.Spans {
		if s.Name != names.SpanLibrary && s.Name != names.SpanPipeline || j.out[s.ID] {
			continue
		}
		if told[s.ID] == 0 {
			j.tell("untold", "%s has no event: whether it came from a cache is not known", called(s))
		}
		if s.Name == names.SpanLibrary {
			libraries[s.Detail] = true
		} else if !libraries[cmp.Or(of[s.ID], MadeIn(s).Library)] {
			j.tell("source", "%s is of a library that was not made before it", called(s))
		}
	}
}

// counts looks at the counters. Those of the device are told at each commit, so
// that they can be held to the spans of the same phase.
func (j *judge) counts() {
	at := j.byID()
	j.Samples = slices.DeleteFunc(j.Samples, func(c trace.Sample) bool {
		s, ok := at[c.Span]
		switch {
		case names.Known(c.Name) && c.Value < 0:
			j.tell("negative", "the counter %q is %d: it does not count", c.Name, c.Value)
		case ok && (c.At < s.Start || s.End >= 0 && c.At > s.End):
			j.tell("reading", "the counter %q was read at %d ns, outside of %s: it does not count", c.Name, int64(c.At), called(s))
		case !ok && c.Span != 0 && !j.Lacks(c.Span-1, c.Span+1):
			j.tell("nowhere", "the counter %q was read in span %d, which there is not: it does not count", c.Name, c.Span)
		default:
			return false
		}
		return true
	})
	type sums struct{ commits, dispatched, encoders, gpu, ran, queued int64 }
	of, order := map[trace.ID]*sums{}, []trace.ID{}
	committed := map[trace.ID]time.Duration{} // when the last commit in a span began
	for _, s := range j.Spans {
		if s.Name == names.SpanCommit {
			committed[s.Parent] = max(committed[s.Parent], s.Start)
		}
	}
	for _, s := range j.Spans {
		n := of[s.Parent]
		if n == nil {
			n = &sums{}
			of[s.Parent], order = n, append(order, s.Parent)
		}
		switch s.Name {
		case names.SpanCommit:
			n.commits, n.dispatched = n.commits+1, n.dispatched+s.N
		case names.SpanEncoder:
			if s.Start <= committed[s.Parent] && j.Header.Program == nil { // a run that fails leaves some behind that it never commits
				n.encoders++
			}
		case names.SpanGPU:
			n.gpu, n.ran = n.gpu+1, n.ran+s.N
		case names.SpanQueued:
			n.queued++
		}
	}
	type counter struct {
		span trace.ID
		name string
	}
	counted, wrong := map[counter]int64{}, map[counter]bool{}
	for _, c := range j.Samples {
		counted[counter{c.Span, c.Name}] += c.Value
	}
	// Where the device tells its times it does so of every command buffer.
	timed := slices.ContainsFunc(j.Spans, func(s trace.Record) bool { return s.Name == names.SpanGPU })
	queued := slices.ContainsFunc(j.Spans, func(s trace.Record) bool { return s.Name == names.SpanQueued })
	full := j.untouched()
	for _, id := range order {
		n := of[id]
		if n.commits == 0 || j.End == nil || !full[id] {
			continue
		}
		for _, c := range []struct {
			name string
			want int64
		}{{names.CountCommandBuffers, n.commits}, {names.CountDispatches, n.dispatched}, {names.CountEncoders, n.encoders}} {
			if c.name == names.CountEncoders && j.Header.Program != nil {
				continue // encoders may lie in the phase before the one that commits
			}
			if got := counted[counter{id, c.name}]; got != c.want {
				j.tell("counts", "span %d counts %d of %q and has spans of %d: they do not count", id, got, c.name, c.want)
				wrong[counter{id, c.name}] = true
			}
		}
		// What is committed behind a command buffer that failed does not run, and a
		// program need not wait for what it commits.
		if j.Header.Program != nil {
			continue // it is looked at by itself
		}
		if j.End.Code == 0 && timed && (n.gpu != n.commits || n.ran != n.dispatched) || j.End.Code == 0 && queued && n.queued != n.commits {
			j.tell("ran", "span %d commits %d command buffers of %d dispatches, and the device ran %d of %d", id, n.commits, n.dispatched, n.gpu, n.ran)
		}
	}
	j.Samples = slices.DeleteFunc(j.Samples, func(c trace.Sample) bool { return wrong[counter{c.Span, c.Name}] })
	if j.Header.Program != nil && timed {
		j.ran()
		j.remove()
	}
	j.kernels()
}

// kernels holds what is said of kernels at the end of a run that ended well to
// what it committed: the share of one is of the time of all.
func (j *judge) kernels() {
	var committed, told int64
	for _, s := range j.Spans {
		if s.Name == names.SpanCommit {
			committed += s.N
		}
	}
	for _, k := range j.Kernels {
		if k.Name != names.Blit {
			told += k.Dispatches
		}
	}
	if j.Header.Program != nil && told > committed {
		return // what a program encodes it need not commit
	}
	if j.End != nil && j.End.Code == 0 && len(j.Kernels) > 0 && j.LostSpans() == 0 && told != committed && committed > 0 {
		j.tell("kernels", "its kernels have %d dispatches together and its command buffers %d: their shares are of what is there", told, committed)
	}
}

// untouched are the spans of which nothing that lies in them can be missing.
func (j *judge) untouched() map[trace.ID]bool {
	j.Lost = holes(j.Spans)
	last := map[trace.ID]trace.ID{} // the last number within a span
	for i := len(j.Spans) - 1; i >= 0; i-- {
		s := j.Spans[i]
		last[s.Parent] = max(last[s.Parent], last[s.ID], s.ID)
	}
	out := map[trace.ID]bool{}
	for id, end := range last {
		out[id] = !j.Lacks(id, end+2)
	}
	return out
}

// once looks at what a run says one time.
func (j *judge) once() {
	kernels := map[string]int{}
	for _, k := range j.Kernels {
		kernels[k.Name]++
	}
	j.Kernels = slices.DeleteFunc(j.Kernels, func(k Kernel) bool {
		if n := kernels[k.Name]; n > 1 {
			j.tell("kernel", "the kernel %q stands there %d times: none counts", k.Name, n)
			return true
		}
		return false
	})
	j.evidence()
	if j.End != nil && j.End.ModelDigest != "" && j.Header.Model.Digest != j.End.ModelDigest {
		j.tell("digest", "the model's digest is %q in the header and %q at the end", j.Header.Model.Digest, j.End.ModelDigest)
	}
	if x := j.Exit; x != nil && j.Header.Clock > 0 && x.Spawned > 0 {
		if j.Header.Clock < x.Spawned || j.Header.Clock > x.Reaped {
			j.tell("clock", "the run's clock began at %d ns, and its process lived from %d to %d: what lies before the run is not known", j.Header.Clock, x.Spawned, x.Reaped)
		}
	}
}

// evidence holds what is said of the cache to the libraries and pipelines
// themselves.
func (j *judge) evidence() {
	var hits, archived, misses [2]int
	count := func(i int, cache string) {
		switch cache {
		case names.CacheHit:
			hits[i]++
		case names.CacheArchive:
			archived[i]++
		case names.CacheMiss:
			misses[i]++
		}
	}
	for _, l := range j.Libraries {
		count(0, l.Cache)
	}
	for _, p := range j.Pipelines {
		count(1, p.Cache)
	}
	if len(j.Libraries)+len(j.Pipelines) == 0 {
		return
	}
	for _, e := range j.Evidence {
		if e.What != EvidenceMetalCache {
			continue
		}
		if said, are := fmt.Sprint(e.LibraryHits, e.LibraryMisses, e.PipelineHits, e.PipelineMisses), fmt.Sprint(hits[0], misses[0], hits[1], misses[1]); said != are {
			j.tell("evidence", "the evidence of the cache says %s hits and misses of libraries and of pipelines, and their own events %s", said, are)
		}
		var given [2]int
		if e.Archive != nil {
			given = [2]int{e.Archive.Libraries, e.Archive.Pipelines}
		}
		if given != archived {
			j.tell("evidence", "the evidence of the cache says that an archive gave %d libraries and %d pipelines, and their own events %d and %d", given[0], given[1], archived[0], archived[1])
		}
	}
}

// encoded looks at dispatches and barriers, which lie in a span that encodes.
func (j *judge) encoded() {
	if len(j.Dispatches)+len(j.Barriers) == 0 {
		return
	}
	at := j.byID()
	lost := func(what string, id trace.ID) bool {
		s, ok := at[id]
		switch {
		case !ok:
			j.tell("encoded", "a %s belongs to span %d, which is missing: it does not count", what, id)
		case s.Name != names.SpanEncoder:
			j.tell("encoded", "a %s belongs to %s, which encodes nothing: it does not count", what, called(s))
		default:
			return false
		}
		return true
	}
	j.Dispatches = slices.DeleteFunc(j.Dispatches, func(d Dispatch) bool { return lost("dispatch", d.Span) })
	j.Barriers = slices.DeleteFunc(j.Barriers, func(b Barrier) bool { return lost("barrier", b.Span) })
}

// Package programtest has recordings of programs that were made by hand, for the
// tests of what reads them. Every figure of them is short enough to be added up by
// hand; times are in milliseconds of the run's clock.
package programtest

import (
	"bytes"
	"math"
	"slices"
	"time"

	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// Recording puts events together in the order in which they are told.
type Recording struct {
	Events []recording.Event
	next   trace.ID
	made   struct{ libraryHits, libraryMisses, pipelineHits, pipelineMisses int }
	nonce  string
}

// At is so many milliseconds, to the microsecond.
func At(ms float64) time.Duration { return time.Duration(math.Round(1000*ms)) * time.Microsecond }

// New begins the recording of a process of a program.
func New(pid, parent int, path string, args ...string) *Recording {
	r := &Recording{}
	r.Events = append(r.Events, &recording.Header{Format: recording.Format, Version: recording.Version, Tool: recording.Tool{Version: "v1", Go: "go1.26"},
		Command: "record", Args: slices.Concat([]string{"record", "--", path}, args), Started: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC), Clock: 5_000_000, PID: 77,
		Host: recording.Host{Name: "h", OS: "linux", Arch: "amd64", Cores: 2}, Knobs: []recording.Knob{}, View: recording.View{Label: "record"},
		Program: &recording.Program{Path: path, Args: args, PID: pid, Parent: parent}})
	return r
}

// Device tells of the soft driver, with a nonce or without.
func (r *Recording) Device(nonce string) {
	r.nonce = nonce
	r.Events = append(r.Events, &recording.Device{Driver: "soft", Name: "soft", Compiler: "clang 19.1.7", Nonce: nonce})
}

// Span adds one on track 0 from and to so many milliseconds.
func (r *Recording) Span(in trace.ID, name, detail string, n int64, from, to float64) trace.ID {
	return r.Track(0, in, name, detail, n, from, to)
}

// Track adds one on a track.
func (r *Recording) Track(track int32, in trace.ID, name, detail string, n int64, from, to float64) trace.ID {
	r.next++
	r.Events = append(r.Events, &recording.Span{Record: trace.Record{ID: r.next, Parent: in, Name: name, Detail: detail, N: n, Track: track, Start: At(from), End: At(to)}})
	return r.next
}

// Library adds a library of 1000 bytes and 3 kernels.
func (r *Recording) Library(track int32, in trace.ID, name, cache string, from, to float64) {
	id := r.Track(track, in, names.SpanLibrary, name, 1000, from, to)
	r.Events = append(r.Events, &recording.Library{Span: id, Name: name, SourceBytes: 1000, Kernels: 3, Cache: cache})
	count(cache, &r.made.libraryHits, &r.made.libraryMisses)
}

// Pipeline adds a pipeline without constants.
func (r *Recording) Pipeline(track int32, in trace.ID, library, function, cache string, from, to float64) {
	id := r.Track(track, in, names.SpanPipeline, library+" "+function, 0, from, to)
	r.Events = append(r.Events, &recording.Pipeline{Span: id, Library: library, Function: function, Cache: cache})
	count(cache, &r.made.pipelineHits, &r.made.pipelineMisses)
}

func count(cache string, hits, misses *int) {
	switch cache {
	case names.CacheHit:
		*hits++
	case names.CacheMiss:
		*misses++
	}
}

// Pass adds a command buffer: encoded in 10 ms on a track, committed in 2 with
// so many dispatches, on the device for gpu milliseconds from right after that, and
// waited for until wait.
func (r *Recording) Pass(track int32, in trace.ID, dispatches int64, from, gpu, wait float64) {
	r.Track(track, in, names.SpanEncoder, "compute", 0, from, from+10)
	r.Track(track, in, names.SpanCommit, "", dispatches, from+10, from+12)
	r.count(in, from+12, dispatches)
	r.Track(track, in, names.SpanQueued, "", dispatches, from+12, from+12)
	r.Track(track, in, names.SpanGPU, "", dispatches, from+12, from+12+gpu)
	r.Track(track, in, names.SpanWait, names.WaitCompleted, 0, from+12, wait)
}

// count tells the counters of a commit: a barrier stands behind every second dispatch.
func (r *Recording) count(in trace.ID, at float64, dispatches int64) {
	for _, c := range []struct {
		name  string
		value int64
	}{{names.CountDispatches, dispatches}, {names.CountEncoders, 1}, {names.CountCommandBuffers, 1}, {names.CountBarriers, dispatches / 2}} {
		r.Events = append(r.Events, &recording.Count{Sample: trace.Sample{Span: in, Name: c.name, Value: c.value, At: At(at)}})
	}
}

// Output adds a write on stdout.
func (r *Recording) Output(at float64, bytes int64) {
	r.Events = append(r.Events, &recording.Output{At: int64(At(at)), Stream: recording.StreamOut, Bytes: bytes})
}

// End ends the run, with its round and its evidence.
func (r *Recording) End(round trace.ID, at float64, code int) {
	r.Events = append(r.Events,
		&recording.Round{Number: 1, Span: round, IDs: []int32{}},
		&recording.Evidence{What: recording.EvidenceMetalCache, LibraryHits: r.made.libraryHits, LibraryMisses: r.made.libraryMisses,
			PipelineHits: r.made.pipelineHits, PipelineMisses: r.made.pipelineMisses, Nonce: r.nonce},
		&recording.End{At: int64(At(at)), Code: code, MajorFaults: -1, MinorFaults: -1, MaxRSS: 100 << 20})
}

// File is the recording as it is read from a file.
func File(all ...*Recording) *recording.File {
	f, err := recording.Read(bytes.NewReader(Bytes(all...)), "made by hand")
	if err != nil {
		panic(err) // what is made here can be read
	}
	return f
}

// Bytes is the recording as it is written to a file.
func Bytes(all ...*Recording) []byte {
	var out []byte
	for _, r := range all {
		for _, e := range r.Events {
			var err error
			if out, err = recording.Encode(out, e); err != nil {
				panic(err) // what is made here can be written
			}
		}
	}
	return out
}

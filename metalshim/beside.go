package metalshim

import (
	"context"
	"time"

	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// ConcurrentCompiler is a device that says how many compiles it runs side by side:
// more that are begun at once only wait for each other.
type ConcurrentCompiler interface{ CompileThreads() int }

// CompileThreads is how many compiles d runs side by side, 1 where it does not say.
func CompileThreads(d Device) int {
	if c, ok := d.(ConcurrentCompiler); ok {
		return max(1, c.CompileThreads())
	}
	return 1
}

// CompileThreads passes on what the driver says.
func (d *Instrumented) CompileThreads() int { return CompileThreads(d.Device) }

// OnTrack is a context in which what is compiled is recorded on the track n, from 1:
// that of a thread beside the one that generates.
func OnTrack(ctx context.Context, n int32) context.Context { return trace.OnTrack(ctx, n) }

// track is the track on which a call is recorded: that of its context.
func (d *Instrumented) track(ctx context.Context) trace.Track {
	return d.rec.Track(trace.TrackOf(ctx), holdsCompiles)
}

// holdsCompiles says whether a span is a phase, in which compiles beside it lie: the
// call of Metal in whose middle one began has nothing to do with it.
func holdsCompiles(name string) bool {
	switch name {
	case names.SpanLibrary, names.SpanPipeline, names.SpanAwait, names.SpanWeights, names.SpanEncoder, names.SpanCommit, names.SpanWait:
		return false
	}
	return true
}

// made tells of what the thread that generates has made itself.
func (d *Instrumented) made(ctx context.Context, took time.Duration) {
	if trace.TrackOf(ctx) == 0 {
		d.compiled(took)
	}
}

// Await calls wait, which waits for a library or a pipeline that is made beside the
// caller, on another track, and has that recorded where d is instrumented. what is
// "library function".
func Await(d Device, what string, wait func()) {
	timed, ok := d.(*Instrumented)
	if !ok {
		wait()
		return
	}
	span := timed.rec.Begin(names.SpanAwait, what, 0)
	wait()
	timed.compiled(span.End())
}

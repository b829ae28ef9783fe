package trace

import (
	"context"
	"time"
)

// Track records what runs beside the thread of track 0: its spans have a stack of
// their own, so that what begins and ends there closes nothing elsewhere. It is used
// by one goroutine at a time. The zero Track records nothing.
type Track struct {
	r     *Recorder
	n     int32
	holds func(name string) bool
}

// Track is the track n, from 1. What begins on it while nothing is open there lies
// in the innermost open span of track 0 whose name holds says can hold it; nil: any
// can.
func (r *Recorder) Track(n int32, holds func(name string) bool) Track {
	return Track{r, n, holds}
}

// Begin opens a span on the track.
func (t Track) Begin(name, detail string, n int64) Span {
	r := t.r
	if r == nil {
		return Span{}
	}
	if t.n == 0 {
		return r.Begin(name, detail, n)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var parent ID
	open := r.tracks[t.n]
	if k := len(open); k > 0 {
		parent = open[k-1]
	} else {
		for k := len(r.open) - 1; k >= 0 && parent == 0; k-- {
			if t.holds == nil || t.holds(r.at(r.open[k]).Name) {
				parent = r.open[k]
			}
		}
	}
	rec := r.add(name, detail, n, parent)
	rec.Track = t.n
	if r.tracks == nil {
		r.tracks = map[int32][]ID{}
	}
	r.tracks[t.n] = append(open, rec.ID)
	rec.Start = time.Since(r.base)
	return Span{r, rec.ID}
}

type trackKey struct{}

// OnTrack is a context in which what is done is recorded on the track n.
func OnTrack(ctx context.Context, n int32) context.Context {
	return context.WithValue(ctx, trackKey{}, n)
}

// TrackOf is the track of a context, 0 where it names none.
func TrackOf(ctx context.Context) int32 {
	n, _ := ctx.Value(trackKey{}).(int32)
	return n
}

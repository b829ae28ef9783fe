// Package trace records spans and counters in the order in which they
// happened. It is the one place that takes times: everything that a person or
// a program reads later is a view of what is recorded here.
//
// A span costs under 100 ns from Begin to End and allocates nothing once the
// recorder's first block is in use (BenchmarkSpan), so that it can stand
// around every phase of a token. The package knows nothing of what is timed,
// and nothing of who reads it.
//
// Times are monotonic (time.Since of a base that holds a monotonic reading),
// in nanoseconds since the recorder was made.
package trace

import (
	"sync"
	"time"
)

// ID is the number of a span within its recorder, from 1 in the order of
// Begin. 0 is no span.
type ID int32

// Record is one span. End is negative while the span is open.
type Record struct {
	ID     ID     `json:"id"`
	Parent ID     `json:"in"`               // the span that was open on the same track when this one began, or 0
	Name   string `json:"name"`             // what kind of work: "prefill", "LIB"
	Detail string `json:"detail,omitempty"` // what it was done to: "Gemm", or ""
	N      int64  `json:"n,omitempty"`      // how many or which: tokens, step number, or 0
	// Track tells apart what ran side by side: 0 is the thread of a program's first
	// event, others follow in the order in which they appear, and from AsyncTrack on
	// each is work that no thread of the program's does. Of an engine's run track 0
	// is the thread that generates, and each thread that compiles beside it has one.
	Track int32         `json:"track,omitempty"`
	Start time.Duration `json:"start"`
	End   time.Duration `json:"end"`
}

// AsyncTrack is the first track of what runs beside all threads, such as a library
// that the system compiles for a completion handler.
const AsyncTrack = 1000

// Duration is End − Start, or 0 for a span that is still open.
func (r Record) Duration() time.Duration {
	if r.End < r.Start {
		return 0
	}
	return r.End - r.Start
}

// Sample is one reading of a counter.
type Sample struct {
	Span  ID            `json:"in"` // the span that was open when it was taken, or 0
	Name  string        `json:"name"`
	Value int64         `json:"value"`
	At    time.Duration `json:"at"`
}

const block = 1024

// Recorder holds spans and samples. It may be used by several goroutines;
// the stack of open spans, which gives every span its parent, is one for all
// of them, so spans that overlap on several goroutines are opened on a Track of
// their own, or name their parent with Under. A nil *Recorder records nothing and costs a comparison.
type Recorder struct {
	mu      sync.Mutex
	base    time.Time
	blocks  [][]Record
	n       int
	open    []ID
	tracks  map[int32][]ID // open spans of the other tracks
	samples []Sample
}

// New returns an empty recorder whose clock starts now.
func New() *Recorder {
	return &Recorder{
		base:    time.Now(),
		blocks:  [][]Record{make([]Record, block)},
		open:    make([]ID, 0, 64),
		samples: make([]Sample, 0, block),
	}
}

// Span is a handle to a span that is open. The zero Span does nothing.
type Span struct {
	r  *Recorder
	id ID
}

// ID is the span's number, 0 for the zero Span.
func (s Span) ID() ID { return s.id }

// Now is the recorder's clock.
func (r *Recorder) Now() time.Duration {
	if r == nil {
		return 0
	}
	return time.Since(r.base)
}

// Begin opens a span under the one that is open.
func (r *Recorder) Begin(name, detail string, n int64) Span {
	if r == nil {
		return Span{}
	}
	r.mu.Lock()
	var parent ID
	if k := len(r.open); k > 0 {
		parent = r.open[k-1]
	}
	rec := r.add(name, detail, n, parent)
	id := rec.ID
	r.open = append(r.open, id)
	// The clock is read last here and first in End: the recorder's own work
	// falls outside the span.
	rec.Start = time.Since(r.base)
	r.mu.Unlock()
	return Span{r, id}
}

// Under opens a span under a given parent, and does not become the parent of
// what begins next: for work that runs beside other work.
func (r *Recorder) Under(parent ID, name, detail string, n int64) Span {
	if r == nil {
		return Span{}
	}
	r.mu.Lock()
	rec := r.add(name, detail, n, parent)
	id := rec.ID
	rec.Start = time.Since(r.base)
	r.mu.Unlock()
	return Span{r, id}
}

func (r *Recorder) add(name, detail string, n int64, parent ID) *Record {
	if r.n == len(r.blocks)*block {
		r.blocks = append(r.blocks, make([]Record, block))
	}
	rec := &r.blocks[r.n/block][r.n%block]
	r.n++
	*rec = Record{ID: ID(r.n), Parent: parent, Name: name, Detail: detail, N: n, End: -1}
	return rec
}

func (r *Recorder) at(id ID) *Record {
	i := int(id) - 1
	return &r.blocks[i/block][i%block]
}

// End closes the span and returns how long it was open. Spans that were
// begun inside it and are still open are closed with it, at the same time:
// an error on the way leaves no span open. A second End changes nothing.
func (s Span) End() time.Duration {
	if s.r == nil {
		return 0
	}
	now := time.Since(s.r.base)
	r := s.r
	r.mu.Lock()
	rec := r.at(s.id)
	if rec.End >= 0 {
		d := rec.Duration()
		r.mu.Unlock()
		return d
	}
	if rec.Track == 0 {
		r.open = r.closed(r.open, s.id, now)
	} else if open, ok := r.tracks[rec.Track]; ok {
		r.tracks[rec.Track] = r.closed(open, s.id, now)
	}
	rec.End = now // also where it was opened with Under
	d := rec.Duration()
	r.mu.Unlock()
	return d
}

// closed ends the span id of a stack, and all that were begun inside it.
func (r *Recorder) closed(open []ID, id ID, now time.Duration) []ID {
	for k := len(open) - 1; k >= 0; k-- {
		if open[k] != id {
			continue
		}
		for _, inner := range open[k:] {
			r.at(inner).End = now
		}
		return open[:k]
	}
	return open
}

// Add records a span that was timed elsewhere, such as one that the GPU
// reports; start and end are on the recorder's clock.
func (r *Recorder) Add(parent ID, name, detail string, n int64, start, end time.Duration) ID {
	if r == nil {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	rec := r.add(name, detail, n, parent)
	rec.Start, rec.End = start, max(start, end)
	return rec.ID
}

// Count records one reading of the counter name under the span that is open.
func (r *Recorder) Count(name string, value int64) {
	if r == nil {
		return
	}
	r.mu.Lock()
	var span ID
	if k := len(r.open); k > 0 {
		span = r.open[k-1]
	}
	r.samples = append(r.samples, Sample{Span: span, Name: name, Value: value, At: time.Since(r.base)})
	r.mu.Unlock()
}

// Current is the innermost open span, or 0.
func (r *Recorder) Current() ID {
	if r == nil {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if k := len(r.open); k > 0 {
		return r.open[k-1]
	}
	return 0
}

// Record returns a copy of the span id as it stands; the zero Record if there
// is none.
func (r *Recorder) Record(id ID) Record {
	if r == nil {
		return Record{}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if id < 1 || int(id) > r.n {
		return Record{}
	}
	return *r.at(id)
}

// Spans returns a copy of all spans in the order in which they began.
func (r *Recorder) Spans() []Record { return r.SpansFrom(0) }

// SpansFrom returns a copy of the spans from number n+1 on: those that began
// since a time when there were n.
func (r *Recorder) SpansFrom(n int) []Record {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	n = max(0, n)
	if n >= r.n {
		return nil
	}
	out := make([]Record, 0, r.n-n)
	for i := n / block; i < len(r.blocks); i++ {
		out = append(out, r.blocks[i][max(0, n-i*block):min(block, r.n-i*block)]...)
	}
	return out
}

// Samples returns a copy of all counter readings in order.
func (r *Recorder) Samples() []Sample { return r.SamplesFrom(0) }

// SamplesFrom returns a copy of the readings behind the first n.
func (r *Recorder) SamplesFrom(n int) []Sample {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Sample(nil), r.samples[min(max(0, n), len(r.samples)):]...)
}

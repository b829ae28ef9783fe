package recording

import (
	"cmp"
	"slices"

	"github.com/introgen/introgen/trace"
)

// Feed makes events of what a trace.Recorder records. It remembers how far it
// came, so that taking costs what has happened since, not what has ever.
type Feed struct {
	Recorder *trace.Recorder

	spans, samples int
	open           []trace.ID // told while they were open, in the order of their begin
}

// Take calls put with the events since the last time: spans that were open then
// and have ended, spans that have begun, also those still open, and counts. What
// ends on other tracks than the first is told in the order in which it ended.
func (f *Feed) Take(put func(Event)) {
	waiting := f.open
	f.open = nil
	var beside []trace.Record
	for _, id := range waiting {
		if s := f.Recorder.Record(id); s.End >= 0 && s.Track > 0 {
			beside = append(beside, s)
		} else if s.End >= 0 {
			put(&Span{s})
		} else {
			f.open = append(f.open, id)
		}
	}
	began := f.Recorder.SpansFrom(f.spans)
	f.spans += len(began)
	for _, s := range began {
		if s.End < 0 {
			f.open = append(f.open, s.ID)
		} else if s.Track > 0 {
			beside = append(beside, s)
			s.End = -1 // it is told where it belongs, and its end behind that of others
		}
		put(&Span{s})
	}
	slices.SortStableFunc(beside, func(x, y trace.Record) int { return cmp.Compare(x.End, y.End) })
	for _, s := range beside {
		put(&Span{s})
	}
	counted := f.Recorder.SamplesFrom(f.samples)
	f.samples += len(counted)
	for _, s := range counted {
		put(&Count{s})
	}
}

package recording

import "github.com/introgen/introgen/trace"

// Feed makes events of what a trace.Recorder records. It remembers how far it
// came, so that taking costs what has happened since, not what has ever.
type Feed struct {
	Recorder *trace.Recorder

	spans, samples int
	open           []trace.ID // told while they were open, in the order of their begin
}

// Take calls put with the events since the last time: spans that were open then
// and have ended, spans that have begun, also those still open, and counts.
func (f *Feed) Take(put func(Event)) {
	waiting := f.open
	f.open = nil
	for _, id := range waiting {
		if s := f.Recorder.Record(id); s.End >= 0 {
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
		}
		put(&Span{s})
	}
	counted := f.Recorder.SamplesFrom(f.samples)
	f.samples += len(counted)
	for _, s := range counted {
		put(&Count{s})
	}
}

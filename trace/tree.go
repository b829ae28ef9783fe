package trace

import "time"

// Unattributed is the part of parent that lies in none of its children: its
// duration less the union of theirs. Children that overlap each other are not
// counted twice, and what reaches beyond the parent is cut off, so that the
// union and the unattributed always add up to the parent.
//
// spans must be in order of their start, as Recorder.Spans returns them.
func Unattributed(spans []Record, parent Record) time.Duration {
	rest := parent.Duration()
	reached := parent.Start
	for _, s := range spans {
		if s.Parent != parent.ID || s.ID == parent.ID {
			continue
		}
		from, to := max(s.Start, reached), min(s.End, parent.End)
		if to > from {
			rest -= to - from
			reached = to
		}
	}
	return rest
}

package recording

import (
	"slices"

	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// What a recorded program can do is other than what an engine does: its threads
// work beside each other, and it need not wait for what it commits, nor commit
// what it encodes. What no program can do is looked for here.

// calls are spans that are one call each: on one thread one follows another, or
// lies in it.
var calls = map[string]bool{names.SpanLibrary: true, names.SpanPipeline: true, names.SpanCommit: true, names.SpanWait: true}

// waitsFor are what a program can wait for.
var waitsFor = []string{names.WaitCompleted, names.WaitScheduled, names.WaitSharedEvent, names.WaitSemaphore, names.WaitQueue}

// program looks at what only a recorded program has, and at what it cannot have.
func (j *judge) program() {
	if j.Header.Program == nil {
		return
	}
	at := j.byID()
	last := map[int32]trace.Record{}
	for _, s := range j.Spans {
		if p, ok := at[s.Parent]; ok && calls[p.Name] && !names.OfDevice(s.Name) {
			j.out[s.ID] = true
			j.tell("called", "%s lies in %s, which is a call of Metal and no phase: it does not count", called(s), called(p))
			continue
		}
		if s.Name == names.SpanWait && !slices.Contains(waitsFor, s.Detail) {
			j.tell("waits", "%s is for %q, which is not known: it counts as a wait for the device", called(s), s.Detail)
		}
		if !calls[s.Name] || s.Track >= trace.AsyncTrack {
			continue
		}
		if before, ok := last[s.Track]; ok && s.Start < before.End && s.End > before.End {
			j.out[s.ID], j.out[before.ID] = true, true
			j.tell("calls", "%s and %s overlap on one thread, which makes one call after the other: neither counts", called(before), called(s))
		}
		if before := last[s.Track]; s.End >= before.End || s.Start >= before.End {
			last[s.Track] = s
		}
	}
	for i := range j.Rounds {
		e := &j.Rounds[i]
		if e.Prompt != 0 || len(e.PromptIDs)+len(e.IDs)+len(e.Top) > 0 || e.Text != "" {
			j.tell("tokens", "round %d is a program's, and has a prompt of %d tokens and %d new ones: of those nobody knows", e.Number, e.Prompt, len(e.IDs))
			e.Prompt, e.PromptIDs, e.IDs, e.Top, e.Text = 0, nil, nil, nil, ""
		}
	}
}

// ran looks at what the device ran of what a span committed: of each command buffer
// at most one time, and of all its dispatches.
func (j *judge) ran() {
	left := map[trace.ID]map[int64]int{} // command buffers by their dispatches
	queued := map[trace.ID]int{}
	for _, s := range j.Spans {
		if s.Name == names.SpanCommit {
			if left[s.Parent] == nil {
				left[s.Parent] = map[int64]int{}
			}
			left[s.Parent][s.N]++
			queued[s.Parent]++
		}
	}
	full := j.untouched()
	for _, s := range j.Spans {
		if !names.OfDevice(s.Name) || !full[s.Parent] {
			continue
		}
		if s.Name == names.SpanQueued {
			if queued[s.Parent]--; queued[s.Parent] < 0 {
				j.tell("ran", "%s lies in span %d, which commits fewer command buffers: it belongs to none", called(s), s.Parent)
			}
			continue
		}
		if left[s.Parent][s.N] == 0 {
			j.out[s.ID] = true
			j.tell("ran", "%s is of %d dispatches, and span %d commits no such command buffer that has not run: it does not count", called(s), s.N, s.Parent)
			continue
		}
		left[s.Parent][s.N]--
	}
}

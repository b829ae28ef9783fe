package page_test

import (
	"strings"
	"testing"
	"time"

	"github.com/introgen/introgen/results/page"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// TestThousandsOfRounds: a page of a run with as many rounds is there in time.
func TestThousandsOfRounds(t *testing.T) {
	r := &recording.Run{Header: recording.Header{Command: "cpu"}}
	at := time.Duration(0)
	span := func(in trace.ID, name string, n int64, took time.Duration) trace.ID {
		id := trace.ID(len(r.Spans) + 1)
		r.Spans = append(r.Spans, trace.Record{ID: id, Parent: in, Name: name, N: n, Start: at, End: at + took})
		return id
	}
	const rounds = 3000
	for n := range rounds {
		round := span(0, names.SpanRound, int64(n+1), 0)
		for i := range 20 {
			took := time.Duration(1+5*(i/19)) * time.Millisecond // the last one stalls
			span(round, names.SpanStep, int64(i+1), took)
			at += took
		}
		r.Spans[round-1].End = at
		r.Rounds = append(r.Rounds, recording.Round{Number: n + 1, Span: round, Prompt: 5, IDs: make([]int32, 21)})
	}
	r.End = &recording.End{At: int64(at)}
	began := time.Now()
	text := written(t, page.Options{}, page.Recording{Name: "many", File: &recording.File{Runs: []*recording.Run{r}}})
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("the page of %d rounds took %v", rounds, took)
	}
	if !strings.Contains(text, "stall") {
		t.Error("the page names no stalls")
	}
}

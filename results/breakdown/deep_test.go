package breakdown

import (
	"testing"
	"time"

	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// TestDeepAndMany: the work grows with the spans, not with their depth or with
// the rounds times the spans; either took minutes.
func TestDeepAndMany(t *testing.T) {
	const n = 200_000
	deep := &recording.Run{}
	deep.Spans = append(deep.Spans, trace.Record{ID: 1, Name: names.SpanRound, N: 1, End: n})
	for i := 2; i <= n; i++ {
		deep.Spans = append(deep.Spans, trace.Record{ID: trace.ID(i), Parent: trace.ID(i - 1), Name: names.SpanPrefill, End: n})
	}
	many := &recording.Run{}
	for i := 1; i <= n; i += 2 {
		at := time.Duration(i)
		many.Spans = append(many.Spans,
			trace.Record{ID: trace.ID(i), Name: names.SpanRound, N: int64(i+1) / 2, Start: at, End: at + 2},
			trace.Record{ID: trace.ID(i + 1), Parent: trace.ID(i), Name: names.SpanPrefill, Start: at, End: at + 1})
	}
	for name, c := range map[string]struct {
		run            *recording.Run
		rounds, phases int
	}{"deep": {deep, 1, 1}, "many": {many, n / 2, 1}} {
		done := make(chan []Round, 1)
		go func() { done <- Rounds(c.run) }()
		select {
		case got := <-done:
			if len(got) != c.rounds || len(got[0].Phases) != c.phases {
				t.Errorf("%s: %d rounds, the first with %d phases", name, len(got), len(got[0].Phases))
			}
		case <-time.After(30 * time.Second):
			t.Fatalf("%s: not done in 30 s", name)
		}
	}
}

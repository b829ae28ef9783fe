package start

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// TestPlaced: what was made beside the main thread gets its place there: what it waited
// for where it did, a library before the first of its pipelines, and what nobody waited
// for where it was there.
func TestPlaced(t *testing.T) {
	made := func(library, function string, from, took time.Duration, of int) Compile {
		return Compile{Compile: breakdown.Compile{Library: library, Function: function, Start: from, Time: took}, Of: of, need: nowhere}
	}
	b := builder{Start: &Start{Phases: []Phase{{1, "build"}, {1, "prefill"}}}}
	// A and f are there at 7, where the thread has waited since 5; B at 9 and g at 11, in
	// the middle of its last work.
	b.Compiles = []Compile{made("A", "", 0, 4, -1), made("A", "f", 4, 3, 0), made("B", "", 4, 5, -1), made("B", "g", 9, 2, 2)}
	b.Compiles[1].need = 1
	b.Pieces = []Piece{{Phase: 0, Compile: -1, Time: 5}, {Phase: 0, Kind: Await, Compile: 1, Time: 2, from: 5}, {Phase: 1, Compile: -1, Time: 8, from: 7}}
	b.ends = []end{{1, 2}, {2, 3}}
	b.place()
	var got []string
	for _, p := range b.Pieces {
		if p.Compile < 0 {
			got = append(got, fmt.Sprint(int(p.Time)))
			continue
		}
		got = append(got, b.Compiles[p.Compile].Library+b.Compiles[p.Compile].Function)
	}
	if text := strings.Join(got, " "); text != "5 A Af 4 B Bg 4" {
		t.Errorf("the pieces are %s", text)
	}
	for i, want := range []Compile{{need: 1, Phase: 0}, {need: 2, Phase: 0}, {need: 4, Phase: 1}, {need: 5, Phase: 1}} {
		if c := b.Compiles[i]; c.need != want.need || c.Phase != want.Phase {
			t.Errorf("%s%s is needed by piece %d of phase %d, want %d of %d", c.Library, c.Function, c.need, c.Phase, want.need, want.Phase)
		}
	}
	b.Goals = []Goal{{after: b.ends[0].after}, {after: b.ends[1].after}}
	for _, c := range []struct {
		rules Rules
		want  []time.Duration
	}{
		{Rules{}, []time.Duration{7, 15}},              // as recorded
		{Rules{When: Serial}, []time.Duration{12, 27}}, // 5+4+3, then 4+5+2+4
		{Rules{When: Early}, []time.Duration{7, 15}},   // B is there at 5, g at 7
		{Rules{When: Early, Threads: 1}, []time.Duration{7, 18}},
		{Rules{When: Concurrent}, []time.Duration{7, 18}}, // B from 7 until 12, g until 14, then 4
	} {
		if got := b.Replay(c.rules).Goals; !slices.Equal(got, c.want) {
			t.Errorf("%v on %d threads: %v, want %v", c.rules.When, c.rules.Threads, got, c.want)
		}
	}
}

// TestAwaited: of two pipelines of one kernel a wait is for that which ended with it.
func TestAwaited(t *testing.T) {
	b := builder{Start: &Start{}}
	for _, end := range []time.Duration{10, 20} {
		b.Compiles = append(b.Compiles, Compile{Compile: breakdown.Compile{Library: "Gemm", Function: "nn", Start: 5, Time: end - 5}, Of: -1, need: nowhere})
	}
	for end, want := range map[time.Duration]int{11: 0, 19: 1, 21: 1} {
		if got := b.awaits(trace.Record{Name: names.SpanAwait, Detail: "Gemm nn", Start: 6, End: end}); got != want {
			t.Errorf("a wait until %v is for %d, want %d", end, got, want)
		}
	}
	if got := b.awaits(trace.Record{Name: names.SpanAwait, Detail: "Gemm nt", Start: 6, End: 9}); got != -1 {
		t.Errorf("a wait for what was not made is for %d", got)
	}
}

func TestMode(t *testing.T) {
	for knob, want := range map[string]When{"": Serial, "serial": Serial, "trim": Serial, "concurrent": Concurrent, "early,trim": Early, "nonsense": Serial} {
		r := &recording.Run{}
		r.Header.Knobs = []recording.Knob{{Name: "compile", Value: knob}}
		if got := mode(r); got != want {
			t.Errorf("%q is %v, want %v", knob, got, want)
		}
	}
}

// TestRead: tracks and waits are told apart from what the main thread made.
func TestRead(t *testing.T) {
	var e engine
	e.read([]trace.Record{
		{ID: 1, Name: names.SpanLibrary, Detail: "A", Track: 2, Start: 1, End: 4}, {ID: 2, Name: names.SpanPipeline, Detail: "A f", Start: 5, End: 6},
		{ID: 3, Name: names.SpanAwait, Detail: "B g", Start: 9, End: 12}, {ID: 4, Name: names.SpanAwait, Detail: "A f", Start: 7, End: 8}, {ID: 5, Name: names.SpanAwait, Detail: "open", Start: 13, End: -1},
	})
	if !e.isBeside(breakdown.Compile{Library: "A", Start: 1}) || e.isBeside(breakdown.Compile{Library: "A", Function: "f", Start: 5}) {
		t.Error("what lies on a track is beside, and nothing else")
	}
	if got := e.awaited(breakdown.Phase{Start: 8, End: 20}); len(got) != 1 || got[0].ID != 3 {
		t.Errorf("in the phase it waited %v", got)
	}
	if got := e.awaited(breakdown.Phase{Start: 0, End: 20}); len(got) != 2 || got[0].ID != 4 {
		t.Errorf("it waited %v, not in order", got)
	}
}

package recording

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// sound is a run that is whole: a round of three decode steps, on a device.
func sound() []Event {
	span := func(id, in trace.ID, name, detail string, n int64, from, to time.Duration) Event {
		return &Span{trace.Record{ID: id, Parent: in, Name: name, Detail: detail, N: n, Start: from, End: to}}
	}
	return []Event{
		&Header{Format: Format, Version: Version, Command: "metal", Knobs: []Knob{{Name: "rounds", Value: "1"}, {Name: "tokens", Value: "3"}}},
		span(1, 0, names.SpanArguments, "", 0, 0, 10),
		span(2, 0, names.SpanRound, "", 1, 10, 300),
		span(3, 2, names.SpanRead, "mmap", 0, 10, 20),
		span(4, 2, names.SpanBuild, "", 0, 20, 50),
		span(5, 4, names.SpanLibrary, "Gemm", 7, 20, 40),
		span(6, 4, names.SpanPipeline, "Gemm nn", 0, 40, 45),
		span(7, 2, names.SpanPrefill, "", 13, 50, 100),
		span(8, 7, names.SpanEncoder, "compute", 0, 50, 60),
		span(9, 7, names.SpanCommit, "", 904, 60, 61),
		span(10, 7, names.SpanWait, "", 0, 61, 90),
		span(11, 7, names.SpanGPU, "", 904, 55, 95),
		span(12, 2, names.SpanStep, "", 1, 100, 150),
		span(13, 2, names.SpanStep, "", 2, 150, 190),
		span(14, 2, names.SpanStep, "", 3, 190, 220),
		&Count{trace.Sample{Span: 7, Name: names.CountDispatches, Value: 904, At: 61}},
		&Count{trace.Sample{Span: 7, Name: names.CountEncoders, Value: 1, At: 61}},
		&Count{trace.Sample{Span: 7, Name: names.CountCommandBuffers, Value: 1, At: 61}},
		&Library{Span: 5, Name: "Gemm", SourceBytes: 7, Cache: "miss"},
		&Pipeline{Span: 6, Library: "Gemm", Function: "nn", Cache: "miss"},
		&Round{Number: 1, Span: 2, Prompt: 13, IDs: []int32{1, 2, 3, 4}},
		&End{At: 310},
	}
}

// TestJudge: what cannot be is taken out and told, what is missing is told, and
// everything else stays what it was.
func TestJudge(t *testing.T) {
	if f := collect(sound()); len(f.Warnings) > 0 || f.Runs[0].LostSpans() > 0 || len(f.Runs[0].Samples) != 3 {
		t.Fatalf("what is sound is told of: %q, %+v", f.Warnings, f.Runs[0])
	}
	// A run that failed in its last step leaves an encoder that was not committed,
	// and a command buffer that did not run.
	inLast := func(id trace.ID, name string, n int64, from, to time.Duration) Event {
		return &Span{trace.Record{ID: id, Parent: 14, Name: name, N: n, Start: from, End: to}}
	}
	failed := slices.Insert(sound(), len(sound())-1,
		inLast(15, names.SpanEncoder, 0, 195, 196), inLast(16, names.SpanCommit, 5, 200, 201), inLast(17, names.SpanEncoder, 0, 205, 210),
		Event(&Span{trace.Record{ID: 18, Parent: 7, Name: names.SpanQueued, N: 904, Start: 61, End: 62}}),
		Event(&Count{trace.Sample{Span: 14, Name: names.CountDispatches, Value: 5, At: 201}}),
		Event(&Count{trace.Sample{Span: 14, Name: names.CountEncoders, Value: 1, At: 201}}),
		Event(&Count{trace.Sample{Span: 14, Name: names.CountCommandBuffers, Value: 1, At: 201}}))
	failed[len(failed)-1].(*End).Code = 1
	if f := collect(failed); len(f.Warnings) > 0 || len(f.Runs[0].Samples) != 6 {
		t.Fatalf("a failed run is told of: %q, %+v", f.Warnings, f.Runs[0])
	}
	spanOf := func(events []Event, id trace.ID) *trace.Record {
		for _, e := range events {
			if s, ok := e.(*Span); ok && s.ID == id {
				return &s.Record
			}
		}
		t.Fatalf("there is no span %d", id)
		return nil
	}
	without := func(id trace.ID) func([]Event) []Event {
		return func(events []Event) []Event {
			return slices.DeleteFunc(events, func(e Event) bool { s, ok := e.(*Span); return ok && s.ID == id })
		}
	}
	change := func(id trace.ID, how func(*trace.Record)) func([]Event) []Event {
		return func(events []Event) []Event { how(spanOf(events, id)); return events }
	}
	also := func(e Event) func([]Event) []Event {
		return func(events []Event) []Event { return slices.Insert(events, len(events)-1, e) }
	}
	event := func(how func(Event)) func([]Event) []Event {
		return func(events []Event) []Event {
			for _, e := range events {
				how(e)
			}
			return events
		}
	}
	for name, c := range map[string]struct {
		damage func([]Event) []Event
		gone   []trace.ID // spans that are not there, or do not count
		told   string
	}{
		"a step is lost":             {without(12), []trace.ID{12}, "round 1 has no decode step 1"},
		"the first two are lost":     {func(e []Event) []Event { return without(13)(without(12)(e)) }, []trace.ID{12, 13}, "no decode steps 1, 2"},
		"the last is lost":           {without(14), []trace.ID{14}, "no decode step 3"},
		"the prefill is lost":        {without(7), []trace.ID{7}, "round 1 has no prefill"},
		"a part is lost":             {without(10), []trace.ID{10}, "span 10 is missing"},
		"the round is lost":          {without(2), []trace.ID{2}, "lies in span 2, which is missing"},
		"a step has another's":       {change(12, func(s *trace.Record) { s.N = 2 }), []trace.ID{12, 13}, `"decode step 2" (span 12) is one of 2 of this number: none counts`},
		"a step has none":            {change(12, func(s *trace.Record) { s.N = 0 }), []trace.ID{12}, "numbers begin at 1"},
		"a step too many":            {change(14, func(s *trace.Record) { s.N = 4 }), []trace.ID{14}, "its round made 4 new tokens"},
		"steps in another order":     {func(e []Event) []Event { spanOf(e, 12).N, spanOf(e, 13).N = 2, 1; return e }, []trace.ID{12, 13}, "is out of order"},
		"two prefills":               {change(4, func(s *trace.Record) { s.Name = names.SpanPrefill }), []trace.ID{4, 7}, "is one of 2 in a round that has one"},
		"another prompt":             {change(7, func(s *trace.Record) { s.N = 12 }), []trace.ID{7}, "has 12 tokens and its round a prompt of 13"},
		"overlapping steps":          {change(12, func(s *trace.Record) { s.End = 160 }), []trace.ID{12, 13}, "overlap, and should follow one another"},
		"beyond its round":           {change(14, func(s *trace.Record) { s.End = 305 }), []trace.ID{14}, "reaches out of \"round 1\" (span 2)"},
		"a round too short":          {change(2, func(s *trace.Record) { s.End = 15 }), []trace.ID{2}, "does not hold most of what lies in it"},
		"before its number":          {change(13, func(s *trace.Record) { s.Start = 5 }), []trace.ID{13}, "out of the order of its number"},
		"either may be wrong":        {change(13, func(s *trace.Record) { s.Start = 70 }), []trace.ID{12, 13}, "out of the order of its number"},
		"far behind its number":      {change(3, func(s *trace.Record) { s.Start, s.End = 250, 260 }), []trace.ID{3}, "out of the order of its number"},
		"behind the end":             {change(1, func(s *trace.Record) { s.End = 900 }), []trace.ID{1}, "behind the end of the run"},
		"never ended":                {change(10, func(s *trace.Record) { s.End = -1 }), []trace.ID{10}, "has no end, though the run has one"},
		"a round of no number":       {change(2, func(s *trace.Record) { s.N = 0 }), []trace.ID{2}, "numbers begin at 1"},
		"a round of another number":  {change(2, func(s *trace.Record) { s.N = 2 }), []trace.ID{2}, "the event of round 1 belongs to \"round 2\" (span 2): neither counts"},
		"another library":            {change(5, func(s *trace.Record) { s.Detail = "Cast" }), []trace.ID{5}, "the event of library Gemm belongs to \"LIB Cast\" (span 5), which is another"},
		"a library of another size":  {change(5, func(s *trace.Record) { s.N = 8 }), []trace.ID{5}, "which is another: neither counts"},
		"a library's span is lost":   {without(5), []trace.ID{5}, "how long it took is not known"},
		"an unknown name":            {change(10, func(s *trace.Record) { s.Name = "wail" }), nil, "has a name that is not known"},
		"told as two things":         {also(&Span{trace.Record{ID: 12, Parent: 2, Name: names.SpanStep, N: 1, Start: 100, End: 140}}), []trace.ID{12}, "stands there once more as something else: neither counts"},
		"told twice":                 {also(&Span{trace.Record{ID: 12, Parent: 2, Name: names.SpanStep, N: 1, Start: 100, End: 150}}), nil, "1 spans stand there more than once: each counts once"},
		"behind the end of the file": {func(e []Event) []Event { return append(e, &Note{"late"}) }, nil, "1 events stand behind the end of their run"},
		"fewer dispatches": {event(func(e Event) {
			if c, ok := e.(*Count); ok && c.Name == names.CountDispatches {
				c.Value = 903
			}
		}), nil, `counts 903 of "metal dispatches" and has spans of 904`},
		"a count below nothing": {event(func(e Event) {
			if c, ok := e.(*Count); ok {
				c.Value = -1
			}
		}), nil, "is -1: it does not count"},
		"a count elsewhere": {event(func(e Event) {
			if c, ok := e.(*Count); ok {
				c.At = 200
			}
		}), nil, "outside of \"prefill\" (span 7)"},
		"no event of the round": {func(e []Event) []Event {
			return slices.DeleteFunc(e, func(e Event) bool { return e.Kind() == "round" })
		}, nil, "has no event"},
		"fewer tokens than wanted": {event(func(e Event) {
			if h, ok := e.(*Header); ok {
				h.Knobs[1].Value = "5"
			}
		}), nil, "round 1 was to make 6 new tokens and has 4"},
		"fewer rounds than wanted": {event(func(e Event) {
			if h, ok := e.(*Header); ok {
				h.Knobs[0].Value = "3"
			}
		}), nil, "was to make 3 rounds and has 1"},
	} {
		t.Run(name, func(t *testing.T) {
			f := collect(c.damage(sound()))
			r := f.Runs[0]
			if text := strings.Join(f.Warnings, "\n"); !strings.Contains(text, c.told) || len(f.Warnings) > 5 {
				t.Errorf("told is %q, want %q in it", text, c.told)
			}
			var want, got []trace.ID
			for id := trace.ID(1); id <= 14; id++ {
				if !slices.Contains(c.gone, id) {
					want = append(want, id)
				}
			}
			for _, s := range r.Spans {
				got = append(got, s.ID)
			}
			if !slices.Equal(got, want) {
				t.Errorf("spans are %v, want %v", got, want)
			}
			for _, id := range c.gone {
				if id < 14 && !r.Lacks(id-1, id+1) {
					t.Errorf("span %d is not said to be missing: %v", id, r.Lost)
				}
			}
		})
	}
}

// TestOneLineAKind: of thousands of damaged spans the first is told.
func TestOneLineAKind(t *testing.T) {
	events := []Event{&Header{}}
	for i := range 5000 {
		events = append(events, &Span{trace.Record{ID: trace.ID(2*i + 1), Name: "wail", Start: time.Duration(i), End: time.Duration(i)}})
	}
	f := collect(events)
	if want := []string{"4999 spans are missing, the first is span 2: what they timed has no sample",
		`"wail" (span 1) has a name that is not known: no figure is made of it (and 4999 more like it)`}; !slices.Equal(f.Warnings, want) {
		t.Errorf("told are %q", f.Warnings)
	}
}

// TestRunsOfAPlan: what a plan says of its runs is held to what there is.
func TestRunsOfAPlan(t *testing.T) {
	file := func(change func(starts []*Start, exits []*Exit) []Event) *File {
		events := []Event{&Header{}, &Plan{Arms: []Arm{{Name: "a"}, {Name: "b"}}, Blocks: 2}}
		starts := []*Start{{1, 1, "a"}, {2, 1, "b"}, {3, 2, "a"}, {4, 2, "b"}}
		exits := []*Exit{{Run: 1}, {Run: 2}, {Run: 3}, {Run: 4}}
		extra := change(starts, exits)
		for i := range starts {
			events = append(events, starts[i], &Header{}, &End{})
			if exits[i] != nil {
				events = append(events, exits[i])
			}
		}
		return collect(append(append(events, extra...), &End{}))
	}
	for name, c := range map[string]struct {
		change func(starts []*Start, exits []*Exit) []Event
		counts string // runs that count
		told   string
	}{
		"whole":             {func([]*Start, []*Exit) []Event { return nil }, "[1 2 3 4]", ""},
		"an unknown arm":    {func(s []*Start, _ []*Exit) []Event { s[1].Arm = "c"; return nil }, "[1 3 4]", `run 2: the plan has no arm "c", so that it does not count`},
		"a block too far":   {func(s []*Start, _ []*Exit) []Event { s[2].Block = 3; return nil }, "[1 2 4]", "run 3: it is of block 3 and the plan has 2"},
		"an exit is lost":   {func(_ []*Start, x []*Exit) []Event { x[0] = nil; return nil }, "[2 3 4]", "run 1: it has no exit"},
		"it did not end so": {func(_ []*Start, x []*Exit) []Event { x[3].Code = 9; return nil }, "[1 2 3]", "it says that it ended with exit code 0 and its parent saw 9"},
		"a number twice":    {func(s []*Start, x []*Exit) []Event { s[1].Run, x[1].Run = 1, 1; return nil }, "[1 3 4]", "run 1: its number stands there once more"},
		"out of order": {func(s []*Start, x []*Exit) []Event {
			s[0], s[3], x[0], x[3] = s[3], s[0], x[3], x[0]
			return nil
		}, "[1 2 3 4]", "runs are taken in the order of their numbers"},
		"put behind itself": {func([]*Start, []*Exit) []Event {
			return []Event{&Header{}, &Plan{}, &Start{1, 1, "a"}, &Header{}, &End{}, &Exit{Run: 1}}
		}, "[1 2 3 4]", "its number stands there once more"},
	} {
		f := file(c.change)
		var counts []int
		for _, r := range f.Counted("") {
			counts = append(counts, r.Start.Run)
		}
		if text := strings.Join(f.Warnings, "\n"); fmt.Sprint(counts) != c.counts || !strings.Contains(text, c.told) || (c.told == "") != (text == "") {
			t.Errorf("%s: runs %v count, want %s; told is %q, want %q in it", name, counts, c.counts, text, c.told)
		}
	}
	// A recording of one run put behind itself is one sample.
	one := []Event{&Header{PID: 7, Clock: 9, Started: time.Unix(5, 0)}, &End{}}
	f := collect(append(slices.Clone(one), one...))
	if len(f.Counted("")) != 1 || !strings.Contains(strings.Join(f.Warnings, ""), "the run of process 7 stands there once more") {
		t.Errorf("%d runs count, told is %q", len(f.Counted("")), f.Warnings)
	}
}

// TestLostSubject: a run of introgen, which has an io to be told, says how its
// model was read.
func TestLostSubject(t *testing.T) {
	events := sound()
	h := events[0].(*Header)
	h.Knobs = append(h.Knobs, Knob{Name: "io", Value: "mmap"})
	if f := collect(events); len(f.Warnings) != 1 || !strings.Contains(f.Warnings[0], "its subject is missing") {
		t.Errorf("without a subject: %q", f.Warnings)
	}
	events = slices.Insert(events, 1, Event(&Subject{IO: "mmap"}))
	if f := collect(events); len(f.Warnings) > 0 {
		t.Errorf("with one: %q", f.Warnings)
	}
}

// TestLostHeader: a run of a plan of which nobody knows what ran does not count:
// what comes before its first round would be missing from it.
func TestLostHeader(t *testing.T) {
	one := sound()
	plan := func(of []Event) *File {
		events := append([]Event{&Header{Format: Format, Version: Version, Command: "bench"}, &Plan{Arms: []Arm{{Name: "A"}}}, &Start{Run: 1, Block: 1, Arm: "A"}}, of...)
		return collect(append(events, &Exit{Run: 1, Spawned: 5, Reaped: 500}, &End{At: 600}))
	}
	if f := plan(one); len(f.Warnings) > 0 || !f.Runs[0].Counts() {
		t.Errorf("a whole run: %q", f.Warnings)
	}
	if f := plan(one[1:]); f.Runs[0].Counts() || !strings.Contains(strings.Join(f.Warnings, "\n"), "run 1: its header is missing") {
		t.Errorf("a run without its header counts: %v, told is %q", f.Runs[0].Counts(), f.Warnings)
	}
}

// TestWordsOfTheFormat: why a line is none is told without Go's types.
func TestWordsOfTheFormat(t *testing.T) {
	for line, want := range map[string]string{
		`{"k":"span","id":1,"in":0,"name":"round","start":"x","end":2}`: `event "span": the JSON string as its "start" cannot be: an integer is wanted`,
		`{"k":"span","id":1,"in":0,"name":7,"start":1,"end":2}`:         `event "span": the JSON number as its "name" cannot be: a text is wanted`,
		`{"k":"span","id":1.5,"in":0,"name":"x","start":1,"end":2}`:     `event "span": the JSON number 1.5 as its "id" cannot be: an integer is wanted`,
		`{"k":"round","round":1,"span":2,"prompt":1,"ids":{}}`:          `event "round": the JSON object as its "ids" cannot be: a list is wanted`,
		`{"k":7}`: `the JSON number as its "k" cannot be: a text is wanted`,
		`[]`:      `it is a JSON array: an object is wanted`,
	} {
		if _, err := new(decoder).decode([]byte(line)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", line, err, want)
		}
	}
}

// TestLostKernel: where the kernels of a run are not all that it dispatched, the
// share of each is not of all, which is told.
func TestLostKernel(t *testing.T) {
	kernels := []Event{&Kernel{Name: "nn", Dispatches: 900, Time: 30}, &Kernel{Name: "cos", Dispatches: 4, Time: 10}, &Kernel{Name: names.Blit, Dispatches: 3, Time: 5}}
	with := func(kernels ...Event) []string {
		events := sound()
		return collect(slices.Insert(events, len(events)-1, kernels...)).Warnings
	}
	if got := with(kernels...); len(got) > 0 {
		t.Errorf("all kernels: %q", got)
	}
	for i, want := range []string{"4 dispatches together and its command buffers 904", "900 dispatches together and its command buffers 904"} {
		if got := with(slices.Delete(slices.Clone(kernels), i, i+1)...); len(got) != 1 || !strings.Contains(got[0], want) {
			t.Errorf("without kernel %d: %q, want %s", i, got, want)
		}
	}
}

// collect puts events together to runs.
func collect(events []Event) *File {
	c := NewCollector()
	for _, e := range events {
		c.Add(e)
	}
	return c.File()
}

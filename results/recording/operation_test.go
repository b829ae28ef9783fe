package recording

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/introgen/introgen/trace/names"
)

// executing is the sound run, of which it is told what its dispatches computed.
func executing() []Event {
	events := sound()
	for _, e := range events {
		switch e := e.(type) {
		case *Span:
			if e.Name == names.SpanCommit || e.Name == names.SpanGPU {
				e.N = 3
			}
		case *Count:
			if e.Name == names.CountDispatches {
				e.Value = 3
			}
		}
	}
	last := len(events) - 1
	return append(events[:last:last],
		&Operation{ID: 1, Layer: NoLayer, Name: "token_embd", Library: "Indexing", Kernel: "is", Read: 100, Written: 100},
		&Operation{ID: 2, Layer: 0, Name: "attn_q", Library: "Quantized", Kernel: "mv", Read: 200, Written: 10, Ops: 400},
		&Operation{ID: 3, Layer: NoLayer, Name: "next token", Kernel: names.Blit, Read: 4, Written: 4},
		&Executed{Span: 11, Operations: []int{1, 2, 2, 3}, Start: []int64{55, 60, 70, 80}, Time: []int64{5, 10, 10, 1}},
		&Kernel{Name: "is", Dispatches: 1, Time: 5, Read: 100, Written: 100}, &Kernel{Name: "mv", Dispatches: 2, Time: 20, Read: 400, Written: 20, Ops: 800},
		&Kernel{Name: names.Blit, Dispatches: 1, Time: 1, Read: 4, Written: 4},
		&Limit{What: LimitMemory, Threads: 1, Best: 20, Median: 19, Samples: 3, Kernel: "avx2"},
		&Limit{What: LimitMemory, Threads: 2, Best: 40, Median: 39, Samples: 3, Kernel: "avx2"},
		events[last])
}

// TestOperationsThatCannotBe: what contradicts itself about operations is told,
// and does not count.
func TestOperationsThatCannotBe(t *testing.T) {
	f := collect(executing())
	if r := f.Runs[0]; len(f.Warnings) > 0 || len(r.Operations) != 3 || len(r.Executed) != 1 || r.Limit(LimitMemory).Best != 40 || r.Limit(LimitFloat32) != nil {
		t.Fatalf("what is sound is told of: %q, %d, %d, %v", f.Warnings, len(r.Operations), len(r.Executed), r.Limits)
	}
	executed := func(how func(*Executed)) func([]Event) []Event {
		return func(events []Event) []Event {
			for _, e := range events {
				if e, ok := e.(*Executed); ok {
					how(e)
				}
			}
			return events
		}
	}
	operation := func(id int, how func(*Operation)) func([]Event) []Event {
		return func(events []Event) []Event {
			for _, e := range events {
				if o, ok := e.(*Operation); ok && o.ID == id {
					how(o)
				}
			}
			return events
		}
	}
	also := func(e Event) func([]Event) []Event {
		return func(events []Event) []Event { return slices.Insert(events, len(events)-1, e) }
	}
	for name, c := range map[string]struct {
		damage   func([]Event) []Event
		executed int // that still count
		told     string
	}{
		"more ids than times":       {executed(func(e *Executed) { e.Operations = append(e.Operations, 1) }), 0, "5 operations of span 11 begin at 4 times and take 4"},
		"fewer durations":           {executed(func(e *Executed) { e.Time = e.Time[:3] }), 0, "begin at 4 times and take 3: as many of each"},
		"begins without durations":  {executed(func(e *Executed) { e.Time = nil }), 0, "as many of each are wanted"},
		"nothing ran":               {executed(func(e *Executed) { *e = Executed{Span: 11} }), 0, "0 operations ran in span 11"},
		"a number below one":        {executed(func(e *Executed) { e.Operations[1] = 0 }), 0, "operation 0 ran in span 11: numbers begin at 1"},
		"the same without times":    {executed(func(e *Executed) { *e = Executed{Span: 11, Operations: []int{-1}} }), 0, "operation -1 ran in span 11"},
		"a negative duration":       {executed(func(e *Executed) { e.Time[0] = -1 }), 0, "no negative time is wanted"},
		"a time beyond all":         {executed(func(e *Executed) { e.Start[3] = maxAmount + 1 }), 0, "is taken"},
		"before the one before":     {executed(func(e *Executed) { e.Start[0] += 100_000 }), 0, "begins at 60 ns, before the one before it has ended at 100060"},
		"behind its command buffer": {executed(func(e *Executed) { e.Start[3] += 100_000 }), 0, `ran from 55 to 100081 ns, outside of "gpu" (span 11)`},
		"in no span":                {executed(func(e *Executed) { e.Span = 99 }), 0, "4 operations of span 99, which is missing, ran"},
		"in a span that runs none":  {executed(func(e *Executed) { e.Span = 10 }), 0, `ran in "wait" (span 10), which runs none`},
		"on a thread of a device":   {executed(func(e *Executed) { e.Track = 1 }), 0, "ran on track 1 of a device"},
		"on a thread below nothing": {executed(func(e *Executed) { e.Track = -1 }), 0, "a track from 0"},
		"never told":                {executed(func(e *Executed) { e.Operations[0] = 4 }), 0, "1 times operations ran that had not been told before"},
		"told behind it": {func(events []Event) []Event {
			i := slices.IndexFunc(events, func(e Event) bool { return e.Kind() == "executed" })
			events[i-1], events[i] = events[i], events[i-1]
			return events
		}, 0, "had not been told before"},
		"told twice":                {also(&Operation{ID: 2, Layer: 0, Name: "attn_k", Kernel: "mv"}), 0, "operation 2 is told 2 times: none counts"},
		"executed twice":            {also(&Executed{Span: 11, Operations: []int{1, 2, 2}}), 0, "stand there 2 times"},
		"a dispatch too few":        {executed(func(e *Executed) { *e = Executed{Span: 11, Operations: []int{1, 2, 3}} }), 0, `3 operations of span 11 of 2 dispatches are those of "gpu" (span 11), which has 3`},
		"another operation":         {executed(func(e *Executed) { e.Operations[0] = 2 }), 1, `the kernel "is" is said to have done 1 dispatches in 5 ns that read 100 bytes`},
		"another time":              {executed(func(e *Executed) { e.Time[0]-- }), 1, `the kernel "is" is said to have done 1 dispatches in 5 ns`},
		"other bytes":               {operation(2, func(o *Operation) { o.Read++ }), 1, `the kernel "mv" is said to have done 2 dispatches in 20 ns that read 400 bytes, wrote 20 and made 800 operations, 0 of them unknown, and its operations did 2 dispatches in 20 ns that read 402`},
		"fewer bytes than nothing":  {operation(2, func(o *Operation) { o.Written = -1 }), 0, "no negative number is wanted"},
		"a layer below all":         {operation(2, func(o *Operation) { o.Layer = -2 }), 0, "layers at -1"},
		"no name":                   {operation(2, func(o *Operation) { o.Name = "" }), 0, "names are wanted"},
		"unknown and known":         {operation(2, func(o *Operation) { o.Unknown = true }), 0, "is of unknown cost, and reads 200"},
		"more unknown than ran":     {also(&Kernel{Name: "k", Dispatches: 1, Unknown: 2}), 1, "with 2 of 1 dispatches of unknown cost"},
		"a number left out":         {operation(3, func(o *Operation) { o.ID = 7 }), 0, "operation 7 is told as number 3"},
		"a limit twice":             {also(&Limit{What: LimitMemory, Threads: 1, Best: 90, Median: 19, Samples: 3}), 1, `the limit "memory read" by 1 threads stands there 2 times: none counts`},
		"a limit below its median":  {also(&Limit{What: LimitFloat32, Threads: 1, Best: 1, Median: 19, Samples: 3}), 1, "no less than in the middle"},
		"a limit of nothing":        {also(&Limit{What: LimitFloat32, Threads: 1, Samples: 3}), 1, "0 at the best"},
		"a limit of something else": {also(&Limit{What: "light", Threads: 1, Best: 2, Median: 1, Samples: 3}), 1, `the limit "light" is not known`},
	} {
		t.Run(name, func(t *testing.T) {
			// What is written is read, as it would be of a file.
			f, err := Read(bytes.NewReader(encode(t, c.damage(executing())...)), "x")
			if err != nil {
				t.Fatal(err)
			}
			if told := strings.Join(f.Warnings, "\n"); !strings.Contains(told, c.told) {
				t.Errorf("told: %q, want %q", told, c.told)
			}
			if n := len(f.Runs[0].Executed); n != c.executed {
				t.Errorf("%d executions count, want %d", n, c.executed)
			}
		})
	}
}

// TestOperationsOutOfOrder: operations that are told in another order are those of
// their numbers.
func TestOperationsOutOfOrder(t *testing.T) {
	events := executing()
	first := slices.IndexFunc(events, func(e Event) bool { _, ok := e.(*Operation); return ok })
	for _, order := range [][3]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		mixed := slices.Clone(events)
		for i, k := range order {
			mixed[first+i] = events[first+k]
		}
		f := collect(mixed)
		r := f.Runs[0]
		if len(r.Operations) != 3 || len(r.Executed) != 1 {
			t.Fatalf("%v: %d operations, %d executed, %q", order, len(r.Operations), len(r.Executed), f.Warnings)
		}
		for i, o := range r.Operations {
			if o.ID != i+1 {
				t.Errorf("%v: operation %d stands as number %d", order, o.ID, i+1)
			}
		}
		if told := len(f.Warnings) == 1; told != (order != [3]int{0, 1, 2}) {
			t.Errorf("%v: warnings are %q", order, f.Warnings)
		}
	}
}

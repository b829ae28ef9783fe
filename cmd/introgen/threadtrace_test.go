package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/introgen/introgen/engine/cpu"
	"github.com/introgen/introgen/models"
	"github.com/introgen/introgen/models/modeltest"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// TestThreadTrace: an operation is told once, before what names it first; of a span
// each thread is told once, in whatever number of passes, and not where it did
// nothing.
func TestThreadTrace(t *testing.T) {
	rec := trace.New()
	tr := newThreadTrace(rec)
	a, b := cpu.Operation{Layer: -1, Name: "token_embd", Kernel: "x", Read: 5}, cpu.Operation{Name: "attention", Kernel: "y", Set: "avx2", Ops: 7}
	c := b
	c.Ops = 8
	work := []cpu.Work{{Operation: 0, Start: 10, End: 20}, {Operation: 1, Start: 20, End: 25}}
	prefill := rec.Begin(names.SpanPrefill, "", 100)
	tr.Passed([]cpu.Operation{a, b}, [][]cpu.Work{work, nil})
	work[0].Start, work[0].End, work[1].Start, work[1].End = 30, 31, 32, 34 // the engine's again
	tr.Passed([]cpu.Operation{a, c}, [][]cpu.Work{work, {{Operation: 1, Start: 31, End: 39}}})
	prefill.End()
	step := rec.Begin(names.SpanStep, "", 1)
	tr.Passed([]cpu.Operation{a, b}, [][]cpu.Work{nil, {{Operation: 1, Start: 50, End: 51}}})
	step.End()
	var got []recording.Event
	tr.tell(func(e recording.Event) { got = append(got, e) })
	want := []recording.Event{
		&recording.Operation{ID: 1, Layer: -1, Name: "token_embd", Kernel: "x", Read: 5},
		&recording.Operation{ID: 2, Name: "attention", Library: "avx2", Kernel: "y", Ops: 7},
		&recording.Operation{ID: 3, Name: "attention", Library: "avx2", Kernel: "y", Ops: 8},
		&recording.Executed{Span: prefill.ID(), Operations: []int{1, 2, 1, 3}, Start: []int64{10, 20, 30, 32}, Time: []int64{10, 5, 1, 2}},
		&recording.Executed{Span: prefill.ID(), Track: 1, Operations: []int{3}, Start: []int64{31}, Time: []int64{8}},
		&recording.Executed{Span: step.ID(), Track: 1, Operations: []int{2}, Start: []int64{50}, Time: []int64{1}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("told %+v, want %+v", got, want)
	}
	got = nil
	if tr.tell(func(e recording.Event) { got = append(got, e) }); got != nil {
		t.Errorf("told again: %+v", got)
	}
}

// TestThreadTraceByHand recomputes three rows of a run's table from the lines of its
// recording and the shapes of SmolLM2-135M: hidden 576, feed-forward 1536,
// vocabulary 49152, 34 bytes for 32 weights and 72 for 32 activations.
func TestThreadTraceByHand(t *testing.T) {
	modeltest.Path(t, models.StandIn)
	path, out := filepath.Join(t.TempDir(), "x.introgen"), &bytes.Buffer{}
	if code := run(t.Context(), []string{"introgen", "cpu", "1", "--tokens", "5", "--pack=off", "--trace", "-o", path}, out, io.Discard); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	const steps, layers = 5, 30
	elapsed, working, limit := elapsedByHand(t, path)
	_, table, _ := strings.Cut(out.String(), "decode step, 5 times, operations")
	for _, want := range []struct {
		name           string
		times          int
		bytes, operate float64 // of one time
	}{
		{"ffn_gate_up", steps * layers, 2*1536*612 + 18*72 + 4*1536 + 48*72, 2*2*1536*576 + 4*1536},
		{"ffn_down", steps * layers, 576*1632 + 48*72 + 2304 + 2304, 2*1536*576 + 576},
		{"output", steps, 49152*612 + 18*72 + 4*49152, 2*49152*576 + 49152},
	} {
		var row []string
		for line := range strings.Lines(table) {
			if f := strings.Fields(line); len(f) > 0 && f[0] == want.name {
				row = f
				break
			}
		}
		if len(row) != 10 {
			t.Fatalf("%s: the row is %q", want.name, row)
		}
		seconds, times := elapsed[want.name]/1e9, float64(want.times)
		for i, figure := range map[int]float64{2: working[want.name] / 1e6, 5: want.bytes * times / seconds / 1e9, 6: 100 * want.bytes * times / seconds / limit[recording.LimitMemory],
			7: want.operate * times / seconds / 1e9, 8: 100 * want.operate * times / seconds / limit[recording.LimitFloat32]} {
			most := 0.01 * figure
			if i == 6 || i == 8 { // in whole percent
				most = max(most, 0.5)
			}
			if got, err := strconv.ParseFloat(strings.Replace(row[i], "<1", "0.5", 1), 64); err != nil || math.Abs(got-figure) > most {
				t.Errorf("%s: column %d of %q is %s, by hand %v", want.name, i, row, row[i], figure)
			}
		}
	}
}

// elapsedByHand reads the lines of a recording: in all decode steps together, how long each
// operation took by the wall clock and over the threads, in nanoseconds; and the limits.
func elapsedByHand(t *testing.T, path string) (elapsed, working, limits map[string]float64) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	type key struct{ span, operation int }
	steps, names, first, last := map[int]bool{}, map[int]string{}, map[key]float64{}, map[key]float64{}
	elapsed, working, limits = map[string]float64{}, map[string]float64{}, map[string]float64{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var e struct {
			K, Name, What string
			ID, Span      int
			Operations    json.RawMessage // a list, or the number of one's own
			Start         []float64       `json:"start_ns"`
			NS            []float64
			Best          float64
		}
		var span struct{ K string } // whose start is a number
		if err := json.Unmarshal(lines.Bytes(), &span); err != nil {
			t.Fatal(err)
		}
		switch span.K {
		case "span", "operation", "executed", "limit":
			if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
				t.Fatal(err)
			}
		}
		switch e.K {
		case "span":
			steps[e.ID] = e.Name == "decode step"
		case "operation":
			names[e.ID] = e.Name
		case "limit":
			limits[e.What] = e.Best
		case "executed":
			var ids []int
			if err := json.Unmarshal(e.Operations, &ids); err != nil {
				t.Fatal(err)
			}
			for i, id := range ids {
				if k := (key{e.Span, id}); steps[e.Span] {
					if from, seen := first[k]; !seen || e.Start[i] < from {
						first[k] = e.Start[i]
					}
					last[k] = max(last[k], e.Start[i]+e.NS[i])
					working[names[id]] += e.NS[i]
				}
			}
		}
	}
	for k, from := range first {
		elapsed[names[k.operation]] += last[k] - from
	}
	return elapsed, working, limits
}

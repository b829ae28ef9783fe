package parquet

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/parquet-go/parquet-go"

	"github.com/introgen/introgen/results/programtest"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/view"
	"github.com/introgen/introgen/trace/names"
)

// row is a row by its columns, "" where it has nothing there; of a map the keys and
// the values with commas between them.
type row map[string]string

// tables writes a recording's tables and reads them again.
func tables(t *testing.T, f *recording.File) (spans, samples []row) {
	t.Helper()
	var a, b bytes.Buffer
	if err := errors.Join(writeSpans(&a, "x", f), writeSamples(&b, "x", f)); err != nil {
		t.Fatal(err)
	}
	return read(t, a.Bytes()), read(t, b.Bytes())
}

func read(t *testing.T, table []byte) (out []row) {
	t.Helper()
	r := parquet.NewReader(bytes.NewReader(table))
	columns := r.Schema().Columns()
	into := make([]parquet.Row, 1)
	for {
		n, err := r.ReadRows(into)
		if n == 0 && errors.Is(err, io.EOF) {
			return out
		}
		if n == 0 {
			t.Fatal(err)
		}
		one := row{}
		for _, v := range into[0] {
			if name := strings.Join(columns[v.Column()], "."); !v.IsNull() {
				one[name] = strings.TrimPrefix(one[name]+","+v.String(), ",")
			}
		}
		out = append(out, one)
	}
}

func kept(t *testing.T, name string) *recording.File {
	t.Helper()
	f, err := recording.Open(filepath.Join("..", "recorded", name+recording.Ending))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestSamplesAreThoseOfCSV: both have the same rows, in the same order.
func TestSamplesAreThoseOfCSV(t *testing.T) {
	for name, f := range map[string]*recording.File{"states": kept(t, "experiment-states"), "sweep": kept(t, "experiment-sweep"),
		"program": programtest.File(programtest.Unmarked(programtest.Cold)), "detailed": programtest.File(programtest.Detailed()), "engine": programtest.File(programtest.Engine(programtest.Warm))} {
		var want bytes.Buffer
		if err := view.CSV(&want, f); err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(&want).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		_, samples := tables(t, f)
		if len(samples) != len(rows)-1 || len(samples) == 0 {
			t.Fatalf("%s: %d rows, and CSV has %d", name, len(samples), len(rows)-1)
		}
		for i, s := range samples {
			var got []string
			for _, name := range rows[0] {
				got = append(got, s[name])
			}
			if !slices.Equal(got, rows[i+1]) {
				t.Errorf("%s: row %d is %q, and in CSV %q", name, i, got, rows[i+1])
			}
		}
	}
}

// hold compares some columns of a row.
func hold(t *testing.T, got, want row) {
	t.Helper()
	for name, value := range want {
		if got[name] != value {
			t.Errorf("the column %s is %q, want %q, in %v", name, got[name], value, got)
		}
	}
}

// TestColumns: what a row says of its run.
func TestColumns(t *testing.T) {
	_, sweep := tables(t, kept(t, "experiment-sweep"))
	// The experiment's lines for CANDLE_METAL_COMPUTE_PER_BUFFER=200, of which the
	// recording has the second rounds.
	i := slices.IndexFunc(sweep, func(s row) bool { return s["arm"] == "per-buffer=200" && s["what"] == names.SpanStep })
	hold(t, sweep[i], row{"file": "x", "run": "4", "process": "0", "plan": "sweep", "block": "1", "counts": "true", "command": "metal", "model": "SmolLM2-135M-Instruct-Q8_0.gguf",
		"device": "metal", "state": "warm-cache", "commands_per_buffer": "200", "levels.key_value.key": "per-buffer", "levels.key_value.value": "200",
		"knobs.key_value.key": "", "round": "2", "speaks": "true", "number": "1"})
	parent, child := programtest.Child()
	spans, samples := tables(t, programtest.File(parent, child))
	hold(t, samples[0], row{"plan": "", "model": "", "block": "", "arm": "", "device": "soft", "commands_per_buffer": "", "levels.key_value.key": "", "state": "cold-natural"})
	hold(t, spans[0], row{"run": "1"})
	hold(t, spans[len(spans)-1], row{"run": "2"})
	_, silent := tables(t, programtest.File(programtest.Silent()))
	hold(t, silent[0], row{"device": ""})
	arms := []recording.Arm{{Name: "a", State: recording.StateWarmCache, Args: []string{"record", "--", "./p"}, Env: map[string]string{candleVariable: "7"}}}
	f := programtest.Plan("bench", nil, 1, arms, func(int, int) *programtest.Recording { return programtest.Marked(programtest.Warm) })
	_, planned := tables(t, f)
	hold(t, planned[0], row{"commands_per_buffer": "7", "plan": "bench"})
}

// TestSpans: each span has the round, the phase and the step that it lies in,
// however deeply; of a program by the clock where it lies in no span.
func TestSpans(t *testing.T) {
	spans, _ := tables(t, programtest.File(programtest.Engine(programtest.Cold)))
	compiled := map[string]string{}
	for _, s := range spans {
		switch s["name"] {
		case names.SpanLibrary:
			compiled[s["detail"]+" in "+s["phase"]+s["step"]] = s["ns"]
		case names.SpanArguments:
			hold(t, s, row{"round": "", "phase": ""})
		case names.SpanRound:
			hold(t, s, row{"round": "1", "phase": "", "parent": "0"})
		}
	}
	// As programtest.Marked says.
	want := map[string]string{"Gemm in build model": "300000000", "Reduce in prefill": "300000000", "Sdpa in decode step1": "110000000"}
	if !maps.Equal(compiled, want) {
		t.Errorf("compiled is %v, want %v", compiled, want)
	}
	spans, _ = tables(t, programtest.File(programtest.Threads()))
	for _, s := range spans {
		if s["name"] == names.SpanLibrary {
			hold(t, s, row{"round": "1", "phase": "to first output"})
		}
	}
	if !slices.ContainsFunc(spans, func(s row) bool { return s["track"] != "0" }) {
		t.Error("there is no span of another thread")
	}
}

// TestOperations: what ran in a span stands behind it, with what it read and
// computed, as far as that is known.
func TestOperations(t *testing.T) {
	r := programtest.Engine(programtest.Warm)
	i := slices.IndexFunc(r.Events, func(e recording.Event) bool {
		s, ok := e.(*recording.Span)
		return ok && s.Name == names.SpanGPU
	})
	gpu := r.Events[i].(*recording.Span)
	begin := int64(gpu.Start)
	e := &recording.Executed{Span: gpu.ID}
	for k := range gpu.N {
		e.Operations, e.Start, e.Time = append(e.Operations, 1+int(k)%2), append(e.Start, begin+k*1000), append(e.Time, 900)
	}
	r.Events = slices.Insert(r.Events, i+1, recording.Event(&recording.Operation{ID: 1, Layer: 3, Name: "attn_q", Library: "Quantized", Kernel: "kernel_mul_mv_q8_0_f32", Read: 352512, Written: 2304, Ops: 663552}),
		recording.Event(&recording.Operation{ID: 2, Layer: recording.NoLayer, Name: "output", Kernel: "k", Unknown: true}), recording.Event(e))
	f := programtest.File(r)
	if len(f.Warnings) > 0 {
		t.Fatal(f.Warnings)
	}
	spans, _ := tables(t, f)
	id := strconv.Itoa(int(gpu.ID))
	k := slices.IndexFunc(spans, func(s row) bool { return s["id"] == id })
	hold(t, spans[k+1], row{"id": "", "parent": id, "name": "attn_q", "detail": "kernel_mul_mv_q8_0_f32", "operation": "1", "layer": "3", "read_bytes": "352512", "written_bytes": "2304",
		"operations": "663552", "start_ns": strconv.FormatInt(begin, 10), "ns": "900", "phase": spans[k]["phase"], "round": "1"})
	hold(t, spans[k+2], row{"name": "output", "operation": "2", "layer": "", "read_bytes": "", "operations": "", "ns": "900"})
	hold(t, spans[k], row{"operation": "", "layer": ""})
}

// TestNothingHalf: a table that cannot be written leaves nothing, and what was there.
func TestNothingHalf(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "x"+SamplesEnding), 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := Write(dir, "x", kept(t, "experiment-sweep")); err == nil || !strings.Contains(err.Error(), "x"+SamplesEnding) {
		t.Errorf("a folder in the way: %v", err)
	}
	if _, err := Write(filepath.Join(dir, "absent"), "x", kept(t, "experiment-sweep")); err == nil {
		t.Error("a folder that is not there is no error")
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 2 {
		t.Errorf("%v, %v", left, err)
	}
	if got := Name("a/b.introgen"); got != "b" {
		t.Errorf("the name is %q", got)
	}
}

// FuzzTables: whatever is recorded, the tables can be written and read, have a row for
// each span and operation, and nothing in them that is not seen.
func FuzzTables(f *testing.F) {
	parent, child := programtest.Child()
	for _, seed := range [][]*programtest.Recording{{programtest.Engine(programtest.Cold)}, {programtest.Detailed()}, {parent, child}, {programtest.Silent()}} {
		f.Add(programtest.Bytes(seed...))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := recording.Read(bytes.NewReader(text), "fuzz")
		if err != nil {
			return
		}
		want := 0
		for _, outer := range r.Runs {
			for _, one := range append([]*recording.Run{outer}, outer.Children...) {
				want += len(one.Spans)
				for _, e := range one.Executed {
					want += len(e.Operations)
				}
			}
		}
		spans, samples := tables(t, r)
		if len(spans) != want {
			t.Errorf("%d rows of %d spans and operations", len(spans), want)
		}
		for _, one := range slices.Concat(spans, samples) {
			for name, value := range one {
				if i := strings.IndexFunc(value, func(r rune) bool { return !unicode.IsGraphic(r) }); i >= 0 {
					t.Errorf("the column %s has %q", name, value)
				}
			}
		}
	})
}

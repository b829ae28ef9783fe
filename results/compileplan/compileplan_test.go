package compileplan_test

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/compileplan"
	"github.com/introgen/introgen/results/programtest"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

func planOf(t *testing.T, f *recording.File) (*compileplan.Plan, error) {
	t.Helper()
	run, err := compileplan.Run(breakdown.Of(f))
	if err != nil {
		return nil, err
	}
	return compileplan.Of(run)
}

// TestOfProgram: what programtest says of its program stands in the plan, and what is
// written is read again.
func TestOfProgram(t *testing.T) {
	p, err := planOf(t, programtest.File(programtest.Marked(programtest.Cold)))
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, r := range p.Order() {
		l := p.Libraries[r.Library]
		x := l.Pipelines[r.Pipeline]
		said = append(said, fmt.Sprintf("%s (%s, %d ms) %s (%s, %d ms)", l.Name, l.Phase, l.Nanoseconds/1e6, x.Function, x.Phase, x.Nanoseconds/1e6))
	}
	want := []string{"Gemm (build model, 300 ms) gemm_nn (build model, 20 ms)", "Reduce (prefill, 300 ms) sum (prefill, 20 ms)", "Sdpa (decode step 1, 110 ms) sdpa_vector (decode step 1, 10 ms)"}
	if !reflect.DeepEqual(said, want) {
		t.Errorf("%q, want %q", said, want)
	}
	if sum, whole := p.Compiling(); sum != 760*time.Millisecond || !whole {
		t.Errorf("compiling %v, whole %v; the program says 760 ms", sum, whole)
	}
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	again, err := compileplan.Read(bytes.NewReader(b.Bytes()))
	if err != nil || !reflect.DeepEqual(again, p) {
		t.Errorf("read again: %+v, %v; want %+v", again, err, p)
	}
}

// compiled is a run that made libraries and pipelines one after another, each for a
// millisecond.
func compiled(all ...recording.Event) *recording.File {
	r := &recording.Run{Header: recording.Header{Command: "metal"}, End: &recording.End{}}
	for i, e := range all {
		id := trace.ID(i + 1)
		s := trace.Record{ID: id, Start: time.Duration(i) * time.Millisecond, End: time.Duration(i+1) * time.Millisecond}
		switch e := e.(type) {
		case *recording.Library:
			e.Span, s.Name, s.Detail = id, names.SpanLibrary, e.Name
			r.Libraries = append(r.Libraries, *e)
		case *recording.Pipeline:
			e.Span, s.Name, s.Detail = id, names.SpanPipeline, e.Library+" "+e.Function
			r.Pipelines = append(r.Pipelines, *e)
		}
		r.Spans = append(r.Spans, s)
	}
	return &recording.File{Runs: []*recording.Run{r}}
}

func lib(name string, bytes int) recording.Event {
	return &recording.Library{Name: name, SourceBytes: bytes, Cache: names.CacheMiss}
}

func pipe(library, function, constants string) recording.Event {
	return &recording.Pipeline{Library: library, Function: function, Constants: constants, Cache: names.CacheMiss}
}

// TestLeftOut: what a recording does not say exactly is not in the plan, which says
// why; what is made twice is needed once.
func TestLeftOut(t *testing.T) {
	p, err := planOf(t, compiled(
		lib("A", 10), pipe("A", "f", "1:bool=1"), pipe("A", "f", "1:bool=0"), pipe("A", "f", "1:bool=1"), lib("A", 10),
		pipe("A", "vector", "1:type 4=7"), lib("B", 10), lib("B", 20), pipe("B", "g", ""),
		pipe("?", "h", ""), pipe("Late", "k", "name:uint=4294967295"), lib(strings.Repeat("x", 5000), 1)))
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, r := range p.Order() {
		x := p.Libraries[r.Library].Pipelines[r.Pipeline]
		said = append(said, fmt.Sprint(p.Libraries[r.Library].Name, " ", x.Function, " ", x.Constants))
	}
	if want := []string{"A f [1:bool=1]", "A f [1:bool=0]", "Late k [name:uint=4294967295]"}; !reflect.DeepEqual(said, want) {
		t.Errorf("planned %q, want %q", said, want)
	}
	var left []string
	for _, l := range p.Left {
		left = append(left, strings.TrimSpace(l.Library[:min(len(l.Library), 5)]+" "+l.Function)+": "+l.Why)
	}
	for i, want := range []string{"B: libraries of 10 and 20 bytes of source are both called so", "xxxxx: a library of the name", "A vector: its constant 1 is of the type 4", "B g: libraries of 10 and 20", "? h: the recording does not know the name of its library"} {
		if i >= len(left) || !strings.HasPrefix(left[i], want) {
			t.Fatalf("left out %q; want at %d %q", left, i, want)
		}
	}
	if len(left) != 5 {
		t.Errorf("left out %q", left)
	}
}

func TestNothingToPlan(t *testing.T) {
	for want, f := range map[string]*recording.File{
		"no run of it that counts made a library or a pipeline": programtest.File(programtest.Silent()),
		"nothing that it made can be said exactly":              compiled(pipe("?", "f", "")),
	} {
		if p, err := planOf(t, f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v, %v; want %q", p, err, want)
		}
	}
	lost := compiled(lib("A", 1))
	lost.Runs[0].Lost = []recording.Hole{{First: 2, Last: 3}}
	if p, err := planOf(t, lost); err == nil || !strings.Contains(err.Error(), "spans are missing") {
		t.Errorf("of a torn recording: %+v, %v", p, err)
	}
}

const whole = `{"format": "introgen compile plan", "version": 1, "from": "x", "libraries": [
	{"name": "A", "source_bytes": 1, "phase": "build", "pipelines": [{"function": "f", "constants": [{"index": 1, "type": "bool", "value": "1"}], "phase": "build", "need": 1}]}]}`

// TestReadRefuses: a plan that is changed in one place is refused, and the error says
// where.
func TestReadRefuses(t *testing.T) {
	if _, err := compileplan.Read(strings.NewReader(whole)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ from, to, want string }{
		{`{"format"`, `[{"format"`, "no compile plan"},
		{`{"format"`, `{"k": "header", "format": "introgen recording"}{"format"`, "it is no compile plan: `introgen remedy --plan FILE` writes one"},
		{"introgen compile plan", "introgen recording", "it is no compile plan: `introgen remedy --plan FILE` writes one"},
		{`"version": 1`, `"version": 2`, "version 2: 1 to 1 are known"},
		{`"version": 1`, `"version": 1, "more": 1`, `unknown field "more"`},
		{`"from": "x"`, `"from": 1`, "from"},
		{`"need": 1}]}]}`, `"need": 1}]}]}{}`, "behind its end"},
		{`"A"`, `""`, "library 1: a library of the name"},
		{`"f"`, `"f\u0000"`, "a function of the name"},
		{`"source_bytes": 1`, `"source_bytes": -1`, "no negative number"},
		{`"source_bytes": 1`, `"source_bytes": 1, "sha256": "ab"`, "no SHA-256"},
		{`"from": "x"`, `"from": "x", "kernels_sha256": "AB"`, "no SHA-256"},
		{`"need": 1`, `"need": 2`, "has the need 2"},
		{`"need": 1`, `"need": 0`, "has the need 0"},
		{`"type": "bool"`, `"type": "float4"`, `the type "float4"`},
		{`"value": "1"`, `"value": "2"`, `the value "2", which is no bool`},
		{`"type": "bool", "value": "1"`, `"type": "float", "value": "NaN"`, `the value "NaN", which is no float`},
		{`"source_bytes": 1`, `"source_bytes": 1, "compile_ns": 9007199254740993`, "none above"},
		{`"need": 1}]}]}`, `"need": 1, "compile_ns": 9007199254740992}]}, {"name": "B", "source_bytes": 1, "compile_ns": 1, "phase": "", "pipelines": []}]}`, "all together"},
		{`"index": 1`, `"index": 65536`, "an index from 0 to 65535"},
		{`"index": 1`, `"index": 1, "name": "n"`, "the index 0"},
		{`"index": 1`, `"index": 0, "name": "n;"`, "a name of MSL"},
		{`"value": "1"}`, `"value": "1"}, {"index": 1, "type": "bool", "value": "0"}`, "stands there twice"},
		{`"need": 1}`, `"need": 1}, {"function": "f", "constants": [{"index": 1, "type": "bool", "value": "1"}], "phase": "", "need": 2}`, "stands there twice"},
		{`]}]}`, `]}, {"name": "A", "source_bytes": 1, "phase": "", "pipelines": []}]}`, `library "A" stands there twice`},
		{`"libraries": [`, `"libraries": [], "libraries_": [`, "unknown field"},
	} {
		text := strings.Replace(whole, c.from, c.to, 1)
		if text == whole {
			t.Fatalf("nothing to replace: %s", c.from)
		}
		if p, err := compileplan.Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s → %s: %+v, %v; want %q", c.from, c.to, p, err, c.want)
		}
	}
	if _, err := compileplan.Read(strings.NewReader(strings.Repeat(" ", 17<<20))); err == nil {
		t.Error("17 MB were read")
	}
}

// FuzzRead: what is read at all is written and read again as the same.
func FuzzRead(f *testing.F) {
	f.Add(whole)
	f.Add(`{"format": "introgen compile plan", "version": 1, "libraries": null}`)
	f.Add(strings.Replace(whole, `"type": "bool", "value": "1"`, `"type": "float", "value": "0x7fc00000"`, 1))
	f.Fuzz(func(t *testing.T, text string) {
		p, err := compileplan.Read(strings.NewReader(text))
		if err != nil {
			return
		}
		if order := p.Order(); len(order) != p.Pipelines() {
			t.Fatalf("%d of %d in order", len(order), p.Pipelines())
		}
		var b bytes.Buffer
		if err := p.Write(&b); err != nil {
			t.Fatal(err)
		}
		again, err := compileplan.Read(bytes.NewReader(b.Bytes()))
		if err != nil {
			t.Fatalf("%v\n%s", err, b.Bytes())
		}
		var c bytes.Buffer
		if err := again.Write(&c); err != nil || !bytes.Equal(b.Bytes(), c.Bytes()) {
			t.Fatalf("%s\n%s\n%v", b.Bytes(), c.Bytes(), err)
		}
	})
}

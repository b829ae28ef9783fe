package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/introgen/introgen/models"
	"github.com/introgen/introgen/models/modeltest"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/system/files"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

func TestParse(t *testing.T) {
	for _, args := range []string{"", "-program p x", "-program p -model no-such-model", "-program p -lengths 2,x", "-program p -per-buffer 0"} {
		if o, err := parse(strings.Fields(args)); err == nil {
			t.Errorf("%q: %+v", args, o)
		}
	}
	modeltest.Path(t, models.StandIn)
	o, err := parse(strings.Fields("-program p -lengths 2,13"))
	if err != nil || !slices.Equal(o.lengths, []int{2, 13}) || !slices.Equal(o.perBuffer, []int{1, 10, 50, 200}) {
		t.Errorf("%+v, %v", o, err)
	}
	if got := promptOf(15); !slices.Equal(got[:13], experiment) || !slices.Equal(got[13:], experiment[:2]) {
		t.Errorf("a prompt of 15 tokens is %v", got)
	}
}

func TestCompare(t *testing.T) {
	a := &did{compiled: []string{"LIB A"}, encoded: []string{"encoder compute", "commit 0"}, ids: []int32{1}}
	for want, b := range map[string]*did{
		"": a,
		`library or pipeline 1 is "LIB A" of candle and "LIB B" of introgen`: {compiled: []string{"LIB B"}, encoded: a.encoded, ids: a.ids},
		`event 2 is "commit 0" of candle and "nothing" of introgen`:          {compiled: a.compiled, encoded: a.encoded[:1], ids: a.ids},
		"candle's ids are [1], introgen's [2]":                               {compiled: a.compiled, encoded: a.encoded, ids: []int32{2}},
	} {
		if got := compare(a, b); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestRead: what a recording says happened, in that order, whatever the order of its
// lines.
func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.introgen")
	w, err := recording.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	span := func(id trace.ID, name, detail string, n int64) recording.Event {
		return &recording.Span{Record: trace.Record{ID: id, Name: name, Detail: detail, N: n, Start: 1, End: 2}}
	}
	for _, e := range []recording.Event{
		&recording.Header{Format: recording.Format, Version: 1},
		&recording.Dispatch{Span: 3, Library: "L", Function: "f", Grid: [3]int64{2, 3, 4}, Group: [3]int64{32, 1, 1}},
		&recording.Barrier{Span: 3, Scope: "buffers"},
		&recording.Dispatch{Span: 3, Library: "L", Function: "g", Grid: [3]int64{7, 1, 1}, Group: [3]int64{8, 1, 1}, Threads: true},
		span(4, names.SpanCommit, "", 2),
		span(1, names.SpanLibrary, "L", 9),
		span(2, names.SpanPipeline, "L f", 1),
		&recording.Pipeline{Span: 2, Library: "L", Function: "f", Constants: "10:bool=1"},
		span(3, names.SpanEncoder, "compute", 0),
		&recording.End{},
	} {
		if err := w.Put(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d := &did{}
	if err := d.read(f); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(d.compiled, []string{"LIB L", "PIPE L f 10:bool=1"}) {
		t.Errorf("compiled %q", d.compiled)
	}
	if want := []string{"encoder compute", "dispatch L f 2,3,4 threadgroups of 32,1,1", "barrier buffers", "dispatch L g 7,1,1 threads of 8,1,1", "commit 2"}; !slices.Equal(d.encoded, want) {
		t.Errorf("encoded %q, want %q", d.encoded, want)
	}
}

// TestCandle holds the engine's plan against candle itself, where the program on it
// has been built; all lengths and settings are the command's.
func TestCandle(t *testing.T) {
	cache, err := files.Cache()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(cache, "programs", "candle", "target", "release", "candle-program")
	if _, err := os.Stat(program); err != nil {
		t.Skip("SKIP: needs the program on candle: `scripts/candle-program` builds it, in minutes")
	}
	modeltest.Path(t, models.StandIn)
	introgen := filepath.Join(t.TempDir(), "introgen")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", introgen, "../../cmd/introgen").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := run(t.Context(), []string{"-introgen", introgen, "-program", program, "-tokens", "2", "-lengths", "13", "-per-buffer", "50,1"}); err != nil {
		t.Error(err)
	}
}

package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"math"
	"os/exec"
	"slices"
	"strings"
	"time"

	pprof "github.com/google/pprof/profile"
	"github.com/introgen/introgen/results/timeline/timelinetest"
	"github.com/introgen/introgen/trace/names"
	"github.com/rogpeppe/go-internal/testscript"
)

// recordedTimes is what a recording's lines add up to, read without the code of ours that
// reads recordings.
type recordedTimes struct {
	spans     map[string]time.Duration // by name
	libraries map[string]time.Duration // by name
	operated  time.Duration            // by all operations
	ran       int                      // command buffers
}

func timesOf(ts *testscript.TestScript, file string) recordedTimes {
	r := recordedTimes{spans: map[string]time.Duration{}, libraries: map[string]time.Duration{}}
	for line := range strings.Lines(ts.ReadFile(file)) {
		var e struct {
			Kind       string `json:"k"`
			Name       string
			Detail     string
			Start, End int64
			Took       []int64 `json:"ns"`
		}
		if strings.HasPrefix(line, `{"k":"executed"`) || strings.HasPrefix(line, `{"k":"span"`) {
			ts.Check(json.Unmarshal([]byte(line), &e))
		}
		switch {
		case e.Kind == "executed":
			for _, ns := range e.Took {
				r.operated += time.Duration(ns)
			}
		case e.Kind != "span" || e.End < 0:
		default:
			r.spans[e.Name] += time.Duration(e.End - e.Start)
			if e.Name == names.SpanLibrary {
				r.libraries[e.Detail] += time.Duration(e.End - e.Start)
			}
			if e.Name == names.SpanGPU {
				r.ran++
			}
		}
	}
	return r
}

func unpacked(ts *testscript.TestScript, file string) *bytes.Buffer {
	z, err := gzip.NewReader(strings.NewReader(ts.ReadFile(file)))
	ts.Check(err)
	var b bytes.Buffer
	_, err = b.ReadFrom(z)
	ts.Check(err)
	return &b
}

// alike says whether two times differ by no more than a thousandth.
func alike(a, b time.Duration) bool { return math.Abs(float64(a-b)) <= 0.001*float64(b) }

// laidOut, as laidout RECORDING TIMELINE: a viewer takes the packed timeline without a complaint,
// nothing overlaps on a track, and totals are those of the recording's lines.
func laidOut(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: laidout RECORDING TIMELINE")
	}
	want := timesOf(ts, args[0])
	b := unpacked(ts, args[1])
	if b.Len() > 50_000_000 {
		ts.Fatalf("the timeline has %d bytes", b.Len())
	}
	got, err := timelinetest.Read(b)
	ts.Check(err)
	if len(got.Complaints) > 0 {
		ts.Fatalf("%d complaints of the importer, the first: %s", len(got.Complaints), got.Complaints[0])
	}
	if x, y := got.Overlap(); x != nil {
		ts.Fatalf("on one track %q at %v and %q at %v overlap", x.Name, x.Start, y.Name, y.Start)
	}
	totals := got.Totals()
	for name, took := range want.spans {
		if !alike(totals[name], took) {
			ts.Fatalf("%q takes %v in the timeline, and %v was recorded", name, totals[name], took)
		}
	}
	if !alike(totals["operation"], want.operated) {
		ts.Fatalf("operations take %v in the timeline, and %v was recorded", totals["operation"], want.operated)
	}
	ends := 0
	for _, a := range got.Arrows {
		if a.To.Kind == names.SpanGPU {
			ends++
		}
	}
	if ends != want.ran {
		ts.Fatalf("%d arrows lead to what the device ran, and it ran %d command buffers", ends, want.ran)
	}
	for _, s := range got.Slices {
		if s.Kind == "operation" && want.ran > 0 && (s.In == nil || s.In.Kind != names.SpanGPU) {
			ts.Fatalf("the kernel %q at %v lies in no command buffer", s.Name, s.Start)
		}
	}
	ts.Logf("%d slices, %d arrows, %d counters; notes %v", len(got.Slices), len(got.Arrows), len(got.Counters), got.Metadata["notes"])
}

// profiledBy, as profiled RECORDING PROFILE: the profile's compiling and device time are those of the
// recording's lines, and go tool pprof names the libraries, the slowest first.
func profiledBy(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: profiled RECORDING PROFILE")
	}
	want := timesOf(ts, args[0])
	p, err := pprof.ParseData([]byte(ts.ReadFile(args[1])))
	ts.Check(err)
	sums := map[string]time.Duration{}
	for _, s := range p.Sample {
		for i, v := range s.Value {
			sums[p.SampleType[i].Type] += time.Duration(v)
		}
	}
	for kind, took := range map[string]time.Duration{"compile": want.spans[names.SpanLibrary] + want.spans[names.SpanPipeline], "gpu": want.spans[names.SpanGPU], "wall": time.Duration(p.DurationNanos)} {
		if !alike(sums[kind], took) {
			ts.Fatalf("the profile has %v of %s, and %v was recorded", sums[kind], kind, took)
		}
	}
	out, err := exec.Command("go", "tool", "pprof", "-top", "-nodecount=1000", "-nodefraction=0", "-sample_index=compile", ts.MkAbs(args[1])).CombinedOutput()
	if err != nil {
		ts.Fatalf("go tool pprof: %v\n%s", err, out)
	}
	var named, slowest []string
	for line := range strings.Lines(string(out)) {
		if words := strings.Fields(line); len(words) == 6 && want.libraries[words[5]] > 0 {
			named = append(named, words[5])
		}
	}
	for name := range want.libraries {
		slowest = append(slowest, name)
	}
	slices.SortFunc(slowest, func(a, b string) int { return int(want.libraries[b] - want.libraries[a]) })
	if !slices.Equal(named, slowest) {
		ts.Fatalf("go tool pprof names the libraries %q, want %q:\n%s", named, slowest, out)
	}
}

package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/introgen/introgen/metalshim/recorder"
	"github.com/introgen/introgen/metalshim/soft/clibrary"
)

// built compiles the program and the library that it is linked with.
func built(t testing.TB) string {
	t.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil || runtime.GOOS != "linux" {
		t.Skipf("SKIP: needs Linux, cc and the C library's headers: %v", err)
	}
	dir := t.TempDir()
	source, library, exe := filepath.Join(dir, "metal.c"), filepath.Join(dir, "metal.so"), filepath.Join(dir, "program")
	if err := os.WriteFile(source, []byte(program(t, list(t))), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, argv := range [][]string{
		{cc, "-g", "-O1", "-Wall", "-Werror", "-Wno-unused-function", "-fPIC", "-shared", "-o", library, source},
		{cc, "-Wall", "-Werror", "-o", exe, "testdata/main.c", library},
	} {
		if said, err := exec.CommandContext(t.Context(), argv[0], argv[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, said)
		}
	}
	return exe
}

// recorded runs the program under a recorder and returns what it said and what
// was recorded.
func recorded(t testing.TB, exe string, env ...string) (said string, events []recorder.Event) {
	t.Helper()
	path, err := recorder.Build(t.Context())
	if errors.Is(err, clibrary.ErrCompiler) {
		t.Skipf("SKIP: needs a C compiler: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	said = run(t, exe, append(env, "LD_PRELOAD="+path, recorder.Environment+"="+recorder.Setting(dir))...)
	folder, err := recorder.OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	rings := folder.Rings()
	if len(rings) != 1 {
		t.Fatalf("%d rings, %v", len(rings), folder.Refused)
	}
	defer rings[0].Close()
	if skipped := rings[0].Rest(func(e recorder.Event) { events = append(events, e) }); skipped > 0 || rings[0].Err() != nil {
		t.Errorf("%d slots skipped, %v", skipped, rings[0].Err())
	}
	return said, events
}

func run(t testing.TB, exe string, env ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// A recorded program is told, and tells Metal, what it would without a
// recorder: the same arguments, results, errors and blocks.
func TestNothingIsChanged(t *testing.T) {
	exe := built(t)
	alone := run(t, exe)
	if !strings.Contains(alone, "blocks: 14 copied, 14 given back; 1 pools\n0 objects in a pool, ") {
		t.Fatalf("without a recorder: %s", alone)
	}
	said, _ := recorded(t, exe)
	a, b := strings.Split(alone, "\n"), strings.Split(said, "\n")
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			t.Fatalf("line %d:\nrecorded: %s\nalone:    %s", i, line(b, i), line(a, i))
		}
	}
}

func line(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "nothing"
}

// call is what happened at one call of the program.
type call struct {
	what       string // selector, or what play.c calls it
	self, made uint64
	events     []recorder.Event
}

// divide puts events to the calls that they belong to, by the marks that the
// program sets before each, and takes the objects from what it said.
func divide(t *testing.T, said string, events []recorder.Event) []call {
	t.Helper()
	var calls []call
	for _, e := range events {
		switch {
		case e.Kind == recorder.Mark:
			calls = append(calls, call{what: e.Text})
		case len(calls) > 0:
			calls[len(calls)-1].events = append(calls[len(calls)-1].events, e)
		}
	}
	at := -1
	for l := range strings.Lines(said) {
		word := strings.Fields(l)
		if len(word) != 3 || word[0] != "@" {
			continue
		}
		address, err := strconv.ParseUint(word[2], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		if word[1] == "self" {
			at++
			calls[at].self = address
		} else {
			calls[at].made = address
		}
	}
	if at+1 != len(calls) {
		t.Fatalf("the program began %d calls, %d marks were recorded", at+1, len(calls))
	}
	return calls
}

// text is an event as expectations have it: kind, object, words up to the last
// that is not 0, text. Objects that are not the call's own are "object".
func (c *call) text(e recorder.Event) string {
	word := func(v uint64) string {
		switch {
		case v == c.self && v != 0:
			return "self"
		case v == c.made && v != 0:
			return "made"
		case v > 1<<40 && v < 1<<48:
			return "object"
		}
		return fmt.Sprint(v)
	}
	object, words := word(e.Object), []uint64{e.A, e.B, e.C, e.D}
	switch e.Kind {
	case recorder.LibraryBegin, recorder.LibraryEnd, recorder.PipelineBegin, recorder.PipelineEnd, recorder.ArchiveBegin, recorder.ArchiveEnd:
		object = "call"
	case recorder.Buffer:
		words[3] = 0
	case recorder.Heap, recorder.Commands:
		words[3] = 0
	case recorder.Commit, recorder.EncoderEnd:
		words[0] = 0
	case recorder.WaitEnd:
		words[1] = 0
	}
	out := []string{kinds[e.Kind], object}
	for len(words) > 0 && words[len(words)-1] == 0 {
		words = words[:len(words)-1]
	}
	for _, w := range words {
		out = append(out, word(w))
	}
	if e.Text != "" {
		out = append(out, strconv.Quote(e.Text))
	}
	return strings.Join(out, " ")
}

// Every method that is hooked leaves its events, with what it was given and
// what it gave, once: where a form of it calls another, and where a class calls
// its ancestor's method. testdata/events.txt was written from ring.h and from
// the arguments that the calls are generated with.
func TestEvents(t *testing.T) {
	said, events := recorded(t, built(t), "ADDRESSES=1")
	var got []string
	sent := map[string]bool{}
	for _, c := range divide(t, said, events) {
		sent[c.what] = true
		row := c.what
		for _, e := range c.events {
			row += " | " + c.text(e)
		}
		got = append(got, row)
	}
	text, err := os.ReadFile("testdata/events.txt")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for l := range strings.Lines(string(text)) {
		if !strings.HasPrefix(l, "#") {
			want = append(want, strings.TrimSuffix(l, "\n"))
		}
	}
	for i := range max(len(got), len(want)) {
		if line(got, i) != line(want, i) {
			t.Errorf("call %d:\ngot  %s\nwant %s", i, line(got, i), line(want, i))
		}
	}
	for _, h := range list(t) {
		if !sent[h.selector] {
			t.Errorf("%s is hooked and was not sent", h.selector)
		}
	}
}

// With a nonce every source that Metal is given ends with it, and nothing else
// is another.
func TestNonce(t *testing.T) {
	exe := built(t)
	alone := strings.Split(run(t, exe), "\n")
	text, events := recorded(t, exe, "INTROGEN_NONCE=once 7")
	said := strings.Split(text, "\n")
	sources := 0
	for i := 0; i < len(said); i++ {
		if line(said, i) == line(alone, i) {
			continue
		}
		if i+2 >= len(said) || said[i+1] != "// once 7" {
			t.Fatalf("line %d:\nwith a nonce: %q\nalone:        %s", i, said[i:min(i+4, len(said))], line(alone, i))
		}
		joined := said[i] + said[i+2]
		if joined != line(alone, i) {
			t.Errorf("line %d:\nwith a nonce: %s\nalone:        %s", i, joined, line(alone, i))
		}
		said = append(said[:i+1], said[i+3:]...)
		sources++
	}
	noted := 0
	for _, e := range events {
		if e.Kind == recorder.LibraryBegin && e.D&2 != 0 {
			noted++
		}
	}
	// Three without a handler, two of which fail, one with; and two of MTL4's.
	if sources != 6 || noted != 6 {
		t.Errorf("%d sources end with the nonce, %d are noted as ending with it", sources, noted)
	}
}

// A method that a class has from NSObject is not replaced: it is everybody's.
func TestEverybodysMethods(t *testing.T) {
	said, events := recorded(t, built(t), "PLAIN=1")
	if !strings.HasSuffix(said, "NSObject's methods are its own\n") {
		t.Errorf("%s", said)
	}
	for _, e := range events {
		if e.Kind == recorder.Constant || e.Kind == recorder.Missed {
			t.Errorf("%+v", e)
		}
	}
}

// BenchmarkDispatch is what a recorder adds to a dispatch: the two are measured
// in turn, and the shortest of each is compared.
func BenchmarkDispatch(b *testing.B) {
	const calls = 500_000 // fewer than a ring has slots
	exe := built(b)
	ns := func(said string) float64 {
		for l := range strings.Lines(said) {
			if rest, ok := strings.CutPrefix(l, "@ ns "); ok {
				v, err := strconv.ParseFloat(strings.TrimSpace(rest), 64)
				if err != nil {
					b.Fatal(err)
				}
				return v
			}
		}
		b.Fatalf("no time in %q", said)
		return 0
	}
	env := "CALLS=" + strconv.Itoa(calls)
	alone, with := math.Inf(1), math.Inf(1)
	for b.Loop() {
		alone = min(alone, ns(run(b, exe, env)))
		said, events := recorded(b, exe, env)
		with = min(with, ns(said))
		if len(events) < calls {
			b.Fatalf("%d events of %d calls", len(events), calls)
		}
	}
	b.ReportMetric(alone, "ns/dispatch-alone")
	b.ReportMetric(with, "ns/dispatch-recorded")
	b.ReportMetric(with-alone, "ns/dispatch-added")
}

var kinds = map[recorder.Kind]string{
	recorder.LibraryBegin: "library", recorder.LibraryEnd: "library made", recorder.Constant: "constant", recorder.Function: "function",
	recorder.PipelineBegin: "pipeline", recorder.PipelineEnd: "pipeline made", recorder.ArchiveBegin: "archive", recorder.ArchiveEnd: "archive done",
	recorder.Buffer: "buffer", recorder.Heap: "heap", recorder.Queue: "queue", recorder.Commands: "commands", recorder.Enqueue: "enqueue",
	recorder.Commit: "commit", recorder.Scheduled: "scheduled", recorder.Completed: "completed", recorder.Encoder: "encoder", recorder.EncoderEnd: "encoded",
	recorder.SetPipeline: "set", recorder.Dispatch: "dispatch", recorder.Barrier: "barrier", recorder.Fence: "fence", recorder.SharedEvent: "event",
	recorder.Blit: "blit", recorder.WaitBegin: "wait", recorder.WaitEnd: "waited", recorder.Handler: "handler", recorder.Label: "label", recorder.Missed: "missed",
}

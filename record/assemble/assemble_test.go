package assemble

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/introgen/introgen/metalshim/recorder"
	"github.com/introgen/introgen/results/recording"
)

// zero is where the run's clock is 0, in the tests.
const zero = 7_000_000_000

// tape is a process whose events are written down in the test, at times in
// microseconds of its run.
type tape struct {
	t *testing.T
	p *Process
	b []byte
}

func newTape(t *testing.T, o Options) *tape {
	p := &tape{t: t}
	o.Header = recording.Header{Format: recording.Format, Version: recording.Version, Command: "record", Clock: zero,
		Program: &recording.Program{Path: "/bin/program", PID: 7}}
	o.Driver = "soft"
	o.Put = func(e recording.Event) {
		var err error
		if p.b, err = recording.Encode(p.b, e); err != nil {
			t.Fatal(err)
		}
	}
	p.p = New(o)
	return p
}

func at(us int) int64 { return zero + int64(us)*1000 }

func (p *tape) event(us int, kind recorder.Kind, object uint64, words ...any) {
	p.on(0, us, kind, object, words...)
}

// on feeds an event of a thread. Words are numbers in their order, and a text.
func (p *tape) on(thread uint32, us int, kind recorder.Kind, object uint64, words ...any) {
	e := recorder.Event{Time: at(us), Thread: thread, Kind: kind, Object: object}
	for i, w := range words {
		switch w := w.(type) {
		case string:
			e.Text = w
		case int:
			*[]*uint64{&e.A, &e.B, &e.C, &e.D}[i] = uint64(w)
		}
	}
	p.p.Event(e)
}

// buffer feeds a command buffer of an encoder with dispatches: made, encoded for
// 10 µs, committed in 4, and run by the device from 20 to 20 + 10 µs later.
func (p *tape) buffer(us int, object uint64, dispatches int) {
	p.event(us, recorder.Commands, object, 1)
	p.event(us, recorder.Encoder, object+1, int(object), 2)
	for range dispatches {
		p.event(us+5, recorder.Dispatch, object+1, 1, 1, 1, 2)
	}
	p.event(us+10, recorder.EncoderEnd, object+1)
	p.event(us+16, recorder.Commit, object, int(at(us+12)))
	p.event(us+31, recorder.Completed, object, int(at(us+20)), int(at(us+30)), 4)
}

// waited feeds a wait.
func (p *tape) waited(from, to int) {
	p.event(from, recorder.WaitBegin, 1, 1)
	p.event(to, recorder.WaitEnd, 1, 1, int(at(from)), 1)
}

// ended ends the run, and reads what was recorded. That must be whole: a reader has
// nothing to warn of.
func (p *tape) ended(us int) *recording.Run {
	p.t.Helper()
	p.p.End(Ending{At: at(us)})
	f, err := recording.Read(bytes.NewReader(p.b), "")
	if err != nil {
		p.t.Fatalf("%v in\n%s", err, p.b)
	}
	for _, w := range f.Warnings {
		p.t.Errorf("a reader warns: %s", w)
	}
	if len(f.Runs) != 1 || f.Runs[0].End == nil {
		p.t.Fatalf("no whole run in\n%s", p.b)
	}
	return f.Runs[0]
}

// tree writes spans as an indented list, times in microseconds.
func tree(r *recording.Run, but ...string) string {
	depth := map[any]int{}
	var b strings.Builder
	for _, s := range r.Spans {
		depth[s.ID] = 0
		if s.Parent > 0 {
			depth[s.ID] = depth[s.Parent] + 1
		}
		if slices.Contains(but, s.Name) {
			continue
		}
		track := ""
		if s.Track != 0 {
			track = fmt.Sprintf(" on %d", s.Track)
		}
		fmt.Fprintf(&b, "%s%s/%s/%d %d-%d%s\n", strings.Repeat(" ", depth[s.ID]), s.Name, s.Detail, s.N, s.Start/time.Microsecond, s.End/time.Microsecond, track)
	}
	return b.String()
}

func compare(t *testing.T, got, want string) {
	t.Helper()
	if got != strings.TrimLeft(want, "\n") {
		t.Errorf("got\n%s\nwant%s", got, want)
	}
}

// counts are the counters' values by name, in their order.
func counts(r *recording.Run, name string) (out []int64) {
	for _, s := range r.Samples {
		if s.Name == name {
			out = append(out, s.Value)
		}
	}
	return out
}

func notes(r *recording.Run) string {
	var all []string
	for _, n := range r.Notes {
		all = append(all, n.Text)
	}
	return strings.Join(all, "\n")
}

package breakdown_test

import (
	"slices"
	"testing"
	"time"

	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/breakdown/breakdowntest"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// beside is that run of package breakdowntest, and what is doubted of it.
func beside(change func(*trace.Record)) (run *recording.Run, doubts []string) {
	f := breakdowntest.Beside(change)
	return f.Runs[0], f.Warnings
}

// Each moment of a wait counts for one library or pipeline: for what is waited for
// while that is being made, and before that for what keeps the threads from it.
func TestAwaits(t *testing.T) {
	raw, doubts := beside(nil)
	if len(doubts) > 0 || raw.LostSpans() > 0 {
		t.Fatalf("a sound run is doubted: %q", doubts)
	}
	run := breakdown.Take(raw)
	r := run.Rounds[0]
	type part struct {
		name string
		wall float64
	}
	for _, c := range []struct {
		phase             string
		compiling, encode float64
		compiles, carried []part // in order
	}{
		// What was begun for the round before it counts at its begin.
		{names.SpanRead, 0, 0, []part{{"Cast", 0}, {"Gemm", 0}}, nil},
		// Cast a is waited for from 30 to 90: Cast until 60, a until 80, and then nothing
		// of its own, but Gemm. Gemm g from 100: Gemm until 150, g until 200.
		{names.SpanBuild, 60 + 100, 185 - 160, []part{{"Cast a", 20}, {"Gemm g", 50}, {"Sdpa", 0}}, []part{{"Cast", 30}, {"Gemm", 60}}},
		// Gemm h waits for a thread from 230 to 250, which Sdpa has.
		{names.SpanPrefill, 70, 0, []part{{"Gemm h", 50}}, []part{{"Sdpa", 20}}},
		// Sdpa until 420, s until 435, and 5 ms in which nothing is made.
		{names.SpanStep, 25, 0, []part{{"Sdpa s", 15}, {"Sdpa unused", 0}}, []part{{"Sdpa", 10}}},
	} {
		p, _ := r.Phase(c.phase)
		parts := func(of []breakdown.Compile) (out []part) {
			for _, x := range of {
				name := x.Library
				if !x.IsLibrary() {
					name += " " + x.Function
				}
				out = append(out, part{name, float64(x.Wall()) / 1e6})
				if !x.Beside {
					t.Errorf("%s is not said to be made beside", name)
				}
			}
			return out
		}
		if p.Compiling() != at(c.compiling) || p.Encode != at(c.encode) || !slices.Equal(parts(p.Compiles), c.compiles) || !slices.Equal(parts(p.Carried), c.carried) {
			t.Errorf("%s compiles for %v and encodes for %v, of %v, carried %v; want %+v", c.phase, p.Compiling(), p.Encode, parts(p.Compiles), parts(p.Carried), c)
		}
	}
	var took, lost time.Duration
	for _, c := range slices.Concat(run.Metal().Libraries, run.Metal().Pipelines) {
		took, lost = took+c.Time, lost+c.Wall()
	}
	if want := at(55 + 144 + 20 + 60 + 270 + 50 + 15 + 5); took != want || lost != at(160+70+25) {
		t.Errorf("compiles took %v and cost %v, want %v and 255 ms", took, lost, want)
	}
	a, err := run.Account()
	if err != nil {
		t.Fatal(err)
	}
	sum := a.Unattributed
	for _, l := range a.Lines {
		sum += l.Time
	}
	if sum != at(451) || a.Wall != at(451) {
		t.Errorf("the lines add up to %v of %v, want 451 ms", sum, a.Wall)
	}
	if len(a.Compiles) != 8 {
		t.Errorf("%d compiles in the account, want 8", len(a.Compiles))
	}
}

// The same comes out where spans are told while they are open, and of a run that was
// cut off an open wait ends with the recording.
func TestAwaitsWhileTheRunGoesOn(t *testing.T) {
	raw, _ := beside(nil)
	b := breakdown.NewBuilder()
	b.Event(&recording.Header{Command: "metal"})
	for _, s := range raw.Spans {
		open := s
		open.End = -1
		b.Event(&recording.Span{Record: open})
	}
	for _, s := range raw.Spans {
		b.Event(&recording.Span{Record: s})
	}
	r := b.Rounds()[0]
	for name, want := range map[string]float64{names.SpanRead: 0, names.SpanBuild: 160, names.SpanPrefill: 70, names.SpanStep: 25} {
		if p, _ := r.Phase(name); p.Compiling() != at(want) {
			t.Errorf("%s compiles for %v, want %v ms", name, p.Compiling(), want)
		}
	}
}

// Waits that overlap, and waits for what nobody made, count no moment twice.
func TestDamagedAwaits(t *testing.T) {
	for name, change := range map[string]func(*trace.Record){
		"every wait until the end": func(s *trace.Record) {
			if s.Name == names.SpanAwait {
				s.Detail, s.Start = "", s.Start-5e6
			}
		},
		"one track": func(s *trace.Record) {
			if s.Track > 0 {
				s.Track = 1
			}
		},
		"in nothing": func(s *trace.Record) {
			if s.Track > 0 {
				s.Parent = 0
			}
		},
		"in the round": func(s *trace.Record) {
			if s.Track > 0 && s.ID > 5 {
				s.Parent = 5
			}
		},
		"endless": func(s *trace.Record) {
			if s.Track > 0 {
				s.End = -1
			}
		},
	} {
		raw, _ := beside(change)
		run := breakdown.Take(raw)
		for _, r := range run.Rounds {
			for _, p := range r.Phases {
				if p.Rest() < 0 || p.Compiling() > p.Time() {
					t.Errorf("%s: %s rests %v and compiles for %v of %v", name, p.Name, p.Rest(), p.Compiling(), p.Time())
				}
			}
		}
		if a, err := run.Account(); err == nil {
			sum := a.Unattributed
			for _, l := range a.Lines {
				sum += l.Time
			}
			if sum > a.Wall+time.Millisecond {
				t.Errorf("%s: lines of %v, a wall clock of %v", name, sum, a.Wall)
			}
		}
	}
}

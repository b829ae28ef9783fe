package breakdown_test

import (
	"testing"

	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/breakdown/breakdowntest"
	"github.com/introgen/introgen/results/recording"
)

// TestLarge: the run that the benchmarks take apart is one that counts whole.
func TestLarge(t *testing.T) {
	run := breakdown.Take(breakdowntest.Metal(2, 20, 605))
	m := run.Metal()
	if len(run.Rounds) != 2 || len(m.Libraries) != 10 || len(m.Pipelines) != 30 || len(m.Phases) != 2*22 || m.Phases[2].CommandBuffers != 605 {
		t.Errorf("%d rounds, %d libraries, %d pipelines, %d phases", len(run.Rounds), len(m.Libraries), len(m.Pipelines), len(m.Phases))
	}
	if _, err := run.Account(); err != nil {
		t.Error(err)
	}
}

func BenchmarkTake(b *testing.B) {
	f, err := recording.Open("../recorded/experiment-states.introgen")
	if err != nil {
		b.Fatal(err)
	}
	for name, run := range map[string]*recording.Run{"recorded": f.Runs[0], "large": breakdowntest.Metal(2, 20, 605)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				breakdown.Take(run)
			}
		})
	}
}

// BenchmarkBuilder is what a run that goes on pays for its lines.
func BenchmarkBuilder(b *testing.B) {
	run := breakdowntest.Metal(1, 20, 605)
	events := make([]recording.Event, len(run.Spans))
	for i, s := range run.Spans {
		events[i] = &recording.Span{Record: s}
	}
	b.ReportAllocs()
	for b.Loop() {
		builder := breakdown.NewBuilder()
		for _, e := range events {
			builder.Event(e)
		}
		builder.Ended(&run.Rounds[0])
	}
}

func BenchmarkAccount(b *testing.B) {
	run := breakdowntest.Metal(2, 20, 605)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := breakdown.Take(run).Account(); err != nil {
			b.Fatal(err)
		}
	}
}

package bill_test

import (
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/introgen/introgen/results/answers/bill"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/table"
	"github.com/introgen/introgen/results/table/tabletest"
	"github.com/introgen/introgen/trace"
)

func experiment(t *testing.T) *recording.File {
	t.Helper()
	f, err := recording.Open(filepath.Join("..", "..", "recorded", "experiment-states.introgen"))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestExperiment(t *testing.T) {
	bills, err := bill.Of(breakdown.Of(experiment(t)))
	if err != nil {
		t.Fatal(err)
	}
	if len(bills) != 4 {
		t.Fatalf("%d bills, want cold, cold-natural, warm-cache, cpu", len(bills))
	}
	cold := bills[0]
	ms := func(f float64) time.Duration { return time.Duration(f*1e3+0.5) * time.Microsecond }
	// All LIB lines that the experiment printed, and all PIPE lines.
	if want := ms(77.5 + 3828.6 + 114.2 + 70.5 + 4333.7 + 789.1 + 26.1 + 44.0 + 566.6 + 2130.6 + 1.9); cold.Compiling != want {
		t.Errorf("compiling takes %v, want %v", cold.Compiling, want)
	}
	if cold.Chain != ms(4333.8) || cold.ChainOf != "Reduce and rmsnorm_f32" {
		t.Errorf("the longest chain is %v, %s", cold.Chain, cold.ChainOf)
	}
	for _, b := range bills {
		sum := b.Unattributed.Time
		for _, l := range b.Lines {
			sum += l.Time
		}
		if sum != b.Wall.Time {
			t.Errorf("%s: the lines add up to %v, the wall clock is %v", b.Arm, sum, b.Wall.Time)
		}
		// The experiment's phases follow each other. Of those in which it
		// compiled, nobody knows what the rest was: 4111.2 − 4021.4,
		// 5869.4 − 5830.7 and 2144.1 − 2130.7 ms.
		want := 1.0
		if b.Arm == "cold" {
			want = 1 - (4111.2-4021.4+5869.4-5830.7+2144.1-2130.7)/12593.9
		}
		if math.Abs(b.Named-want) > 1e-4 {
			t.Errorf("%s: %v of the wall clock is named, want %v", b.Arm, b.Named, want)
		}
	}
	// Without Sdpa, which token 2 needs first: 10109.6 − 9852.1 + 4333.8 ms.
	if !strings.Contains(said(t, bills[:1]), "token 1 would be there 4591.3 ms after opening the file, instead of 10109.6.") {
		t.Errorf("it says\n%s", said(t, bills[:1]))
	}
	var b strings.Builder
	if err := bill.Document(bills[:1]).Write(&b, table.Plain); err != nil {
		t.Fatal(err)
	}
	tabletest.Golden(t, "experiment-cold.txt", b.String())
	tabletest.Fits(t, b.String())
}

// said is a document in one line.
func said(t *testing.T, bills []*bill.Bill) string {
	t.Helper()
	var b strings.Builder
	if err := bill.Document(bills).Write(&b, table.Plain); err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// plan is three runs of one arm whose wall clocks are 120, 100 and 140 ms.
func plan() *recording.File {
	ms := int64(time.Millisecond)
	c := recording.NewCollector()
	emit := func(all ...recording.Event) {
		for _, e := range all {
			c.Add(e)
		}
	}
	emit(&recording.Header{Format: recording.Format, Version: 1, Command: "bill"},
		&recording.Plan{Arms: []recording.Arm{{Name: "cold", State: recording.StateCold}}, Blocks: 3})
	for i, build := range []int64{60, 40, 80} {
		span := func(id, parent int32, name string, n, from, to int64) *recording.Span {
			s := &recording.Span{}
			s.ID, s.Parent, s.Name, s.N = trace.ID(id), trace.ID(parent), name, n
			s.Start, s.End = time.Duration(from*ms), time.Duration(to*ms)
			return s
		}
		emit(&recording.Start{Run: i + 1, Block: i + 1, Arm: "cold"},
			&recording.Header{Format: recording.Format, Version: 1, Command: "metal", Clock: 1000 * ms},
			span(1, 0, "arguments", 0, 0, 2), span(2, 0, "recording", 0, 2, 3),
			span(3, 0, "round", 1, 4, 14+build), span(4, 3, "build model", 0, 4, 4+build), span(5, 4, "recording", 0, 4, 6),
			span(6, 3, "prefill", 13, 4+build, 14+build),
			span(7, 0, "round", 2, 14+build, 34+build), span(8, 7, "build model", 0, 14+build, 34+build),
			span(9, 0, "round", 3, 34+build, 40+build), span(10, 9, "build model", 0, 34+build, 40+build),
			&recording.End{At: (41 + build) * ms},
			&recording.Exit{Run: i + 1, Spawned: 990 * ms, Reaped: (1050 + build) * ms})
	}
	return c.File()
}

func TestMedianRun(t *testing.T) {
	bills, err := bill.Of(breakdown.Of(plan()))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := bill.Document(bills).Write(&b, table.Plain); err != nil {
		t.Fatal(err)
	}
	tabletest.Golden(t, "median.txt", b.String())
	tabletest.Fits(t, b.String())
	if got := bills[0]; got.Run != 1 || got.Runs != 3 || got.Wall.Time != 120*time.Millisecond || got.Wall.Min != 100*time.Millisecond || got.Wall.Max != 140*time.Millisecond {
		t.Errorf("the bill is %+v", got)
	}
}

// Of an even number the run shown is the lower of the two in the middle.
func TestEvenRuns(t *testing.T) {
	f := plan()
	f.Runs = f.Runs[:2]
	bills, err := bill.Of(breakdown.Of(f))
	if err != nil {
		t.Fatal(err)
	}
	if got := said(t, bills); bills[0].Run != 2 || !strings.Contains(got, "run 2, the lower of the two in the middle of 2") {
		t.Errorf("run %d; %s", bills[0].Run, got)
	}
}

// A bill whose parts exceed the whole is none.
func TestExceeds(t *testing.T) {
	f := plan()
	f.Runs[1].Exit.Reaped -= int64(20 * time.Millisecond)
	f.Runs[1].End.At -= int64(20 * time.Millisecond)
	if _, err := bill.Of(breakdown.Of(f)); err == nil || !strings.Contains(err.Error(), "cold: run 2: the parts of the run add up to") {
		t.Errorf("got %v", err)
	}
	for _, r := range f.Runs {
		r.Exit.Refused = "for the test"
	}
	if _, err := bill.Of(breakdown.Of(f)); err == nil || !strings.Contains(err.Error(), "no run counts") {
		t.Errorf("without runs: %v", err)
	}
}

// What one run alone shows is without the process around it.
func TestOneRun(t *testing.T) {
	f := plan()
	one := f.Runs[0]
	one.Start, one.Exit = nil, nil
	bills, err := bill.Of(breakdown.Of(&recording.File{Runs: []*recording.Run{one}}))
	if err != nil {
		t.Fatal(err)
	}
	if b := bills[0]; b.ByParent || b.Wall.Time != 101*time.Millisecond || b.Runs != 1 {
		t.Errorf("the bill is %+v", b)
	}
	for _, l := range bills[0].Lines {
		if l.Phase == breakdown.ProcessStart || l.Phase == breakdown.ProcessExit {
			t.Errorf("a line %q, which nobody saw", l.Phase)
		}
	}
}

// TestNothing: why there is no bill is told, where runs count and where none does.
func TestNothing(t *testing.T) {
	f, err := recording.Open(filepath.Join("..", "..", "recorded", "experiment-sweep.introgen"))
	if err != nil {
		t.Fatal(err)
	}
	want := "there is nothing to make a bill of: no run that counts has its first round"
	if _, err := bill.Of(breakdown.Of(f)); err == nil || err.Error() != want {
		t.Errorf("runs without a first round: %v, want %s", err, want)
	}
	f.Runs[0].Doubt = "stands there once more"
	f.Runs = f.Runs[:1]
	want = "no run counts, so there is nothing to make a bill of: per-buffer=1: stands there once more"
	if _, err := bill.Of(breakdown.Of(f)); err == nil || err.Error() != want {
		t.Errorf("a run in doubt: %v, want %s", err, want)
	}
}

package remedy

import (
	"strings"
	"testing"
	"time"

	"github.com/introgen/introgen/results/programtest"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/table"
)

// measuredPlan is a plan with a plain start, which takes 730 ms to the first token and
// compiles for 760, and one after a warm-up, which takes 154.
func measuredPlan(t *testing.T, change func(arm string, r *recording.Run)) *recording.File {
	t.Helper()
	arms := []recording.Arm{
		{Name: Plain, State: recording.StateColdNatural, Levels: map[string]string{Factor: Plain}},
		{Name: WarmUp, State: recording.StateWarmCache, Levels: map[string]string{Factor: WarmUp}},
	}
	f := programtest.Plan("remedy", []string{Factor}, 2, arms, func(arm, _ int) *programtest.Recording {
		if arm == 0 {
			return programtest.Engine(programtest.Cold)
		}
		return programtest.Engine(programtest.Warm)
	})
	for _, r := range f.Runs {
		r.Exit.Reaped += int64(time.Second) // a cold one lives for longer than a second
		if r.Start.Arm == WarmUp {
			r.Exit.Prepared = []int64{int64(time.Second), int64(800 * time.Millisecond)}
		}
		change(r.Start.Arm, r)
	}
	return f
}

// TestMeasure: what stands in programtest stands in the answer, the prediction is by
// the plain runs alone, and the last preparation is the work at install time.
func TestMeasure(t *testing.T) {
	f := measuredPlan(t, func(string, *recording.Run) {})
	a, err := Measure(f, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Compared) != 1 || a.Runs != 2 {
		t.Fatalf("%+v", a)
	}
	v := a.Compared[0]
	if v.Runs != 2 || v.Install != 800*time.Millisecond {
		t.Errorf("%d runs, install %v", v.Runs, v.Install)
	}
	_, saves, err := Predict(f, Plain, []string{WarmUp}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, g := range v.Goals {
		if g.Predicted != g.Plain-saves[i].Saves || g.Lo > g.Predicted || g.Hi < g.Predicted {
			t.Errorf("%s: %v of %v, between %v and %v; it saves %v", g.Name, g.Predicted, g.Plain, g.Lo, g.Hi, saves[i])
		}
	}
	first := v.Goals[0]
	if took := time.Duration(first.Measured.Median); first.Plain-took != 576*time.Millisecond {
		t.Errorf("%v plain and %v warm, whose times to the first token are 730 and 154 ms", first.Plain, took)
	}
	g := GoalVersus{Plain: 1000, Predicted: 500, Lo: 490, Hi: 510}
	for measured, held := range map[float64]bool{500: true, 649: true, 651: false, 351: true, 349: false} {
		g.Measured.Median = measured
		if g.Held() != held {
			t.Errorf("measured %v against 500 of 1000: held %v", measured, g.Held())
		}
	}
}

// TestMeasureRefuses: runs that computed something else are not compared.
func TestMeasureRefuses(t *testing.T) {
	for want, change := range map[string]func(arm string, r *recording.Run){
		"generated other tokens": func(arm string, r *recording.Run) {
			if arm == WarmUp {
				r.Rounds[0].IDs = []int32{7}
			}
		},
		"no run of \"serial\" counts": func(arm string, r *recording.Run) {
			if arm == Plain {
				r.Exit.Refused, r.Exit.RefusedCode = "hung", recording.RefusedHung
			}
		},
	} {
		if a, err := Measure(measuredPlan(t, change), Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v, %v; want %q", a, err, want)
		}
	}
	f := measuredPlan(t, func(string, *recording.Run) {})
	f.Plan.Factors = nil
	if _, err := Measure(f, Options{}); err == nil || !strings.Contains(err.Error(), "`introgen remedy --measure` makes one") {
		t.Error(err)
	}
}

// TestMeasuredWords: the soonest start stands first, with what it needs before; two runs
// give no interval.
func TestMeasuredWords(t *testing.T) {
	a, err := Measure(measuredPlan(t, func(string, *recording.Run) {}), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := a.Document().Write(&b, table.Plain); err != nil {
		t.Fatal(err)
	}
	head, tables, _ := strings.Cut(b.String(), "\n\n")
	words := strings.Join(strings.Fields(head), " ")
	for _, want := range []string{"Soonest measured with 800.0 ms of work at install time is warmup: token 1 after", "an interval needs 6 runs of each kind, and there are 2"} {
		if !strings.Contains(words, want) {
			t.Errorf("without %q:\n%s", want, head)
		}
	}
	if strings.Contains(words, "measured without work") {
		t.Errorf("nothing without work at install time was measured:\n%s", head)
	}
	if !strings.Contains(tables, "  ?  ") || strings.Contains(tables, "  0.0  ") {
		t.Errorf("an interval of two runs:\n%s", tables)
	}
	for line := range strings.Lines(b.String()) {
		if len([]rune(line)) > 81 {
			t.Errorf("%q is wider than 80 columns", line)
		}
	}
}

package sweep

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/metrics"
	"github.com/introgen/introgen/results/programtest"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/table"
	"github.com/introgen/introgen/results/table/tabletest"
)

// TestNotTheSameWork: what a program commits until a wait is what the swept setting
// changes, so that a step of one value is not the work of a step of another. The
// program as a whole is.
func TestNotTheSameWork(t *testing.T) {
	arms := []recording.Arm{}
	for _, level := range []string{"1", "40"} {
		arms = append(arms, recording.Arm{Name: "PER=" + level, State: recording.StateWarmCache, Args: []string{"record", "--", "./p"}, Env: map[string]string{"PER": level}, Levels: map[string]string{"PER": level}})
	}
	f := programtest.Plan("sweep", []string{"PER"}, 6, arms, func(arm, block int) *programtest.Recording {
		if arm == 0 {
			return programtest.Waiting(400, 1) // 850 ms, in steps of 2
		}
		return programtest.Steps(1, 40, true) // 1250 ms, in steps of 200
	})
	a, err := Of(breakdown.Of(f), metrics.Decode)
	if err != nil {
		t.Fatal(err)
	}
	rows, v := a.Groups[0].Rows, a.Groups[0].Verdict
	if a.Metric.Name != metrics.Lives.Name || !a.Whole || rows[0].Time.Median != 850e6 || rows[1].Time.Median != 1250e6 {
		t.Errorf("it is swept by %s: %v and %v", a.Metric.Name, rows[0].Time.Median, rows[1].Time.Median)
	}
	if one, forty := rows[0].Device, rows[1].Device; one.Dispatches != 400 || one.Buffers != 400 || forty.Dispatches != 240 || forty.Buffers != 6 {
		t.Errorf("the devices are those of %+v and %+v", one, forty)
	}
	if v.Take != "1" || math.Abs(v.Ratios[0].Ratio.Ratio-1250.0/850) > 1e-9 {
		t.Errorf("the verdict is %+v", v)
	}
	if !slices.ContainsFunc(a.Notes, func(n string) bool { return strings.Contains(n, "has from 1 to 40 dispatches") }) {
		t.Errorf("notes %q", a.Notes)
	}
}

// TestPrograms: a program that marks no decode steps is swept by what it repeats,
// with the command buffers of that, and with what it did as a whole.
func TestPrograms(t *testing.T) {
	const factor = "CANDLE_METAL_COMPUTE_PER_BUFFER"
	arms := []recording.Arm{}
	for _, level := range []string{"1", "50"} {
		arms = append(arms, recording.Arm{Name: factor + "=" + level, State: recording.StateWarmCache, Args: []string{"record", "--", "./p"},
			Env: map[string]string{factor: level}, Levels: map[string]string{factor: level}})
	}
	f := programtest.Plan("sweep", []string{factor}, 6, arms, func(arm, block int) *programtest.Recording {
		if arm == 0 {
			return programtest.Steps(20, 1, true)
		}
		return programtest.Steps(4, 5, false)
	})
	if len(f.Warnings) > 0 {
		t.Fatal(f.Warnings)
	}
	a, err := Of(breakdown.Of(f), metrics.Decode)
	if err != nil {
		t.Fatal(err)
	}
	if a.Metric.Name != metrics.Repeats.Name {
		t.Errorf("it is swept by %s", a.Metric.Name)
	}
	one, four := a.Groups[0].Rows[0].Device, a.Groups[0].Rows[1].Device
	if one.Buffers != 20 || one.Dispatches != 20 || four.Buffers != 4 || four.Dispatches != 20 || one.Encode != 40e6 || four.Wait != 11e6 {
		t.Errorf("devices %+v and %+v", one, four)
	}
	var b strings.Builder
	if err := a.Document().Write(&b, table.Plain); err != nil {
		t.Fatal(err)
	}
	tabletest.Golden(t, "program.txt", b.String())
	tabletest.Fits(t, b.String())
}

// TestNoneCounts: where every run of a program fails, why it does is all that there is
// to be said; what such runs lack besides is no news.
func TestNoneCounts(t *testing.T) {
	arms := []recording.Arm{{Name: "X=1", State: recording.StateWarmCache, Args: []string{"record", "--", "./p"}, Levels: map[string]string{"X": "1"}}}
	f := programtest.Plan("sweep", []string{"X"}, 3, arms, func(int, int) *programtest.Recording { return programtest.Silent() })
	for _, r := range f.Runs {
		r.Exit.Refused, r.Exit.RefusedCode = "ended with exit code 7: model not found", recording.RefusedExit
	}
	_, err := Of(breakdown.Of(f), metrics.Decode)
	want := "no run counts, so there is nothing to sweep over: Runs that do not count (refused, failed or cut off): X=1 3 of 3; X=1: ended with exit code 7: model not found (3 times)"
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

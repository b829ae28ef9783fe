package sweep

import (
	"strings"
	"testing"

	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/metrics"
	"github.com/introgen/introgen/results/programtest"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/table"
	"github.com/introgen/introgen/results/table/tabletest"
)

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

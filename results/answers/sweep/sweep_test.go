package sweep

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/metrics"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/table"
	"github.com/introgen/introgen/results/table/tabletest"
)

func TestExperiment(t *testing.T) {
	f, err := recording.Open(filepath.Join("..", "..", "recorded", "experiment-sweep.introgen"))
	if err != nil {
		t.Fatal(err)
	}
	a, err := Of(breakdown.Of(f), metrics.Decode)
	if err != nil {
		t.Fatal(err)
	}
	// The means that the experiment printed, and candle's own command buffers.
	g := a.Groups[0]
	for i, want := range []struct {
		level   string
		ms      float64
		buffers float64
	}{{"1", 231.4 / 20, 605}, {"10", 53.0 / 20, 61}, {"50", 47.4 / 20, 13}, {"200", 53.6 / 20, 4}, {"100000", 67.3 / 20, 1}} {
		r := g.Rows[i]
		if r.Level != want.level || math.Abs(r.Time.Median/1e6-want.ms) > 1e-6 || r.Device.Buffers != want.buffers || r.Device.Dispatches != 604 {
			t.Errorf("row %d is %+v with %+v, want %+v", i, r, r.Device, want)
		}
	}
	if g.Verdict.Take != "50" || g.Verdict.Decidable {
		t.Errorf("the verdict is %+v; the experiment's is 50", g.Verdict)
	}
	var b strings.Builder
	if err := a.Document().Write(&b, table.Plain); err != nil {
		t.Fatal(err)
	}
	tabletest.Golden(t, "experiment.txt", b.String())
	tabletest.Fits(t, b.String())
}

// The slope lies on the pairs that are far apart; what the ends lose by less
// overlap moves it little. The plain Theil–Sen slope of these points is 2.7 µs.
func TestSlope(t *testing.T) {
	p := []point{{605, 11570}, {61, 2650}, {13, 2370}, {4, 2680}, {1, 3365}}
	got, ok := slope(p)
	if !ok || math.Abs(got-14.79) > 0.01 { // (11570 − 2680) / 601
		t.Errorf("slope %v, %v", got, ok)
	}
	if _, ok := slope(p[:1]); ok {
		t.Error("one point has a slope")
	}
	if _, ok := slope([]point{{1, 2}, {1, 3}}); ok {
		t.Error("two points of one x have a slope")
	}
}

package sweep

import (
	"testing"

	"github.com/introgen/introgen/results/metrics"
	"github.com/introgen/introgen/results/stats"
)

// 3 ms, and 2 ms for each 1000 positions: the values lie on the line.
func TestGrowth(t *testing.T) {
	row := func(level string, ns float64) Row { return Row{Level: level, Time: stats.Summary{N: 1, Median: ns}} }
	g := Group{Rows: []Row{row("500", 4e6), row("1000", 5e6), row("4000", 11e6)}}
	got := g.growth(metrics.Decode)
	want := "decode: 3.00 ms with nothing in the cache, and 2.000 ms ±? more for each 1000 positions; the farthest value is 0 % off this line, r² is 1.000."
	if text := got.sentence("decode"); text != want {
		t.Errorf("got  %q\nwant %q", text, want)
	}
	for _, rows := range [][]Row{g.Rows[:2], {row("a", 1), row("b", 2), row("c", 3)}} {
		g := Group{Rows: rows}
		if l := g.growth(metrics.Decode); l.sentence("decode") != "" {
			t.Errorf("%v has the line %+v", rows, l)
		}
	}
}

package browsertest

import (
	"math"
	"slices"
	"strconv"
	"testing"
)

// tableOf are the cells of the first table within what a selector finds, as a reader
// sees them: a row each, without the headings.
func tableOf(x *tab, selector string) [][]string {
	x.Helper()
	return eval[[][]string](x, `[...document.querySelector(`+strconv.Quote(selector)+`).querySelectorAll("tbody tr, tfoot tr")].map(r => [...r.cells].map(c => c.textContent))`)
}

func has(x *tab, table [][]string, want ...string) {
	x.Helper()
	if !slices.ContainsFunc(table, func(row []string) bool {
		return len(row) >= len(want) && !slices.ContainsFunc(want, func(w string) bool { return !slices.Contains(row, w) })
	}) {
		x.Errorf("no row of the table has %q: %.2000q", want, table)
	}
}

// TestFigures holds the page's tables to what the experiment printed, which stands in
// results/recorded/experiment.txt.
func TestFigures(t *testing.T) {
	x := open(t, pageOf(t, recorded(t, "experiment-states")), 1280)

	stages := tableOf(x, "#stages figure")
	for _, row := range [][]string{
		{"read gguf", "cold", "129.0", "1"}, {"build model", "cold", "4111.2"}, {"prefill", "cold", "5869.4"}, {"first decode step", "cold", "2144.1"},
		{"prefill", "cold-natural", "6574.2"}, {"prefill", "warm-cache", "43.1"}, {"build model", "cpu", "42.2"}, {"first decode step", "cpu", "10.2"},
		{"to token 1", "cold", "10109.6"}, // 129.0 + 4111.2 + 5869.4
		{"to token 2", "cold", "12253.7"}, // and 2144.1
	} {
		has(x, stages, row...)
	}

	// The percentiles are numpy's of the 19 steps after the first of `arm cold`.
	has(x, tableOf(x, "#steps figure"), "cold", "19", "2144.1", "2.50", "3.30", "5.50", "5.90")
	steps := tableOf(x, "#steps section, #steps > div > .panel > details")
	has(x, steps, "5.90", "3.70", "3.10", "3.20", "2.50", "2.40")
	has(x, steps, "6.60", "6.10", "6.20", "5.20", "5.00", "4.70")

	compiles := eval[[][]string](x, `[...document.querySelectorAll("#compiles figure")].flatMap(f => [...f.querySelectorAll("tbody tr, tfoot tr")].map(r => [...r.cells].map(c => c.textContent)))`)
	has(x, compiles, "one after the other", "11982.8") // 11980.9 of libraries and 1.9 of pipelines
	has(x, compiles, "longest chain", "4333.8")        // Reduce and rmsnorm_f32
	has(x, compiles, "Reduce", "library", "4333.7")
	has(x, compiles, "Gemm", "library", "3828.6")
	has(x, compiles, "sum", "31 things", "11982.8")

	start := tableOf(x, "#start figure")
	has(x, start, "prefill", "4240.2", "5869.4") // behind 129.0 and 4111.2
	has(x, start, "library", "Sdpa", "2130.6")
	x.clean()
}

// TestFiguresOfSweep does the same for a sweep.
func TestFiguresOfSweep(t *testing.T) {
	x := open(t, pageOf(t, recorded(t, "experiment-sweep")), 1280)
	sweep := tableOf(x, "#sweep figure")
	for level, want := range map[string]string{"1": "11.6", "10": "2.65", "50": "2.37", "200": "2.68", "100000": "3.37"} {
		has(x, sweep, level, want)
	}
	x.clean()
}

// TestLimits holds rates and shares of limits to what a reader computes by hand.
func TestLimits(t *testing.T) {
	x := open(t, pageOf(t, kernels()), 1280)
	all := `[...document.querySelectorAll("#kernels figure")].flatMap(f => [...f.querySelectorAll("tbody tr")].map(r => [...r.cells].map(c => c.textContent)))`
	has(x, eval[[][]string](x, all), "mul", "10", "2000.0", "80.0 %")                         // of 2.5 s
	has(x, eval[[][]string](x, all), "mul", "2.00", "2.00", "4.00", "20.0 %", "4.00 %", "no") // 8 G by 4 GB; 4 GB and 8 G in 2 s; of 10 and 100
	x.clean()

	x = open(t, pageOf(t, operations()), 1280)
	has(x, eval[[][]string](x, all), "ffn_down", "tile avx2", "1", "8.00", "100 %", "2.00", "10.0") // 12 MB and 60 M in 6 ms
	has(x, eval[[][]string](x, all), "prefill: ffn_down tile avx2", "5.00", "2.00", "10.0", "20.0 %", "10.0 %")
	has(x, eval[[][]string](x, all), "ffn_down", "mul avx2", "8.00", "1.00", "2.00") // 4 MB and 8 M in 4 ms
	x.clean()
}

// TestDrawn holds what is drawn to the figures: bars are as long as their values, and
// dots as high.
func TestDrawn(t *testing.T) {
	x := open(t, pageOf(t, recorded(t, "experiment-states")), 1280)
	bars := eval[[]float64](x, `[...document.querySelectorAll("#compiles figure")].find(f => f.textContent.includes("longest chain")).querySelector(".wide").querySelectorAll("rect.plot-bar").values().map(r => r.getBoundingClientRect().width).toArray()`)
	if len(bars) != 2 || math.Abs(bars[1]/bars[0]-4333.8/11982.8) > 0.01 {
		t.Errorf("the bars are %v px long, want the second to be %.3f of the first", bars, 4333.8/11982.8)
	}

	if n := eval[int](open(t, pageOf(t, compared(1)), 1280), `document.querySelectorAll("#stages .wide .plot-whisker").length`); n == 0 {
		t.Error("no interval is drawn of eight runs")
	}

	ys := eval[[]float64](x, `[...document.querySelectorAll("#steps .wide g.plot-k-series-1 path[data-tip]")].map(p => p.transform.baseVal[0].matrix.f)`)
	values := []float64{5.9, 3.7, 3.1, 3.2, 2.5, 2.5, 2.4, 2.4, 2.4, 2.5, 2.5, 2.6, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.3}
	if len(ys) != len(values) {
		t.Fatalf("%d dots of %d steps", len(ys), len(values))
	}
	// The first two dots give the scale; a tenth of a pixel is what positions are rounded to.
	scale := (ys[1] - ys[0]) / (values[1] - values[0])
	for i, v := range values {
		if want := ys[0] + scale*(v-values[0]); scale >= 0 || math.Abs(ys[i]-want) > 0.3 {
			t.Errorf("step %d of %v ms is drawn at %v, want %.1f", i+2, v, ys[i], want)
		}
	}
	x.clean()
}

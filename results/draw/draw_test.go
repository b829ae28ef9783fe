package draw_test

import (
	"math"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/introgen/introgen/results/draw"
	"github.com/introgen/introgen/results/plot"
	"github.com/introgen/introgen/system/terminal"
)

func TestSparkline(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		values      []float64
		width       int
		want, ascii string
	}{
		{[]float64{1, 2, 3, 4, 5, 6, 7, 8}, 8, "▁▂▃▄▅▆▇█", `_.-~=+*#`},
		{[]float64{8, 8, 8}, 8, "███", "###"},
		{[]float64{0, 0.01, 80}, 8, "▁▁█", "__#"},
		{[]float64{1, nan, 1}, 8, "█ █", "# #"},
		{[]float64{1, 1, 1, 1, 8, 1, 1, 1}, 4, "▁▁█▁", "__#_"}, // the stall stays
		{[]float64{nan, nan, 1, 2}, 2, " █", " #"},
		{[]float64{0, 0}, 8, "▁▁", "__"},
		{[]float64{-5, 5}, 8, "▁█", "_#"},
		{[]float64{1, math.Inf(1)}, 8, "▁█", "_#"},
		{nil, 8, "", ""},
		{[]float64{1}, 0, "", ""},
		{[]float64{nan}, 8, "", ""},
	} {
		if got := draw.Sparkline(c.values, c.width, true); got != c.want {
			t.Errorf("%v in %d columns: %q, want %q", c.values, c.width, got, c.want)
		}
		if got := draw.Sparkline(c.values, c.width, false); got != c.ascii {
			t.Errorf("%v in %d columns in ASCII: %q, want %q", c.values, c.width, got, c.ascii)
		}
	}
}

func lanes() []plot.Lane {
	return []plot.Lane{
		{Label: "read", Bars: []plot.Bar{{Start: 0, End: 11}}},
		{Label: "Gemm", Depth: 1, Bars: []plot.Bar{{Start: 5, End: 11}, {Start: 17, End: 23}}},
		{Label: "prefill", Bars: []plot.Bar{{Start: 11, End: 22.5}}},
		{Label: "short", Bars: []plot.Bar{{Start: 22.99, End: 23}}},
	}
}

func TestWaterfall(t *testing.T) {
	for unicode, want := range map[bool]string{
		true: `
read    │███████████            │   11.0
  Gemm  │     ██████      ██████│   12.0
prefill │           ███████████▌│   11.5
short   │                      ▕│ 0.0100
         0               23.0 ms`,
		false: `
read    |###########            |   11.0
  Gemm  |     ######      ######|   12.0
prefill |           ###########+|   11.5
short   |                      :| 0.0100
         0               23.0 ms`,
	} {
		got := "\n" + strings.Join(draw.Waterfall(lanes(), 40, unicode), "\n")
		if got != want {
			t.Errorf("got%s\nwant%s", got, want)
		}
	}
}

// TestHostile: what is no number is not drawn, a label neither commands the
// terminal nor makes a line wider than was asked for, and a million bars are drawn.
func TestHostile(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	strange := []plot.Lane{
		{Label: "\x1b[2J\u202e" + strings.Repeat("日本", 1<<18), Bars: []plot.Bar{{Start: 0, End: 1}}},
		{Label: "none", Bars: []plot.Bar{{Start: nan, End: 1}, {Start: 0, End: inf}, {Start: 2, End: 1}, {Start: -inf, End: 0}}},
		{Label: "early", Bars: []plot.Bar{{Start: -5, End: 1}}},
		{Label: "many", Bars: make([]plot.Bar, 1<<16)},
		{Label: "long", Bars: []plot.Bar{{Start: 0, End: 1e17}}},
	}
	for _, width := range []int{-1, 0, 40, 80, 200} {
		for _, unicode := range []bool{true, false} {
			lines := draw.Waterfall(strange, width, unicode)
			if len(lines) != 5 { // the lane without a bar has no line, and the axis has one
				t.Errorf("%d lines", len(lines))
			}
			for _, l := range lines {
				if terminal.Width(l) > max(width, 40) || strings.ContainsAny(l, "\x1b\u202e") {
					t.Errorf("in %d columns: %d, %.200q", width, terminal.Width(l), l)
				}
			}
		}
	}
	if got := draw.Waterfall(strange[1:2], 80, true); got != nil {
		t.Errorf("%q of nothing", got)
	}
}

func TestHistogram(t *testing.T) {
	got := strings.Join(draw.Histogram([]float64{0, 1, 1, 2, 2, 2, 2, 3, 3, 4, math.NaN(), math.Inf(1)}, func(v float64) string { return strconv.Itoa(int(v)) }, 30, false), "\n")
	want := strings.TrimSpace(`
0 to 2  3  ##########
2 to 4  6  ###################
4 to 6  1  ###`)
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := draw.Histogram([]float64{math.NaN()}, nil, 80, true); got != nil {
		t.Errorf("%q of nothing", got)
	}
}

// TestASCII: where the terminal has no other signs none are drawn but those of
// names.
func TestASCII(t *testing.T) {
	all := draw.Waterfall(lanes(), 80, false)
	all = append(all, draw.Histogram([]float64{1, 2, 2, 3, 9}, text, 80, false)...)
	all = append(all, draw.Sparkline([]float64{1, 2, 3}, 80, false))
	for _, l := range all {
		for _, r := range l {
			if r >= utf8.RuneSelf {
				t.Errorf("%q has %q", l, r)
			}
		}
	}
}

func text(float64) string { return "v" }

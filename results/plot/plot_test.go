package plot_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/introgen/introgen/results/plot"
)

// figuresOf are one figure of each sort, with the text and the value in every
// place that takes one.
func figuresOf(text string, v float64, width int) map[string]plot.Figure {
	o := plot.Options{ID: text, Title: text, Description: text, X: text, Y: text, Width: width}
	p := plot.Point{Label: text, X: v, Value: v, Lo: v, Hi: v, Known: true, Tip: text}
	return map[string]plot.Figure{
		"waterfall": plot.Waterfall(o, []plot.Lane{{Label: text, Bars: []plot.Bar{{Start: v, End: v, Kind: plot.Kind(text), Tip: text}}}}),
		"dots":      plot.Dots(o, []plot.Series{{Label: text, Kind: plot.Kind(text), Values: []float64{v}}, {Label: text, Values: []float64{v}}}, []plot.Line{{Label: text, Value: v}}),
		"intervals": plot.Intervals(o, []plot.Group{{Label: text, Points: []plot.Point{p}}}),
		"curve":     plot.Curve(o, []plot.Point{p}, func(x float64) float64 { return v * x }),
		"bars":      plot.Bars(o, []plot.Row{{Label: text, Kind: plot.Kind(text), Value: v, Text: text, Tip: text}}),
		"roofline":  plot.Roofline(o, v, v, []plot.RoofPoint{{Label: text, Intensity: v, Ops: v, Share: v, InCache: true, Tip: text}}),
		"histogram": plot.Histogram(o, []float64{v}, plot.Line{Label: text, Value: v}),
	}
}

// elements reads an SVG as XML, which fails where it is none, and counts the
// elements by name.
func elements(t *testing.T, svg string) map[string]int {
	t.Helper()
	count := map[string]int{}
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return count
		}
		if err != nil {
			t.Fatalf("%v in %.2000s", err, svg)
		}
		if e, ok := token.(xml.StartElement); ok {
			count[e.Name.Local]++
		}
	}
}

// TestHostile: no text gets out of where it stands, and no value is drawn where
// there is nothing.
func TestHostile(t *testing.T) {
	texts := []string{"", "gemm", `</script><script>alert(1)</script>`, `"><image href=x onerror=alert(1)>`, "]]>", "<!--", "&lt;&#0;", "\x00\x1b[2J\u202egnp", "a\nb\u2028c",
		"\xff\xfe", "日本語の名前", "שלום", strings.Repeat("x", 1<<20), strings.Repeat("<", 1<<20), strings.Repeat("e\u0301", 500)}
	values := []float64{0, 1, -1, 1e-300, 5e-324, 1e300, math.MaxFloat64, -math.MaxFloat64, math.Inf(1), math.Inf(-1), math.NaN(), 0.1, 1e18, -1e18, 1e-15, 123456789}
	for i, text := range texts {
		for k, v := range values {
			if i > 1 && k > 1 {
				continue // one of both is strange
			}
			for _, width := range []int{0, plot.Narrow, -5, 1 << 30} {
				for name, f := range figuresOf(text, v, width) {
					svg := plot.Standalone(f)
					count := elements(t, svg)
					if count["script"]+count["image"] > 0 || count["svg"] != 1 {
						t.Fatalf("%s of %.40q: %v", name, text, count)
					}
					if len(svg) > 40_000 {
						t.Errorf("%s of %.40q takes %d bytes", name, text, len(svg))
					}
					for _, no := range []string{"NaN", "Inf", "\u202e"} {
						if strings.Contains(f.Body, no) && text == "" {
							t.Errorf("%s of %v contains %s: %s", name, v, no, f.Body)
						}
					}
					if text != "" && strings.Contains(f.Body, "\u202e") {
						t.Errorf("%s: a text turns the direction of writing", name)
					}
				}
			}
		}
	}
}

// attributes are those of all elements of the name that have the class, in order.
func attributes(t *testing.T, svg, name, class string) (out []map[string]string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := d.Token()
		if err != nil {
			return out
		}
		e, ok := token.(xml.StartElement)
		if !ok || e.Name.Local != name {
			continue
		}
		all := map[string]string{}
		for _, a := range e.Attr {
			all[a.Name.Local] = a.Value
		}
		if slices.Contains(strings.Fields(all["class"]), class) {
			out = append(out, all)
		}
	}
}

func number(t *testing.T, s string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestBarsAreAsLong: a bar is as long as its value is, beside the others.
func TestBarsAreAsLong(t *testing.T) {
	values := []float64{4000, 1000, 500, 2000}
	var rows []plot.Row
	for _, v := range values {
		rows = append(rows, plot.Row{Label: "x", Kind: plot.Library, Value: v})
	}
	for _, width := range []int{plot.Wide, plot.Narrow} {
		f := plot.Bars(plot.Options{ID: "b", Width: width}, rows)
		bars := attributes(t, f.SVG(), "rect", "plot-bar")
		for i, b := range bars {
			if got := number(t, b["width"]) / number(t, bars[0]["width"]); math.Abs(got-values[i]/4000) > 0.001 {
				t.Errorf("%v is drawn %v times as long as 4000", values[i], got)
			}
		}
		if len(bars) != 4 {
			t.Errorf("%d bars", len(bars))
		}
	}
}

// TestWaterfallPlaces: a bar begins where its time does, and one in a lane of very
// many too; what takes no time is seen.
func TestWaterfallPlaces(t *testing.T) {
	many := plot.Lane{Label: "many"}
	for i := range 1000 {
		many.Bars = append(many.Bars, plot.Bar{Start: 500 + float64(i)/10, End: 500 + float64(i)/10 + 0.1, Kind: plot.Encode})
	}
	f := plot.Waterfall(plot.Options{ID: "w"}, []plot.Lane{
		{Label: "all", Bars: []plot.Bar{{Start: 0, End: 1000, Kind: plot.Prefill}}},
		{Label: "quarter", Bars: []plot.Bar{{Start: 250, End: 500, Kind: plot.Library}}},
		{Label: "moment", Bars: []plot.Bar{{Start: 750, End: 750, Kind: plot.Library}}},
		many,
	})
	bars := attributes(t, f.SVG(), "rect", "plot-bar")
	if len(bars) != 4 {
		t.Fatalf("%d bars: %v", len(bars), bars)
	}
	left, whole := number(t, bars[0]["x"]), number(t, bars[0]["width"])
	for i, want := range [][2]float64{{0, 1}, {0.25, 0.25}, {0.75, 1.5 / whole}, {0.5, 0.1}} {
		x, w := (number(t, bars[i]["x"])-left)/whole, number(t, bars[i]["width"])/whole
		if math.Abs(x-want[0]) > 0.002 || math.Abs(w-want[1]) > 0.003 {
			t.Errorf("bar %d lies at %v and takes %v, want %v", i, x, w, want)
		}
	}
}

// TestTenThousand: each of very many values is drawn, in little room.
func TestTenThousand(t *testing.T) {
	values := make([]float64, 10_000)
	for i := range values {
		values[i] = 8 + math.Mod(float64(i)*0.61803398875, 1)*float64(i%97)/10
	}
	f := plot.Dots(plot.Options{ID: "d", X: "decode step", Y: "ms"}, []plot.Series{{Label: "round 1", Values: values}}, nil)
	if n := len(f.SVG()); n > 150_000 {
		t.Errorf("10,000 dots take %d bytes", n)
	}
	paths := attributes(t, f.SVG(), "path", "plot-dots")
	if len(paths) != 1 || strings.Count(paths[0]["d"], "h0") != 10_000 {
		t.Error("not every value is a dot")
	}
	if f.Focusable || !strings.Contains(f.SVG(), `role="img"`) {
		t.Error("ten thousand stops of the keyboard, or none that says what it is")
	}
}

// TestVeryMany: a recording may hold a hundred thousand of anything, and a figure
// stays one that a browser shows.
func TestVeryMany(t *testing.T) {
	const n = 100_000
	var lanes []plot.Lane
	var series []plot.Series
	var groups []plot.Group
	var points []plot.Point
	var rows []plot.Row
	var kernels []plot.RoofPoint
	var values []float64
	var lines []plot.Line
	for i := range n {
		v := 1 + float64(i%97)
		p := plot.Point{Label: "p", X: float64(i + 1), Value: v, Lo: v - 0.5, Hi: v + 0.5, Known: true}
		lanes = append(lanes, plot.Lane{Label: "l", Bars: []plot.Bar{{Start: v, End: v + 1}}})
		series = append(series, plot.Series{Label: "s", Values: []float64{v}})
		groups = append(groups, plot.Group{Label: "g", Points: []plot.Point{p}})
		points = append(points, p)
		rows = append(rows, plot.Row{Label: "r", Value: v, Strong: true})
		kernels = append(kernels, plot.RoofPoint{Label: "k", Intensity: v, Ops: 1e9 * v, Share: 1 / v})
		values = append(values, v)
		lines = append(lines, plot.Line{Label: "p", Value: v})
	}
	o := plot.Options{ID: "m"}
	for name, f := range map[string]plot.Figure{
		"waterfall": plot.Waterfall(o, lanes), "dots": plot.Dots(o, series, lines), "intervals": plot.Intervals(o, groups), "curve": plot.Curve(o, points, nil),
		"bars": plot.Bars(o, rows), "roofline": plot.Roofline(o, 1e9, 1e11, kernels), "histogram": plot.Histogram(o, values, lines...),
	} {
		if n := len(f.SVG()); n > 200_000 || f.Height > 6000 {
			t.Errorf("%s takes %d bytes and %d pixels", name, n, f.Height)
		}
		if name != "histogram" && name != "dots" && !strings.Contains(f.Description, "more") {
			t.Errorf("%s says only %q of what is not drawn", name, f.Description)
		}
	}
}

// TestMissingValues: what is missing leaves a gap, what is no number is told, and
// neither moves the others.
func TestMissingValues(t *testing.T) {
	f := plot.Dots(plot.Options{ID: "d"}, []plot.Series{{Values: []float64{5, math.NaN(), 5, math.Inf(1)}}}, []plot.Line{{Label: "p50", Value: math.NaN()}})
	signs := attributes(t, f.SVG(), "path", "plot-sign")
	if len(signs) != 2 || signs[0]["data-tip"] != " 1: 5.00" || signs[1]["data-tip"] != " 3: 5.00" {
		t.Errorf("dots at %v", signs)
	}
	if !strings.Contains(f.Description, "1 value not drawn") {
		t.Errorf("the figure says %q", f.Description)
	}
	if g := plot.Dots(plot.Options{ID: "d"}, nil, nil); !g.Empty || !strings.Contains(g.SVG(), "no samples") {
		t.Errorf("nothing is drawn as %s", g.SVG())
	}
}

// TestScaleOfIntervals: from nothing on, unless values span more than thirty times;
// each has its value beside it, also one of which none is known.
func TestScaleOfIntervals(t *testing.T) {
	at := func(values ...float64) []float64 {
		g := plot.Group{Label: "stage"}
		for _, v := range values {
			g.Points = append(g.Points, plot.Point{Label: "state", Value: v, Known: v > 0})
		}
		f := plot.Intervals(plot.Options{ID: "i"}, []plot.Group{g})
		var out []float64
		for _, p := range attributes(t, f.SVG(), "path", "plot-sign") {
			var x, y float64
			if _, err := fmt.Sscanf(p["transform"], "translate(%f %f)", &x, &y); err != nil {
				t.Fatal(err)
			}
			out = append(out, x)
		}
		if n := len(f.Data.Rows); n != len(values) {
			t.Errorf("%d rows of %d values", n, len(values))
		}
		return out
	}
	if x := at(10, 20, 30, 0); len(x) != 3 || math.Abs((x[2]-x[1])-(x[1]-x[0])) > 0.2 {
		t.Errorf("10, 20 and 30 lie at %v", x)
	}
	if x := at(10, 100, 1000); math.Abs((x[2]-x[1])-(x[1]-x[0])) > 0.2 {
		t.Errorf("10, 100 and 1000 lie at %v", x)
	}
}

// TestOneState: where there is one state, stages have a row each, without headings.
func TestOneState(t *testing.T) {
	var groups []plot.Group
	for _, stage := range []string{"build", "prefill", "decode"} {
		groups = append(groups, plot.Group{Label: stage, Points: []plot.Point{{Label: "cold", Value: 5, Known: true}}})
	}
	one := plot.Intervals(plot.Options{ID: "i"}, groups)
	if n := len(attributes(t, one.SVG(), "text", "plot-strong")); n > 0 || strings.Contains(one.Body, ">cold<") || !strings.Contains(one.Body, ">prefill<") {
		t.Errorf("%d headings in %s", n, one.Body)
	}
	if r := one.Data.Rows[1]; r[0].Text != "prefill" || r[1].Text != "cold" {
		t.Errorf("the table has %v", r)
	}
	groups[1].Points = append(groups[1].Points, plot.Point{Label: "warm", Value: 1, Known: true})
	if n := len(attributes(t, plot.Intervals(plot.Options{ID: "i"}, groups).SVG(), "text", "plot-strong")); n != 3 {
		t.Errorf("%d headings of two states", n)
	}
}

// TestRoof: a kernel that reads as fast as the memory can lies on the roof, and one
// that computes as fast as can be on its flat part.
func TestRoof(t *testing.T) {
	f := plot.Roofline(plot.Options{ID: "r"}, 10e9, 100e9, []plot.RoofPoint{{Label: "reads", Intensity: 2, Ops: 20e9, Share: 0.5}, {Label: "computes", Intensity: 50, Ops: 100e9, Share: 0.1}})
	roof := attributes(t, f.SVG(), "path", "plot-roof")
	circles := attributes(t, f.SVG(), "circle", "plot-sign")
	if len(roof) != 2 || len(circles) != 2 {
		t.Fatalf("%v %v", roof, circles)
	}
	for i, r := range roof {
		var x1, y1, x2, y2 float64
		if _, err := fmt.Sscanf(strings.ReplaceAll(r["d"], "L", " "), "M%f %f %f %f", &x1, &y1, &x2, &y2); err != nil {
			t.Fatal(err)
		}
		cx, cy := number(t, circles[i]["cx"]), number(t, circles[i]["cy"])
		if on := y1 + (y2-y1)*(cx-x1)/(x2-x1); cx < x1 || cx > x2 || math.Abs(on-cy) > 0.3 {
			t.Errorf("kernel %d lies at %v %v, the roof there at %v", i, cx, cy, on)
		}
	}
}

// TestKeyboard: few marks are reached one by one, each with a text, and then the
// drawing is no picture, within which nothing can be reached.
func TestKeyboard(t *testing.T) {
	f := plot.Bars(plot.Options{ID: "b", Title: "Compiles"}, []plot.Row{{Label: "Gemm", Value: 1}, {Label: "Reduce", Value: 2, Tip: "Reduce: 2 ms"}})
	marks := attributes(t, f.SVG(), "g", "plot-mark")
	if len(marks) != 2 || marks[1]["tabindex"] != "0" || marks[1]["aria-label"] != "Reduce: 2 ms" || marks[1]["data-tip"] != "Reduce: 2 ms" {
		t.Errorf("%v", marks)
	}
	root := attributes(t, f.SVG(), "svg", "plot")[0]
	if root["role"] != "group" || !strings.Contains(f.SVG(), `<title id="`+root["aria-labelledby"]+`">Compiles</title>`) {
		t.Errorf("%v", root)
	}
}

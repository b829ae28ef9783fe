package plot_test

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
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

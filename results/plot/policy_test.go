package plot_test

import (
	"strings"
	"testing"

	"github.com/introgen/introgen/results/plot"
)

// TestNoInlineStyle: a page with a strict Content-Security-Policy refuses attributes
// style, also those of patterns, and every kind has a bar.
func TestNoInlineStyle(t *testing.T) {
	var rows []plot.Row
	for _, k := range plot.Kinds() {
		rows = append(rows, plot.Row{Label: string(k), Kind: k, Value: 1})
	}
	svg := plot.Bars(plot.Options{ID: "x"}, rows).SVG()
	if strings.Contains(svg, "style=") {
		t.Errorf("an attribute style: %.500s", svg[strings.Index(svg, "style="):])
	}
	if !strings.Contains(svg, `fill="url(#plot-x-`) {
		t.Error("no bar has a pattern")
	}
}

package plot_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/introgen/introgen/results/plot"
)

// labelsScript finds, in a browser, texts of a figure that leave it, and pairs of
// texts whose boxes meet by more than a pixel across and a third of a line down. What
// is turned has a box that is larger than itself.
const labelsScript = `<script>
const found = [];
document.querySelectorAll("svg.plot").forEach(svg => {
  const r = svg.getBoundingClientRect(), name = svg.querySelector("title").textContent;
  const texts = [...svg.querySelectorAll("text:not([transform])")].map(t => [t.textContent, t.getBoundingClientRect()]);
  texts.forEach(([text, b], i) => {
    if (b.left < r.left - 1 || b.right > r.right + 1 || b.top < r.top - 1 || b.bottom > r.bottom + 1) found.push(name + ": outside: " + text);
    for (const [other, c] of texts.slice(0, i))
      if (Math.min(b.right, c.right) - Math.max(b.left, c.left) > 1 && Math.min(b.bottom, c.bottom) - Math.max(b.top, c.top) > 4.5) found.push(name + ": " + other + " and " + text);
  });
});
document.body.textContent = "FOUND " + document.querySelectorAll("text").length + "\n" + found.join("\n") + "\nEND";
</script>`

// TestLabelsApart: in a browser no label leaves its figure, and none meets another,
// whatever names and values figures are made of.
func TestLabelsApart(t *testing.T) {
	browser := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			browser = path
			break
		}
	}
	if browser == "" {
		t.Skip("SKIP: needs chromium, which measures texts")
	}
	page := "<!doctype html><meta charset=utf-8><style>" + plot.Style() + "</style><body>"
	made := 0
	for _, width := range []int{plot.Narrow, 480, plot.Wide, 1200} {
		r := rand.New(rand.NewPCG(11, uint64(width)))
		for i := range 84 {
			page += randomFigure(r, i, width).SVG()
			made++
		}
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "figures.html")
	if err := os.WriteFile(file, []byte(page+labelsScript), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	args := []string{"--headless", "--disable-gpu", "--user-data-dir=" + filepath.Join(dir, "profile"), "--window-size=1300,2000", "--dump-dom", "file://" + file}
	if os.Geteuid() == 0 {
		args = append([]string{"--no-sandbox"}, args...)
	}
	var stderr bytes.Buffer
	c := exec.CommandContext(ctx, browser, args...)
	c.Stderr, c.WaitDelay = &stderr, 5*time.Second
	out, err := c.Output()
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		t.Fatalf("%s: %v: %.2000s", browser, err, stderr.String())
	}
	_, rest, _ := strings.Cut(string(out), "FOUND ")
	said, _, whole := strings.Cut(rest, "END")
	lines := strings.Split(strings.TrimSpace(said), "\n")
	if texts := 0; !whole || len(lines) == 0 {
		t.Fatalf("the browser measured nothing: %.2000s", stderr.String())
	} else if _, err := fmt.Sscan(lines[0], &texts); err != nil || texts < 5*made {
		t.Fatalf("the browser measured %q texts of %d figures", lines[0], made)
	}
	for _, l := range lines[1:] {
		t.Error(l)
	}
}

// randomFigure is a figure of one of all sorts, of names and values as recordings
// have them, and worse.
func randomFigure(r *rand.Rand, i, width int) plot.Figure {
	words := []string{"kernel", "mul", "mv", "q8_0", "f32", "WWW", "MMMM", "日本", "illi", "_", "202:bool=1", "Gemm", "rmsnorm", "===", "(8.10)", "a b c", "שלום", "%%"}
	name := func() string {
		s := ""
		for range 1 + r.IntN(7) {
			s += words[r.IntN(len(words))]
		}
		return s
	}
	power := func(from, to float64) float64 { return math.Pow(10, from+r.Float64()*(to-from)) }
	unit := power(-4, 6)
	near := func() float64 { return unit * (1 + r.Float64()*power(-2, 2)) }
	kind := func() plot.Kind { return plot.Kinds()[r.IntN(len(plot.Kinds()))] }
	point := func() plot.Point {
		v := near()
		return plot.Point{Label: name(), X: math.Round(power(0, 6)), Value: v, Lo: v * (1 - r.Float64()*0.2), Hi: v * (1 + r.Float64()*0.3), Known: r.IntN(5) > 0}
	}
	several := func(most int, add func()) {
		for range 1 + r.IntN(most) {
			add()
		}
	}
	lines := []plot.Line{{Label: "p50", Value: near()}, {Label: "p90", Value: near()}, {Label: "p99", Value: near()}, {Label: "max", Value: near()}}
	o := plot.Options{ID: fmt.Sprintf("f-%d-%d", width, i), Title: fmt.Sprintf("figure %d of %d pixels", i, width), X: name(), Y: name(), Width: width}
	switch i % 7 {
	case 0:
		var lanes []plot.Lane
		several(30, func() {
			at := near()
			lanes = append(lanes, plot.Lane{Label: name(), Depth: r.IntN(3), Bars: []plot.Bar{{Start: at, End: at + near(), Kind: kind()}}})
		})
		return plot.Waterfall(o, lanes)
	case 1:
		var series []plot.Series
		several(8, func() {
			s := plot.Series{Label: name(), First: 1 + r.IntN(3000)}
			several(80, func() { s.Values = append(s.Values, near()) })
			series = append(series, s)
		})
		return plot.Dots(o, series, lines)
	case 2:
		var groups []plot.Group
		most := 1 + 4*r.IntN(2)
		several(5, func() {
			g := plot.Group{Label: name()}
			several(most, func() { g.Points = append(g.Points, point()) })
			groups = append(groups, g)
		})
		return plot.Intervals(o, groups)
	case 3:
		var points []plot.Point
		several(12, func() { points = append(points, point()) })
		return plot.Curve(o, points, func(x float64) float64 { return unit * (1 + 1/x) })
	case 4:
		var rows []plot.Row
		several(35, func() {
			rows = append(rows, plot.Row{Label: name(), Kind: kind(), Value: near(), Strong: r.IntN(4) == 0})
		})
		return plot.Bars(o, rows)
	case 5:
		var kernels []plot.RoofPoint
		several(25, func() {
			kernels = append(kernels, plot.RoofPoint{Label: name(), Intensity: power(-1.5, 1.5), Ops: power(7, 11), Share: r.Float64() / 2, InCache: r.IntN(3) == 0})
		})
		return plot.Roofline(o, 2e10*float64(r.IntN(2)), 2e11*float64(r.IntN(2)), kernels)
	}
	var values []float64
	several(300, func() { values = append(values, near()) })
	return plot.Histogram(o, values, lines...)
}

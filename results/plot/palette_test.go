package plot

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// rgb reads #rrggbb as parts of 1 in linear light (IEC 61966-2-1).
func rgb(t *testing.T, s string) (out [3]float64) {
	t.Helper()
	var c [3]int
	if n, err := fmt.Sscanf(s, "#%02x%02x%02x", &c[0], &c[1], &c[2]); n != 3 || err != nil || len(s) != 7 {
		t.Fatalf("%q is no colour", s)
	}
	for i, v := range c {
		x := float64(v) / 255
		if x <= 0.04045 {
			out[i] = x / 12.92
		} else {
			out[i] = math.Pow((x+0.055)/1.055, 2.4)
		}
	}
	return out
}

// contrast is WCAG 2.2's contrast ratio.
func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	l := func(s string) float64 { c := rgb(t, s); return 0.2126*c[0] + 0.7152*c[1] + 0.0722*c[2] }
	x, y := l(a), l(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// TestContrast holds texts to WCAG's AA, 4.5:1, and marks to 3:1 (1.4.3 and
// 1.4.11) on their ground, light and dark.
func TestContrast(t *testing.T) {
	if got := contrast(t, "#777777", "#ffffff"); math.Abs(got-4.48) > 0.005 { // a well-known pair
		t.Fatalf("contrast of #777 on white is %v", got)
	}
	of := map[string]colour{}
	for _, g := range ground {
		of[g.name] = g.colour
	}
	check := func(name string, c colour, want float64) {
		for theme, x := range map[string][2]string{"light": {c.light, of["bg"].light}, "dark": {c.dark, of["bg"].dark}} {
			if got := contrast(t, x[0], x[1]); got < want {
				t.Errorf("%s %s on %s: %.2f:1, want %v:1", theme, name, x[1], got, want)
			}
		}
	}
	check("text", of["text"], 4.5)
	check("muted", of["muted"], 4.5)
	check("axis", of["axis"], 3)
	for _, k := range Kinds() {
		light, dark := k.Color()
		check(string(k), colour{light, dark}, 3)
	}
}

// blind are what eyes without one of the three sorts of cones see (Machado, Oliveira
// and Fernandes, 2009, severity 1.0), in linear light.
var blind = map[string][3][3]float64{
	"protanopia":   {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"deuteranopia": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
	"tritanopia":   {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
}

// lab is CIE L*a*b* of linear sRGB, white D65.
func lab(c [3]float64) [3]float64 {
	f := func(v float64) float64 {
		if v > 216.0/24389 {
			return math.Cbrt(v)
		}
		return (24389.0/27*v + 16) / 116
	}
	x := f((0.4124564*c[0] + 0.3575761*c[1] + 0.1804375*c[2]) / 0.95047)
	y := f(0.2126729*c[0] + 0.7151522*c[1] + 0.0721750*c[2])
	z := f((0.0193339*c[0] + 0.1191920*c[1] + 0.9503041*c[2]) / 1.08883)
	return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

// TestKindsDiffer: two kinds whose colours are near each other, for any eyes, have
// another pattern, or as series another shape.
func TestKindsDiffer(t *testing.T) {
	for i, a := range kinds {
		for _, b := range kinds[:i] {
			series := strings.HasPrefix(string(a.kind), "series")
			if series != strings.HasPrefix(string(b.kind), "series") {
				continue // these never stand in one figure
			}
			if a.pattern != b.pattern || series && a.kind.shape() != b.kind.shape() {
				continue
			}
			for name, m := range blind {
				for theme, c := range map[string][2]string{"light": {a.colour.light, b.colour.light}, "dark": {a.colour.dark, b.colour.dark}} {
					var l [2][3]float64
					for n, s := range c {
						in := rgb(t, s)
						var out [3]float64
						for r := range 3 {
							out[r] = min(max(m[r][0]*in[0]+m[r][1]*in[1]+m[r][2]*in[2], 0), 1)
						}
						l[n] = lab(out)
					}
					if d := math.Hypot(math.Hypot(l[0][0]-l[1][0], l[0][1]-l[1][1]), l[0][2]-l[1][2]); d < 12 {
						t.Errorf("%s and %s are alike with %s on %s: %.1f", a.kind, b.kind, name, theme, d)
					}
				}
			}
		}
	}
}

// TestShapes: no two series have one shape, and none shares its colour with
// another.
func TestShapes(t *testing.T) {
	shapes, colours := map[string]Kind{}, map[string]Kind{}
	for i := range 6 {
		k := Nth(i)
		light, _ := k.Color()
		if o, ok := shapes[k.shape()]; ok {
			t.Errorf("%s and %s have one shape", k, o)
		}
		if o, ok := colours[light]; ok {
			t.Errorf("%s and %s have one colour", k, o)
		}
		shapes[k.shape()], colours[light] = k, k
	}
	if Nth(6) != Nth(0) || Nth(-1) != Nth(0) {
		t.Error("series beyond the sixth, or before the first, have no kind")
	}
}

// TestOutlined: the rule that leaves a bar of the ground's colour stands behind the
// one that fills bars, and is as specific, so that it holds (CSS Cascade 4, 6.1).
func TestOutlined(t *testing.T) {
	fills, leaves := strings.Index(rules, ".plot-bar:not([fill])"), strings.Index(rules, ".plot-bar.plot-open{fill:var(--plot-bg)")
	if fills < 0 || leaves < fills {
		t.Errorf("bars are filled by the rule at %d, and left open by the one at %d", fills, leaves)
	}
}

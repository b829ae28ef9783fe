package marks

import (
	"slices"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, text := range []string{"", "=x", "loaded", "loaded=", "loaded= ", "(=x"} {
		if m, err := Parse(text); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %+v, %v", text, m, err)
		}
	}
	m, err := Parse("^a=b$= decode step ")
	if err != nil || m.Phase != "decode step" || !m.Match.MatchString("a=b") || m.Match.MatchString("a=b=") {
		t.Errorf("%+v, %v", m, err)
	}
}

// TestLines: the same phases however the lines are cut.
func TestLines(t *testing.T) {
	one, err := Parse(`^load.* done=prefill`)
	if err != nil {
		t.Fatal(err)
	}
	other, err := Parse(`done=other`)
	if err != nil {
		t.Fatal(err)
	}
	text := "loading… done\r\nintrogen: phase  warm up \nnothing\ndone\nintrogen: phase\n\x00\xff done\n" +
		strings.Repeat("x", longest) + "done\ndone without an end"
	want := []string{"prefill", "warm up", "other", "other"}
	for step := 1; step < len(text); step = step*3/2 + 1 {
		l := Lines{Marks: []Mark{one, other}}
		var got []string
		for b := []byte(text); len(b) > 0; b = b[min(step, len(b)):] {
			got = append(got, l.Write(b[:min(step, len(b))])...)
			if len(l.part) > longest {
				t.Fatalf("%d bytes of a line are kept", len(l.part))
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("in steps of %d: %q, want %q", step, got, want)
		}
	}
}

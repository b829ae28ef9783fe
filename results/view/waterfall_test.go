package view

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/introgen/introgen/system/terminal"
)

// TestWaterfall: the cold start stands before the tables, in the characters that
// the terminal has; a run that compiled nothing has no drawing.
func TestWaterfall(t *testing.T) {
	f := experiment(t)
	for locale, c := range map[string]struct{ edge, bar string }{"C.UTF-8": {"│", "█"}, "C": {"|", "#"}} {
		t.Setenv("LC_ALL", locale)
		t.Setenv("TERM", "xterm")
		var b strings.Builder
		if err := Table(&b, f); err != nil {
			t.Fatal(err)
		}
		drawing, _, found := strings.Cut(b.String(), "phases of each round")
		if !found || !strings.Contains(drawing, "where the first round went (ms)\nread gguf ") {
			t.Fatalf("with %s there is no drawing before the tables:\n%s", locale, b.String())
		}
		gemm := ""
		for line := range strings.Lines(drawing) {
			if strings.Contains(line, "library Gemm") {
				gemm = strings.TrimSuffix(line, "\n")
			}
			if locale == "C" && len(line) != utf8.RuneCountInString(line) {
				t.Errorf("a terminal of ASCII is shown %q", line)
			}
		}
		// 3828.6 of 12307.2 ms, of which the experiment's build, prefill and first
		// step are 12124.6, on as many columns as stand between the edges.
		_, rest, _ := strings.Cut(gemm, c.edge)
		within, after, _ := strings.Cut(rest, c.edge)
		columns, want := terminal.Width(within), 3828.6/12307.2
		if got := float64(strings.Count(within, c.bar)) / float64(columns); got < want-1.5/float64(columns) || got > want+1.5/float64(columns) || strings.TrimSpace(after) != "3828.6" {
			t.Errorf("with %s Gemm takes %v of the width, want %v: %q", locale, got, want, gemm)
		}
	}
	f.Runs = append(f.Runs, f.Runs...) // two blocks: the second looks like the first
	var twice strings.Builder
	if err := Table(&twice, f); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(twice.String(), "where the first round went"); n != 1 {
		t.Errorf("two runs of one kind that compile are drawn %d times", n)
	}
	f.Runs = f.Runs[len(f.Runs)-1:] // of the cpu
	var b strings.Builder
	if err := Table(&b, f); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "where the first round went") {
		t.Errorf("a run without a compile is drawn:\n%s", b.String())
	}
}

package diff_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/introgen/introgen/results/diff"
	"github.com/introgen/introgen/results/table"
)

// TestDivided: what is on both sides stands in the first part, with the legend; what
// one side has alone in the second; and nothing in both or in neither.
func TestDivided(t *testing.T) {
	read := func(label, text string) diff.Source {
		s, err := diff.Text(label, strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	r, err := diff.Judge([]diff.Source{
		read("old", strings.Repeat("BenchmarkShared 1 100 ns/op\n", 6)+"BenchmarkAlone 1 7 B/s\n"),
		read("new", strings.Repeat("BenchmarkShared 1 200 ns/op\n", 6)),
	}, diff.Options{By: diff.ByFile})
	if err != nil {
		t.Fatal(err)
	}
	text := func(d *table.Document) string {
		var b bytes.Buffer
		if err := d.Write(&b, table.Plain); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	first, second := r.Divided()
	compared, alone := text(first), text(second)
	if !strings.Contains(compared, "Shared") || !strings.Contains(compared, "+100.00%") || !strings.Contains(compared, "Mann–Whitney") || strings.Contains(compared, "Alone") {
		t.Errorf("compared is:\n%s", compared)
	}
	if !strings.Contains(alone, "Alone") || strings.Contains(alone, "Shared") {
		t.Errorf("alone is:\n%s", alone)
	}
	for line := range strings.Lines(text(r.Document())) {
		if n := strings.Count(compared, line) + strings.Count(alone, line); strings.TrimSpace(line) != "" && n == 0 {
			t.Errorf("neither part has %q", line)
		}
	}
}

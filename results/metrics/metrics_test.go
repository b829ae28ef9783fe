package metrics_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/introgen/introgen/results/metrics"
)

// TestDocumented: docs/numbers.md lists every figure with its definition, and
// docs/statistics.md its name in the Go benchmark format.
func TestDocumented(t *testing.T) {
	var b strings.Builder
	b.WriteString("| figure | unit | `--metric` | benchmark | rounds | what it is |\n|---|---|---|---|---|---|\n")
	code := func(names ...string) string {
		var out []string
		for _, n := range names {
			if n != "" {
				out = append(out, "`"+n+"`")
			}
		}
		return strings.Join(out, ", ")
	}
	for _, m := range metrics.All {
		fmt.Fprintf(&b, "| *%s* | %s | %s | %s | %s | %s |\n", m.Name, m.Unit(), code(m.Key, m.Also), code(m.Bench), m.Rounds(), m.Text)
	}
	numbers := read(t, "numbers.md")
	const begin, end = "<!-- metrics -->\n", "<!-- end of metrics -->"
	_, rest, _ := strings.Cut(numbers, begin)
	got, _, ok := strings.Cut(rest, end)
	if !ok || got != b.String() {
		t.Errorf("docs/numbers.md has between its markers\n%s\nand should have\n%s", got, b.String())
	}
	statistics := read(t, "statistics.md")
	for _, m := range metrics.All {
		if m.Bench != "" && !strings.Contains(statistics, "`Benchmark"+m.Bench+"`") {
			t.Errorf("docs/statistics.md does not name Benchmark%s", m.Bench)
		}
	}
}

// TestKeys: what --metric calls a figure is called so once.
func TestKeys(t *testing.T) {
	for i, m := range metrics.All {
		if m.Name == "" || m.Text == "" {
			t.Errorf("%+v has no name, or no definition", m)
		}
		for _, o := range metrics.All[:i] {
			if o.Name == m.Name || o.Called(m.Key) || o.Called(m.Also) || o.Bench != "" && o.Bench == m.Bench {
				t.Errorf("%q and %q are called the same", o.Name, m.Name)
			}
		}
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "docs", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

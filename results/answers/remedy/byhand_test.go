package remedy_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/introgen/introgen/results/answers/remedy"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/table"
)

// compute is what an expression of numbers, + - * / and parentheses comes to.
func compute(t *testing.T, e ast.Expr) float64 {
	t.Helper()
	switch e := e.(type) {
	case *ast.BasicLit:
		v, err := strconv.ParseFloat(e.Value, 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	case *ast.ParenExpr:
		return compute(t, e.X)
	case *ast.BinaryExpr:
		x, y := compute(t, e.X), compute(t, e.Y)
		switch e.Op {
		case token.ADD:
			return x + y
		case token.SUB:
			return x - y
		case token.MUL:
			return x * y
		case token.QUO:
			return x / y
		}
	}
	t.Fatalf("%T is no arithmetic", e)
	return 0
}

func experiment(t *testing.T) *recording.File {
	t.Helper()
	f, err := recording.Open(filepath.Join("..", "..", "recorded", "experiment-states.introgen"))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// printed is what the command prints of a recording.
func printed(t *testing.T, f *recording.File, o remedy.Options, s table.Style) string {
	t.Helper()
	a, err := remedy.Of(f, o)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := a.Document().Write(&b, s); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestByHand: what docs/remedies.md derives by hand for the experiment's Mac is right as
// arithmetic, and is what the command prints.
func TestByHand(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "remedies.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, doc, ok := strings.Cut(string(text), "## The experiment's Mac, by hand")
	if !ok {
		t.Fatal("docs/remedies.md does not derive anything by hand")
	}
	doc, _, _ = strings.Cut(doc, "\n## ")
	out := printed(t, experiment(t), remedy.Options{Threads: 8}, table.Plain)
	blocks := strings.Split(doc, "```")
	command, shown, _ := strings.Cut(blocks[1], "\n$ introgen remedy results/recorded/experiment-states.introgen --threads 8\n")
	if command != "" || !strings.Contains(out, shown) {
		t.Errorf("docs/remedies.md shows\n%s\nwhere the command prints\n%s", shown, out)
	}
	lines := 0
	equation := regexp.MustCompile(`^(.+) = ([0-9.]+)(?:  .*)?$`)
	for i := 3; i < len(blocks); i += 2 {
		for line := range strings.Lines(strings.TrimSpace(blocks[i])) {
			m := equation.FindStringSubmatch(strings.TrimSpace(line))
			if m == nil {
				t.Errorf("%q is no equation", line)
				continue
			}
			e, err := parser.ParseExpr(m[1])
			if err != nil {
				t.Errorf("%q: %v", line, err)
				continue
			}
			want, _ := strconv.ParseFloat(m[2], 64)
			if got := compute(t, e); math.Abs(got-want) > 0.01 {
				t.Errorf("%s comes to %v, the page says %v", m[1], got, want)
			}
			lines++
		}
	}
	bold := regexp.MustCompile(`\*\*([0-9.]+)\*\*`).FindAllStringSubmatch(doc, -1)
	for _, m := range bold {
		if !regexp.MustCompile(`(?m)(^| )` + regexp.QuoteMeta(m[1]) + `([ .,;]|$)`).MatchString(out) {
			t.Errorf("the page derives %s, which the command does not print:\n%s", m[1], out)
		}
	}
	if lines < 40 || len(bold) < 30 {
		t.Errorf("%d lines of arithmetic and %d results: the test looks at the wrong ones", lines, len(bold))
	}
}

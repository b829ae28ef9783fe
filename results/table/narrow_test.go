package table_test

import (
	"encoding/csv"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/introgen/introgen/results/table"
)

// named is a table whose headings and rows have these names.
func named(width int, names ...string) *table.Table {
	t := &table.Table{Columns: []table.Column{{Name: "row", Left: true, Narrow: width}}}
	for _, n := range names {
		t.Columns = append(t.Columns, table.Column{Name: n, Narrow: width})
		t.Add(table.Text(n))
	}
	return t
}

func written(t *testing.T, tab *table.Table, s table.Style) string {
	t.Helper()
	var b strings.Builder
	if err := tab.Write(&b, s); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// headings and first cells of the plain style, whose columns are two spaces apart.
func plainNames(t *testing.T, text string) (heads, rows []string) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for _, l := range lines[1:] {
		rows = append(rows, strings.TrimSpace(l))
	}
	return strings.Fields(lines[0])[1:], rows
}

// manyOfTwo are names of two kinds that are cut to the same ends and differ in
// more places than there is room for.
func manyOfTwo() []string {
	var out []string
	for i := range 32 {
		out = append(out, "begin"+strings.NewReplacer("0", "-the-zero-", "1", "-the-one-").Replace(fmt.Sprintf("%05b", i))+"end")
	}
	return out
}

// TestNarrow: on a terminal names are as narrow as asked for and differ where
// they do; elsewhere they are whole.
func TestNarrow(t *testing.T) {
	for what, names := range map[string][]string{
		"in the middle":       {"benchmark-results-before-the-change-linux.txt", "benchmark-results-after-the-change-linux.txt"},
		"at the beginning":    {"old/benchmark-results-of-today.txt", "new/benchmark-results-of-today.txt"},
		"at the end":          {"benchmark-results-of-today-1.txt", "benchmark-results-of-today-2.txt", "benchmark-results-of-today-10.txt"},
		"a part of the other": {"benchmark-results-of-today", "benchmark-results-of-today-and-again-of-today"},
		"in two places":       {"a-long-prefix-A-a-long-part-1-and-the-end", "a-long-prefix-A-a-long-part-2-and-the-end", "a-long-prefix-B-a-long-part-1-and-the-end", "a-long-prefix-B-a-long-part-2-and-the-end"},
		"what another is cut to": {"benchmark-results-x-linux.txt", "benchmark-results-y-linux.txt", "bench…ux.txt",
			"benchmark~1", "benchmark-results-before-the-change-linux.txt"},
		"numbers that meet": {"aaaaaaaaaa-x-bbbbbbb1-y-cccccccccc", "aaaaaaaaaa-x-bbbbbbb2-y-cccccccccc", "aaaaa…ccc~1", "aaaa…ccc~2", "…1-y-cccccc…"},
		"many of two kinds": manyOfTwo(),
		"wide characters":   {"基准测试结果在更改之前的文件名称", "基准测试结果在更改之后的文件名称"},
	} {
		heads, rows := plainNames(t, written(t, named(12, names...), table.Plain))
		for _, got := range [][]string{heads, rows} {
			sorted := slices.Sorted(slices.Values(got))
			if len(got) != len(names) || len(slices.Compact(sorted)) != len(names) {
				t.Errorf("%s: %q are shown as %q", what, names, got)
			}
			for _, g := range got {
				if n := len([]rune(g)); n > 12 {
					t.Errorf("%s: %q is %d wide", what, g, n)
				}
			}
		}
		for _, s := range []table.Style{table.Markdown, table.CSV} {
			for _, n := range names {
				if text := written(t, named(12, names...), s); strings.Count(text, n) < 2 {
					t.Errorf("%s: %s has no %q:\n%s", what, s, n, text)
				}
			}
		}
	}
	// What fits, and what is cut where nothing is like it, stays as it was.
	heads, _ := plainNames(t, written(t, named(12, "short.txt", "benchmark-results-of-today.txt"), table.Plain))
	if want := []string{"short.txt", "bench…ay.txt"}; !slices.Equal(heads, want) {
		t.Errorf("headings %q, want %q", heads, want)
	}
	heads, _ = plainNames(t, written(t, named(12, "benchmark-results-before-the-change-linux.txt", "benchmark-results-after-the-change-linux.txt"), table.Plain))
	if want := []string{"…before-the…", "…after-the-…"}; !slices.Equal(heads, want) {
		t.Errorf("headings %q, want %q", heads, want)
	}
}

// TestManyNarrow: a thousand names that differ in places that no column has room
// for are numbered, and soon.
func TestManyNarrow(t *testing.T) {
	tab := &table.Table{Columns: []table.Column{{Name: "row", Left: true, Narrow: 12}}}
	const names = 1000
	for i := range names {
		tab.Add(table.Text(strings.ReplaceAll(fmt.Sprintf("a-name-of-%020b-that-is-long", i), "0", "-zero-")))
	}
	_, rows := plainNames(t, written(t, tab, table.Plain))
	if n := len(slices.Compact(slices.Sorted(slices.Values(rows)))); n != names {
		t.Errorf("%d of %d names are told apart", n, names)
	}
}

// Names that differ in what cannot be shown are told apart in every style.
func TestUnseen(t *testing.T) {
	for _, s := range table.Styles {
		text := written(t, named(0, "a\x01", "a\x02", "b"), s)
		if strings.ContainsAny(text, "\x01\x02\uFFFD") || strings.Count(text, "x01") != 2 || strings.Count(text, "x02") != 2 {
			t.Errorf("%s:\n%s", s, text)
		}
	}
}

// cellsOf splits a row of a Markdown table as the specification of GitHub's has
// it: at pipes that no backslash stands before; what is left of the escapes is
// what is shown (CommonMark 2.4).
func cellsOf(line string) []string {
	var out []string
	var cell strings.Builder
	escaped := false
	for _, c := range strings.TrimSuffix(strings.TrimPrefix(line, "|"), "|") {
		switch {
		case escaped:
			cell.WriteRune(c)
			escaped = false
		case c == '\\':
			escaped = true
		case c == '|':
			out = append(out, strings.TrimSpace(cell.String()))
			cell.Reset()
		case strings.ContainsRune("`*<&", c):
			cell.WriteString("(bare " + string(c) + ")")
		default:
			cell.WriteRune(c)
		}
	}
	return append(out, strings.TrimSpace(cell.String()))
}

// TestMarkdownCells: what means something in Markdown is shown as it is, and a
// row has as many cells as the line below the headings.
func TestMarkdownCells(t *testing.T) {
	names := []string{`old|a.txt`, `new\|b.txt`, `C:\new\b`, "code `x` y", "*bold*", "a**b**c", "_under_", "__init__", "gemm_nn_f32", "<b>", "&lt;", "x~y~z", "~",
		"[a](b)", "[0.30, 0.33]", `a\`, "line\nbreak"}
	lines := strings.Split(strings.TrimSuffix(written(t, named(0, names...), table.Markdown), "\n"), "\n")
	for i, l := range lines {
		got := cellsOf(l)
		if len(got) != len(names)+1 {
			t.Fatalf("line %d has %d cells, want %d: %s", i, len(got), len(names)+1, l)
		}
		if i == 0 {
			for k, n := range names {
				if want := strings.ReplaceAll(n, "\n", " "); got[k+1] != want {
					t.Errorf("%q is shown as %q", want, got[k+1])
				}
			}
		} else if i > 1 {
			if want := strings.ReplaceAll(names[i-2], "\n", " "); got[0] != want {
				t.Errorf("%q is shown as %q", want, got[0])
			}
		}
	}
	text := written(t, named(0, names...), table.Markdown)
	for _, want := range []string{`\_under\_`, `\_\_init\_\_`, "gemm_nn_f32", "| ~ ", `\[a](b)`, "[0.30, 0.33]", `x\~y\~z`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	// Titles and sentences, of which code stays code.
	var d table.Document
	d.Table(&table.Table{Title: "a*b* against c|d", Columns: []table.Column{{Name: "x"}}})
	d.Say("%s: see `introgen list <x>`", "<script> *x* a|b_c")
	d.Say("%s", "one ` alone *x*")
	d.Say("%s", "a ```<b>` in one")
	d.Say("%s", "[a `b` ](c) ~d `e` f~")
	var b strings.Builder
	if err := d.Write(&b, table.Markdown); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`**a\*b\* against c\|d**`, "\\<script> \\*x\\* a|b_c: see `introgen list <x>`\n", "one \\` alone \\*x\\*\n",
		"a \\`\\`\\`\\<b>\\` in one\n", "\\[a `b` ](c) \\~d `e` f\\~\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

// TestCSVFields: what is read is what was there, but that a spreadsheet takes no
// text for a formula.
func TestCSVFields(t *testing.T) {
	names := []string{`a "quoted", text`, "=1+1", "+x", "-x", "@x", "-1.5", "+2", "'=x", "''@", "'", "–", "a|b", "x y"}
	want := []string{`a "quoted", text`, "'=1+1", "'+x", "'-x", "'@x", "-1.5", "+2", "''=x", "'''@", "'", "–", "a|b", "x y"}
	lines, err := csv.NewReader(strings.NewReader(written(t, named(5, names...), table.CSV))).ReadAll()
	if err != nil || len(lines) != len(names)+1 {
		t.Fatalf("%d lines, %v", len(lines), err)
	}
	for i := range names {
		if lines[0][i+1] != want[i] || lines[i+1][0] != want[i] {
			t.Errorf("%q is read as %q and %q, want %q", names[i], lines[0][i+1], lines[i+1][0], want[i])
		}
	}
}

// TestHeadingsDiffer: no two columns of CSV have one heading, whatever they are
// called; a terminal heads a joined column briefly.
func TestHeadingsDiffer(t *testing.T) {
	tab := &table.Table{Columns: []table.Column{{Name: "x", Left: true}, {Name: "a", Parts: []string{"ms", "lo ms"}}, {Name: "a lo", Parts: []string{"ms"}},
		{Name: "x"}, {Name: "x (2)"}, {Name: "a PIPE", Brief: "PIPE", Joined: true}}}
	if got, want := written(t, tab, table.CSV), "x,a ms,a lo ms,a lo ms (2),x (2),x (2) (2),a PIPE\n"; got != want {
		t.Errorf("headings %s, want %s", got, want)
	}
	if got := written(t, tab, table.Plain); !strings.HasSuffix(got, "  PIPE\n") || strings.Contains(got, "a PIPE") {
		t.Errorf("headings %s", got)
	}
	if got := written(t, tab, table.Markdown); !strings.Contains(got, "| a PIPE |") {
		t.Errorf("headings %s", got)
	}
}

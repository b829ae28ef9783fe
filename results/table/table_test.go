package table_test

import (
	"encoding/csv"
	"fmt"
	"strings"
	"testing"

	"github.com/introgen/introgen/results/table"
)

func sample() *table.Table {
	t := &table.Table{
		Title:   "times in ms",
		Columns: []table.Column{{Name: "stage", Left: true}, {Name: "cold", Parts: []string{"", "lo", "hi"}}, {Name: "n"}},
		Footer:  table.Texts("sum", "9980.6", "12"),
	}
	t.Add(table.Text("build"), table.Cell{Text: "4111.2 ± 2 %", Parts: []string{"4111.2", "4030", "4190.5"}}, table.Text("6"))
	t.Add(table.Text("预填充"), table.Cell{Text: "5869.4 ± ∞", Parts: []string{"5869.4"}}, table.Text("6"))
	t.Add(table.Text("a, b"))
	return t
}

func TestStyles(t *testing.T) {
	for style, want := range map[table.Style]string{
		table.Plain: `stage           cold   n
build   4111.2 ± 2 %   6
预填充    5869.4 ± ∞   6
a, b
sum           9980.6  12
`,
		table.Markdown: `| stage  |         cold |  n |
|:-------|-------------:|---:|
| build  | 4111.2 ± 2 % |  6 |
| 预填充 |   5869.4 ± ∞ |  6 |
| a, b   |              |    |
| sum    |       9980.6 | 12 |
`,
		table.CSV: `stage,cold,cold lo,cold hi,n
build,4111.2,4030,4190.5,6
预填充,5869.4,,,6
"a, b",,,,
sum,9980.6,,,12
`,
		table.Rounded: `╭────────┬──────────────┬────╮
│ stage  │         cold │  n │
├────────┼──────────────┼────┤
│ build  │ 4111.2 ± 2 % │  6 │
│ 预填充 │   5869.4 ± ∞ │  6 │
│ a, b   │              │    │
├────────┼──────────────┼────┤
│ sum    │       9980.6 │ 12 │
╰────────┴──────────────┴────╯
`,
	} {
		var b strings.Builder
		if err := sample().Write(&b, style); err != nil {
			t.Fatal(err)
		}
		if b.String() != want {
			t.Errorf("%s: got\n%s\nwant\n%s", style, b.String(), want)
		}
	}
}

// Whoever reads CSV finds as many fields in every line as in the first.
func TestCSVIsRegular(t *testing.T) {
	var b strings.Builder
	if err := sample().Write(&b, table.CSV); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(strings.NewReader(b.String())).ReadAll()
	if err != nil || len(lines) != 5 {
		t.Errorf("%d lines, %v; want 5", len(lines), err)
	}
}

// The bytes are the same in a locale that shows ± wide.
func TestLocale(t *testing.T) {
	t.Setenv("LC_ALL", "zh_CN.UTF-8")
	t.Setenv("RUNEWIDTH_EASTASIAN", "1")
	TestStyles(t)
}

func TestParseStyle(t *testing.T) {
	for _, s := range table.Styles {
		if got, err := table.ParseStyle(string(s)); err != nil || got != s {
			t.Errorf("%s: %v, %v", s, got, err)
		}
		var b strings.Builder
		if err := sample().Write(&b, s); err != nil || !strings.Contains(b.String(), "4111.2") {
			t.Errorf("%s: %v\n%s", s, err, b.String())
		}
	}
	if _, err := table.ParseStyle("pretty"); err == nil || !strings.Contains(err.Error(), "plain, rounded, box, ascii, markdown, csv") {
		t.Errorf("pretty: %v", err)
	}
}

func TestDocument(t *testing.T) {
	var d table.Document
	d.Say("What was measured.")
	d.Table(&table.Table{Title: "a title", Columns: []table.Column{{Name: "x"}}, Rows: [][]table.Cell{table.Texts("1")}})
	d.Say("%s", strings.Repeat("word ", 17)+"end")
	d.Say("  - two\n  - three")
	for style, want := range map[table.Style]string{
		table.Plain: "What was measured.\n\na title\nx\n1\n" + strings.Repeat("word ", 15) + "word\n  word end\n  - two\n  - three\n",
		table.Markdown: "What was measured.\n\n**a title**\n\n| x |\n|--:|\n| 1 |\n\n" +
			strings.Repeat("word ", 17) + "end\n\n  - two\n  - three\n",
		table.CSV: "# What was measured.\n\n# a title\nx\n1\n# " + strings.Repeat("word ", 17) + "end\n#   - two\n#   - three\n",
	} {
		var b strings.Builder
		if err := d.Write(&b, style); err != nil {
			t.Fatal(err)
		}
		if b.String() != want {
			t.Errorf("%s: got\n%q\nwant\n%q", style, b.String(), want)
		}
	}
}

// A table that is too wide for a terminal is divided, with its first column in
// every part; for other readers it stays whole.
func TestWideTable(t *testing.T) {
	wide := &table.Table{Title: "wide", Columns: []table.Column{{Name: "stage", Left: true}}, Footer: table.Texts("sum")}
	row := table.Texts("build")
	for i := range 9 {
		wide.Columns = append(wide.Columns, table.Column{Name: fmt.Sprintf("a long state %d", i)})
		row = append(row, table.Text(fmt.Sprint(i)))
		wide.Footer = append(wide.Footer, table.Text("s"))
	}
	wide.Rows = [][]table.Cell{row, table.Texts("short")}
	var d table.Document
	d.Table(wide)
	for _, style := range []table.Style{table.Plain, table.Rounded, table.ASCII} {
		var b strings.Builder
		if err := d.Write(&b, style); err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(b.String(), "\n") {
			if n := len([]rune(line)); n > table.Width {
				t.Errorf("%s: a line of %d characters: %s", style, n, line)
			}
		}
		for i := range 9 {
			if !strings.Contains(b.String(), fmt.Sprintf("a long state %d", i)) {
				t.Errorf("%s: column %d is gone:\n%s", style, i, b.String())
			}
		}
		if n := strings.Count(b.String(), "stage"); n != 3 {
			t.Errorf("%s: %d parts, want 3:\n%s", style, n, b.String())
		}
	}
	var b strings.Builder
	if err := d.Write(&b, table.CSV); err != nil || strings.Count(b.String(), "stage") != 1 {
		t.Errorf("CSV: %v\n%s", err, b.String())
	}
	// Four columns would fit into the first part, but the fifth is joined to
	// the fourth.
	wide.Columns[5].Joined = true
	b.Reset()
	if err := d.Write(&b, table.Plain); err != nil {
		t.Fatal(err)
	}
	if heads := strings.Split(b.String(), "\n")[1]; strings.Count(heads, "a long state") != 3 || !strings.Contains(heads, "state 2") {
		t.Errorf("the first part is headed %q", heads)
	}
}

func TestRoom(t *testing.T) {
	x := sample() // stage 6, cold 12, n 2 wide
	if got := x.Room(); got != 80-8-14-4 {
		t.Errorf("the room beside it is %d", got)
	}
	// A drawing that would stand alone in a part is left out.
	x.Columns = append(x.Columns, table.Column{Name: strings.Repeat("x", 60), Drawn: true})
	var d table.Document
	var b strings.Builder
	d.Table(x)
	if err := d.Write(&b, table.Plain); err != nil || strings.Contains(b.String(), "xxx") {
		t.Errorf("%v\n%s", err, b.String())
	}
}

func TestWrap(t *testing.T) {
	for in, want := range map[string]string{
		"":                      "\n",
		"short":                 "short\n",
		"one two three":         "one two\n  three\n",
		"  one two three":       "  one two\n    three\n",
		"unbreakablelongword x": "unbreakablelongword\n  x\n",
		"±±±±±±±±±":             "±±±±±±±±±\n",
	} {
		if got := table.Wrap(in, 9); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

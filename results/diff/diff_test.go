package diff

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/table"
)

// experiment opens a recording of the experiment's own figures.
func experiment(t *testing.T, name string) *recording.File {
	t.Helper()
	f, err := recording.Open(filepath.Join("..", "recorded", name))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// repeated makes a plan of many blocks of one with a single block. Each run is
// as much slower as its block, and by a few per cent of its own.
func repeated(f *recording.File, blocks int, seed uint64) *recording.File {
	rng := rand.New(rand.NewPCG(seed, seed))
	out := *f
	out.Runs = nil
	for block := 1; block <= blocks; block++ {
		slow := 1 + rng.Float64()/2
		for _, r := range f.Runs {
			c := *r
			factor := slow * (1 + rng.Float64()/20)
			scale := func(d time.Duration) time.Duration { return time.Duration(float64(d) * factor) }
			c.Spans = slices.Clone(r.Spans)
			for i := range c.Spans {
				c.Spans[i].Start, c.Spans[i].End = scale(c.Spans[i].Start), scale(c.Spans[i].End)
			}
			c.Start = &recording.Start{Run: len(out.Runs) + 1, Block: block, Arm: r.Start.Arm}
			x := *r.Exit
			x.Run, x.Reaped = c.Start.Run, x.Spawned+int64(scale(time.Duration(x.Reaped-x.Spawned)))
			c.Exit = &x
			out.Runs = append(out.Runs, &c)
		}
	}
	return &out
}

func judge(t *testing.T, o Options, sources ...Source) *Report {
	t.Helper()
	r, err := Judge(sources, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// benchstat runs the official benchstat, at the version that go.mod pins, and
// returns the rows of its CSV without those of geometric means, and what it
// warned of.
func benchstat(t *testing.T, args ...string) (rows [][]string, warnings string) {
	t.Helper()
	cmd := exec.Command("go", append([]string{"tool", "benchstat", "-format", "csv"}, args...)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Skipf("SKIP: needs the go command and golang.org/x/perf in the module cache: %v\n%s", err, stderr.Bytes())
	}
	r := csv.NewReader(&stdout)
	r.FieldsPerRecord = -1
	all, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range all {
		if row[0] != "geomean" {
			rows = append(rows, row)
		}
	}
	for line := range strings.Lines(stderr.String()) {
		if !strings.HasPrefix(line, "go: downloading ") { // into an empty module cache
			warnings += line
		}
	}
	return rows, warnings
}

// asBenchstat are the report's tables as benchstat writes them.
func asBenchstat(r *Report) (rows [][]string) {
	said := map[string]bool{}
	for _, t := range r.Tables {
		for _, c := range t.Config {
			if !said[c] {
				said[c] = true
				rows = append(rows, []string{c})
			}
		}
		names, units := []string{""}, []string{""}
		for i, c := range t.Cols {
			names, units = append(names, c, ""), append(units, t.Unit, "CI")
			if i > 0 {
				names, units = append(names, "", ""), append(units, "vs base", "P")
			}
		}
		rows = append(rows, names, units)
		for _, row := range t.Rows {
			line := []string{row.Name}
			for i, c := range row.Cells {
				for len(line) < 1+2*i+2*max(0, i-1) {
					line = append(line, "")
				}
				if c == nil {
					continue
				}
				line = append(line, fmt.Sprint(c.Summary.Center), c.Summary.PctRangeString())
				if c.Versus != nil {
					line = append(line, c.Versus.Delta, c.Versus.String())
				}
			}
			rows = append(rows, line)
		}
	}
	return rows
}

// TestAsBenchstat: rows, medians, intervals, changes and p-values are those of
// the official benchstat, for all that introgen writes.
func TestAsBenchstat(t *testing.T) {
	states, sweep := repeated(experiment(t, "experiment-states.introgen"), 8, 1), repeated(experiment(t, "experiment-sweep.introgen"), 6, 2)
	other := repeated(experiment(t, "experiment-states.introgen"), 7, 3)
	few := repeated(experiment(t, "experiment-states.introgen"), 3, 4)
	for _, c := range []struct {
		name  string
		by    string
		files []*recording.File
	}{
		{"states", "/cache", []*recording.File{states}},
		{"sweep", "/per-buffer", []*recording.File{sweep}},
		{"two files", ByFile, []*recording.File{states, other}},
		{"few", ByFile, []*recording.File{few, few}},
		{"one", ByFile, []*recording.File{states}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			var paths []string
			var sources []Source
			for i, f := range c.files {
				s := Recording(filepath.Join(dir, fmt.Sprintf("%d.txt", i)), f)
				if err := os.WriteFile(s.Label, s.text, 0o666); err != nil {
					t.Fatal(err)
				}
				paths, sources = append(paths, s.Label), append(sources, s)
			}
			want, warnings := benchstat(t, append([]string{"-col", c.by}, paths...)...)
			report := judge(t, Options{By: c.by}, sources...)
			compare(t, asBenchstat(report), want)
			ours(t, warnings, c.name == "few")

			// A text that somebody kept is judged as the recording is.
			var texts []Source
			for _, p := range paths {
				in, err := os.Open(p)
				if err != nil {
					t.Fatal(err)
				}
				s, err := Text(p, in)
				if err := in.Close(); err != nil {
					t.Fatal(err)
				}
				if err != nil {
					t.Fatal(err)
				}
				texts = append(texts, s)
			}
			compare(t, asBenchstat(judge(t, Options{By: c.by}, texts...)), want)
		})
	}
}

func compare(t *testing.T, got, want [][]string) {
	t.Helper()
	for i := range min(len(got), len(want)) {
		g, w := strings.TrimRight(strings.Join(got[i], ","), ","), strings.TrimRight(strings.Join(want[i], ","), ",")
		if g != w {
			t.Fatalf("row %d is\n%s\nand benchstat has\n%s", i+1, g, w)
		}
	}
	if len(got) != len(want) || len(got) == 0 {
		t.Fatalf("%d rows, benchstat has %d", len(got), len(want))
	}
}

// ours fails the test for what benchstat warns of and the text is to blame for.
func ours(t *testing.T, warnings string, few bool) {
	t.Helper()
	for line := range strings.Lines(warnings) {
		_, text, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch {
		case few && strings.HasPrefix(text, "need >="):
		case text == "all samples are equal":
		// Libraries are only compiled in some states.
		case strings.HasPrefix(text, "benchmark set differs from baseline"):
		default:
			t.Errorf("benchstat warns: %s", line)
		}
	}
}

// TestVaries: a single source is compared along its plan, or stands alone.
func TestVaries(t *testing.T) {
	for want, s := range map[string]Source{
		"/cache":      Recording("x", experiment(t, "experiment-states.introgen")),
		"/per-buffer": Recording("x", experiment(t, "experiment-sweep.introgen")),
		ByFile:        textOf(t, "x", fmt.Sprintf(other, 10, 11)),
	} {
		if got := s.Varies(); got != want {
			t.Errorf("%s varies, want %s", got, want)
		}
	}
}

// TestPairs: blocks that are slow as a whole hide a difference from the U test
// and not from the pairs.
func TestPairs(t *testing.T) {
	f := repeated(experiment(t, "experiment-sweep.introgen"), 12, 5)
	r := judge(t, Options{By: "/per-buffer", Base: "50"}, Recording("x", f))
	if r.Tables[0].Cols[0] != "50" || len(r.Tables[0].Cols) != 5 {
		t.Fatalf("columns %v", r.Tables[0].Cols)
	}
	for _, row := range r.Tables[0].Rows {
		for _, c := range row.Cells[1:] {
			if c.Versus.Pairs == nil || c.Versus.Pairs.N != 12 || !c.Versus.Pairs.Decidable {
				t.Errorf("%s: pairs %+v", row.Name, c.Versus.Pairs)
			}
		}
	}
	two := judge(t, Options{}, Recording("x", f), Recording("y", f))
	for _, row := range two.Tables[0].Rows {
		if row.Cells[1].Versus.Pairs != nil {
			t.Fatalf("%s: blocks of two files are no pairs", row.Name)
		}
	}
}

// TestDoubts: what speaks against the runs is said, and what does not count is
// no sample.
func TestDoubts(t *testing.T) {
	f := repeated(experiment(t, "experiment-sweep.introgen"), 6, 7)
	f.Runs[0].Exit.Refused = "mislabelled"
	load := recording.Taint{Code: recording.TaintLoad, Value: 1.5, Text: "other processes kept 1.5 of 2 cores busy"}
	f.Runs[1].Exit.Taint(load)
	f.Runs[2].Exit.Taint(load, recording.Taint{Code: recording.TaintThrottled, Value: 1})
	r := judge(t, Options{By: "/per-buffer"}, Recording("x", f))
	if want := []string{"x: 1 of 30 runs do not count", "x: 2 of 29 runs are tainted: load, throttled"}; !slices.Equal(r.Notes, want) {
		t.Errorf("notes %q, want %q", r.Notes, want)
	}
	if n := r.Tables[0].Rows[0].Cells[0].N; n != 5 {
		t.Errorf("%d samples where one of 6 does not count", n)
	}
	if text := write(t, r, table.Plain); !strings.Contains(text, "2 of 29 runs are tainted") {
		t.Errorf("the document does not say it:\n%s", text)
	}
}

const other = "goos: linux\ngoarch: amd64\nmodel: a\nBenchmarkX 1 %d ns/op\nBenchmarkX 1 %d ns/op\n"

func textOf(t *testing.T, label, text string) Source {
	t.Helper()
	s, err := Text(label, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestMixed(t *testing.T) {
	a := textOf(t, "a", fmt.Sprintf(other, 10, 11))
	b := textOf(t, "b", strings.Replace(fmt.Sprintf(other, 20, 21), "model: a", "model: b", 1))
	_, err := Judge([]Source{a, b}, Options{})
	if err == nil || !strings.Contains(err.Error(), "model: a and b") || !strings.Contains(err.Error(), "--mixed") {
		t.Errorf("two models: %v", err)
	}
	// What all files differ in within themselves is not what tells them apart.
	pkgs := func(label, cpu string) Source {
		return textOf(t, label, "cpu: "+cpu+"\npkg: a\n"+fmt.Sprintf(other, 10, 11)+"pkg: b\n"+fmt.Sprintf(other, 12, 13))
	}
	if _, err := Judge([]Source{pkgs("a", "x"), pkgs("b", "y")}, Options{}); err == nil || !strings.Contains(err.Error(), "(cpu: x and y): --mixed") {
		t.Errorf("two processors: %v", err)
	}
	r := judge(t, Options{Mixed: true}, a, b)
	if len(r.Tables) != 1 || len(r.Tables[0].Cols) != 2 || !slices.Contains(r.Warnings, "benchmarks vary in model") {
		t.Errorf("two models when asked: %+v", r)
	}
	if _, err := Judge([]Source{textOf(t, "e", "nothing here\n")}, Options{}); err == nil {
		t.Error("no samples are judged")
	}
	if _, err := Judge([]Source{a}, Options{Base: "z"}); err == nil || !strings.Contains(err.Error(), `"z"`) {
		t.Errorf("an unknown base: %v", err)
	}
	for o, want := range map[Options]string{
		{Filter: "("}:       `--filter "(": syntax error: expected key:value or subexpression`,
		{By: ".unit"}:       `--by ".unit": syntax error: .unit is only allowed in filters`,
		{By: "/nope"}:       `--by "/nope": no sample has /nope`,
		{By: ".file,/nope"}: `--by ".file,/nope": no sample has /nope`,
		{By: "nonsense"}:    `--by "nonsense": no sample has nonsense`,
	} {
		_, err := Judge([]Source{a}, o)
		var wrong *OptionError
		if !errors.As(err, &wrong) || err.Error() != want {
			t.Errorf("%+v: %v, want %s", o, err, want)
		} else if !errors.Is(err, wrong.Err) {
			t.Errorf("%+v: %v does not lead to its cause", o, err)
		}
	}
	if _, err := Judge([]Source{a}, Options{By: "@"}); err == nil {
		t.Error("columns that are none")
	}
	bad := judge(t, Options{Mixed: true}, textOf(t, "bad", "BenchmarkX 1 ns/op\nBenchmarkY 1 NaN ns/op\nBenchmarkY 1 Inf ns/op\nBenchmarkZ 1 0 ns/op\n"), a)
	if len(bad.Warnings) == 0 {
		t.Errorf("a bad line: %v", bad.Warnings)
	}
	// Values that are no numbers are left out on either side: benchstat's test
	// does not end with them.
	nan := textOf(t, "nan", strings.Repeat("BenchmarkX 1 NaN ns/op\nBenchmarkX 1 +Inf ns/op\n", 30)+strings.Repeat("BenchmarkX 1 7 ns/op\n", 6))
	fine := textOf(t, "fine", strings.Repeat("BenchmarkX 1 7 ns/op\n", 6))
	for _, pair := range [][]Source{{nan, fine}, {fine, nan}} {
		r := judge(t, Options{}, pair...)
		if c := r.Tables[0].Rows[0].Cells; c[0].N != 6 || c[1].N != 6 || c[1].Versus.P != 1 {
			t.Errorf("with values that are no numbers: %+v and %+v", c[0], c[1])
		}
		if n := len(r.Warnings); n != maxWarnings+1 || r.Warnings[n-1] != "40 more like these" {
			t.Errorf("%d warnings, the last is %q", n, r.Warnings[n-1])
		}
	}
	if _, err := Judge([]Source{textOf(t, "nan", "BenchmarkX 1 NaN ns/op\n")}, Options{}); err == nil {
		t.Error("samples that are no numbers are judged")
	}
	write(t, bad, table.Plain)
}

func write(t *testing.T, r *Report, s table.Style) string {
	t.Helper()
	var b bytes.Buffer
	if err := r.Document().Write(&b, s); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestDocument: it fits 80 columns, and CSV has whole names and digits.
func TestDocument(t *testing.T) {
	f := repeated(experiment(t, "experiment-states.introgen"), 12, 6)
	r := judge(t, Options{By: "/cache"}, Recording("x", f))
	for line := range strings.Lines(write(t, r, table.Plain)) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	if text := write(t, r, table.CSV); !strings.Contains(text, "gemm_nn_f32_f32_64_32_32_2_2") {
		t.Error("CSV has no whole names")
	}
	few := write(t, judge(t, Options{}, textOf(t, "a", fmt.Sprintf(other, 10, 11)), textOf(t, "b", fmt.Sprintf(other, 30, 31))), table.Plain)
	if !strings.Contains(few, "Undecidable where a side has 2") {
		t.Errorf("two samples a side:\n%s", few)
	}
	if strings.Contains(few, "more than chance explains") {
		t.Errorf("of what cannot be decided it is said how much differs:\n%s", few)
	}
}

// TestFarApart: values of which one is a thousand times the other have units of
// their own, and the change is a factor.
func TestFarApart(t *testing.T) {
	var a, b strings.Builder
	for i := range 8 {
		fmt.Fprintf(&a, "BenchmarkX 1 %d ns/op\nBenchmarkY 1 %d ns/op\n", 799000+i, 1000000+i)
		fmt.Fprintf(&b, "BenchmarkX 1 %d ns/op\nBenchmarkY 1 %d ns/op\n", 1784788400+i, 9000000+i)
	}
	text := write(t, judge(t, Options{}, textOf(t, "a", a.String()), textOf(t, "b", b.String())), table.Plain)
	for _, want := range []string{"799.0µs ±0%", "1.785s ±0%", "×2234", "1.000ms ±0%", "9.000ms ±0%", "+800.00%", " detects\n",
		"2 of 2 rows differ by more than chance explains. One row in 20 looks so by\n", "detects:"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestRegressions(t *testing.T) {
	var a, b strings.Builder
	for i := range 8 {
		fmt.Fprintf(&a, "BenchmarkX 1 %d ns/op %d tok/s\nBenchmarkY 1 %d ns/op\nBenchmarkZ 1 100 dispatches\n", 100+i, 1000+i, 50+i)
		fmt.Fprintf(&b, "BenchmarkX 1 %d ns/op %d tok/s\nBenchmarkY 1 %d ns/op\nBenchmarkZ 1 107 dispatches\n", 110+i, 900+i, 50+(i+3)%8)
	}
	head := "Unit tok/s better=higher\nUnit dispatches better=lower assume=exact\n"
	r := judge(t, Options{}, textOf(t, "a", head+a.String()), textOf(t, "b", head+b.String()))
	if got := r.Regressions(0.05); len(got) != 3 || !strings.HasPrefix(got[0], "X +9.66 %") {
		t.Errorf("regressions: %q", got)
	}
	if got := r.Regressions(0.2); len(got) != 0 {
		t.Errorf("regressions beyond 20 %%: %q", got)
	}
	if rows, coarse, blind := r.Sight(0.05); rows != 4 || coarse != 1 || blind != 0 { // Y scatters by more
		t.Errorf("of %d rows %d see only more than 5 %%, %d nothing", rows, coarse, blind)
	}
	// Medians that are 7 % apart in a scatter of 50 %: of 64 pairs 28 have the
	// first one larger, which the U test calls chance (p = 0.7).
	var low, high strings.Builder
	for i := range 8 {
		fmt.Fprintf(&low, "BenchmarkX 1 %d ns/op\n", 100+10*i)
		fmt.Fprintf(&high, "BenchmarkX 1 %d ns/op\n", 109+10*i)
	}
	chance := judge(t, Options{}, textOf(t, "a", low.String()), textOf(t, "b", high.String()))
	if got := chance.Regressions(0.05); len(got) != 0 {
		t.Errorf("what may be chance: %q", got)
	}
	if text := write(t, chance, table.Plain); !strings.Contains(text, "0 of 1 row differs") {
		t.Errorf("what may be chance differs:\n%s", text)
	}
	few := judge(t, Options{}, textOf(t, "a", "BenchmarkX 1 10 ns/op\n"), textOf(t, "b", "BenchmarkX 1 90 ns/op\n"))
	if rows, coarse, blind := few.Sight(0.05); rows != 1 || coarse != 0 || blind != 1 {
		t.Errorf("of %d rows %d see only more than 5 %%, %d nothing", rows, coarse, blind)
	}
	back := judge(t, Options{}, textOf(t, "b", head+b.String()), textOf(t, "a", head+a.String()))
	if got := back.Regressions(0); len(got) != 0 {
		t.Errorf("what became better: %q", got)
	}
}

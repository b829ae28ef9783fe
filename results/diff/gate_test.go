package diff

import (
	"encoding/binary"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/table"
)

// rep is n lines of a benchmark whose values go up by 1 from the first one.
func rep(name string, n, from int, unit string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "Benchmark%s 1 %d %s\n", name, from+i, unit)
	}
	return b.String()
}

// gated judges texts by a gate of 5 %; the first is "old", then "new", "third".
func gated(t *testing.T, allow string, texts ...string) (notes string, err error) {
	t.Helper()
	var sources []Source
	for i, text := range texts {
		sources = append(sources, textOf(t, []string{"old", "new", "third"}[i], text))
	}
	r, err := Judge(sources, Options{})
	if err != nil {
		return "", err
	}
	g := Gate{Above: 0.05, Limit: "5%"}
	if allow != "" {
		g.Allow = regexp.MustCompile(allow)
	}
	all, err := r.Check(g)
	for _, s := range table.Styles {
		write(t, r, s)
	}
	return strings.Join(all, "\n"), err
}

// TestGate: what was compared before and is missing, or cannot be judged, is no
// pass; what is allowed by name is told and does pass.
func TestGate(t *testing.T) {
	both := rep("A", 8, 1000, "ns/op") + rep("B", 8, 2000, "ns/op")
	a := rep("A", 8, 1000, "ns/op")
	allocs := func(n int) string {
		return strings.Repeat(fmt.Sprintf("BenchmarkA 1 1000 ns/op %d allocs/op\n", n), 8)
	}
	for _, c := range []struct {
		name, allow string
		texts       []string
		fails       string // a part of the error; "" for a pass
		notes       string // a part of the notes; "" for none at all
	}{
		{"the same", "", []string{both, both}, "", ""},
		{"a benchmark is gone", "", []string{both, a}, "1 that old has is missing: B (time, new); --allow-missing", ""},
		{"of the third file", "", []string{both, both, a}, "missing: B (time, third)", ""},
		{"of the second of three", "", []string{both, a, both}, "missing: B (time, new)", ""},
		{"allowed", "^B$", []string{both, a}, "", "missing, as --allow-missing lets it: B (time, new)"},
		{"allowed by the whole name", "^BenchmarkB$", []string{both, a}, "", "lets it: B"},
		{"allowed by its unit as written", "^B ns/op$", []string{both, a}, "", "lets it: B"},
		{"allowed by its unit as shown", "^B sec/op$", []string{both, a}, "", "lets it: B"},
		{"allowed by its unit as the tables call it", "^BenchmarkB time$", []string{both, a}, "", "lets it: B"},
		{"another is allowed", "^A$", []string{both, a}, "missing: B", `"^A$" matches nothing that is missing`},
		{"a unit is gone", "", []string{allocs(3), rep("A", 8, 1000, "ns/op")}, "missing: A (allocs/op, new)", ""},
		{"a unit of which nobody knows what is better is gone", "", []string{rep("A", 8, 10, "ns/op 1 widgets"), rep("A", 8, 10, "ns/op")}, "missing: A (widgets, new)", ""},
		{"a new benchmark", "", []string{a, both}, "", "not judged, since old lacks it: B (time, new)"},
		{"another GOMAXPROCS", "", []string{rep("A-8", 8, 10, "ns/op"), rep("A-16", 8, 10, "ns/op")}, "A-8 (time, new), there as A-16, another GOMAXPROCS", "A-16"},
		{"no GOMAXPROCS", "", []string{rep("A-8", 8, 10, "ns/op"), rep("A", 8, 10, "ns/op")}, "there as A, another GOMAXPROCS", "A (time"},
		{"another scale that is known", "", []string{rep("A", 8, 1000, "MB/s"), rep("A", 8, 1000000000, "B/s")}, "", ""},
		{"another scale that is not", "", []string{rep("A", 8, 1000, "ns/op"), rep("A", 8, 1, "ms/op")}, "A (time, new), there in ms/op", "A (ms/op"},
		{"another package", "", []string{"pkg: a\n" + a + "pkg: b\n" + a, "pkg: a\n" + a}, "A (time, pkg: b, new)", ""},
		{"a package that has moved", "", []string{"pkg: a\n" + a + "pkg: b\n" + a, "pkg: a\n" + a + "pkg: c\n" + a}, "A (time, pkg: b, new), there with pkg: a", "A (time, pkg: c, new)"},
		{"one of two packages is slower", "", []string{"pkg: a\n" + a + "pkg: b\n" + a, "pkg: a\n" + a + "pkg: b\n" + rep("A", 8, 2000, "ns/op")}, "A +99.7 % (time, pkg: b, new)", ""},
		{"too few where the base has enough", "", []string{both, a + rep("B", 3, 2000, "ns/op")}, "1 has too few samples to be judged, at least 4 are wanted and old has them: B (time, new: 8+3)", "1 have too few"},
		{"too few, allowed", "^B$", []string{both, a + rep("B", 3, 2000, "ns/op")}, "", "not judged, of fewer than 4 samples a side: B (time, new: 8+3)"},
		{"too few on both sides of one", "", []string{a + rep("B", 2, 2000, "ns/op"), a + rep("B", 2, 9000, "ns/op")}, "", "not judged, of fewer than 4 samples a side: B (time, new: 2)"},
		{"too few on both sides of all", "", []string{rep("B", 2, 2000, "ns/op"), rep("B", 2, 9000, "ns/op")}, "nothing was compared that has enough samples", "B (time, new: 2)"},
		{"nobody knows what is better", "", []string{a + rep("W", 8, 10, "widgets"), a + rep("W", 8, 90, "widgets")}, "", "since nobody says whether more is worse: W (widgets, new)"},
		{"of all", "", []string{rep("W", 8, 10, "widgets"), rep("W", 8, 90, "widgets")}, "nothing was compared", "W (widgets, new)"},
		{"more is better", "", []string{"Unit tok/s better=higher\n" + rep("A", 8, 1000, "tok/s"), rep("A", 8, 800, "tok/s")}, "A -19.9 % (tok/s, new)", ""},
		{"from 0", "", []string{allocs(0), allocs(1)}, "A from 0 (allocs/op, new)", ""},
		{"to 0", "", []string{allocs(1), allocs(0)}, "", ""},
		{"0 and 0", "", []string{allocs(0), allocs(0)}, "", ""},
		{"less than 0, and more", "", []string{"Unit mV better=lower\n" + rep("A", 8, -1000, "mV"), rep("A", 8, -500, "mV")}, "A +50.2 % (mV, new)", ""},
		{"less than 0, and less", "", []string{"Unit mV better=lower\n" + rep("A", 8, -1000, "mV"), rep("A", 8, -2000, "mV")}, "", ""},
		{"times below 0", "", []string{both, a + rep("B", 8, -1000, "ns/op")}, "missing: B (time, new)", ""},
		{"no numbers", "", []string{both, a + strings.Repeat("BenchmarkB 1 NaN ns/op\n", 8)}, "missing: B (time, new)", ""},
		{"no iterations", "", []string{both, a + strings.ReplaceAll(rep("B", 8, 2000, "ns/op"), "B 1 ", "B 0 ")}, "missing: B (time, new)", ""},
		{"exact and worse", "", []string{"Unit n better=lower assume=exact\n" + rep("A", 1, 100, "n"), rep("A", 1, 106, "n")}, "A +6.00 % (n, new)", ""},
		{"exact and not always", "", []string{"Unit n better=lower assume=exact\n" + strings.Repeat("BenchmarkA 1 100 n\n", 4), strings.Repeat("BenchmarkA 1 100 n\n", 3) + "BenchmarkA 1 500 n\n"}, "A +400.0 % (n, new)", ""},
		{"a count that introgen leaves out where it is 0", "", []string{"Unit misses better=lower assume=exact\n" + rep("Compile", 8, 9, "ns/op"), rep("Compile", 8, 9, "ns/op 5 misses")}, "Compile from 0 (misses, new)", ""},
		{"one that becomes 0", "", []string{"Unit misses better=lower assume=exact\n" + rep("Compile", 8, 9000, "ns/op 5 misses"), rep("Compile", 8, 9000, "ns/op")}, "", ""},
		{"hits that become 0", "", []string{"Unit hits better=higher assume=exact\n" + rep("Compile", 8, 9, "ns/op 5 hits"), rep("Compile", 8, 9, "ns/op")}, "Compile -100.0 % (hits, new)", ""},
		{"the base lacks what two others have", "", []string{a, both, a + rep("B", 8, 9000, "ns/op")}, "", "B (time, new), B (time, third)"},
		{"a unit that only two others have", "", []string{a, a + rep("B", 8, 10, "B/op"), a + rep("B", 8, 90, "B/op")}, "", "B (B/op, new), B (B/op, third)"},
		{"a run that failed", "", []string{both, both + "--- FAIL: BenchmarkC\nFAIL\n"}, "", "new: line 17 says that the run failed: --- FAIL: BenchmarkC"},
		{"one file", "", []string{both}, "nothing was compared", ""},
		{"no samples", "", []string{both, "panic: boom\n"}, "new has no samples to compare: no line of it begins with Benchmark, as those of the Go benchmark format do; line 1 says that the run failed: panic: boom", ""},
		{"no samples in the third", "", []string{both, both, ""}, "third has no samples to compare: it is empty", ""},
		{"what go test -json writes", "", []string{both, `{"Action":"output","Output":"BenchmarkA 1 10 ns/op"}` + "\n"}, "leave -json out", ""},
		{"only what is no measurement", "", []string{both, "BenchmarkA 1 NaN ns/op\n"}, "new has no samples to compare: none of its values", ""},
		{"only lines that nobody understands", "", []string{both, "BenchmarkA\tlogged\nBenchmarkA 1 1e400 ns/op\n"}, "new has no samples to compare: 2 lines begin with Benchmark or Unit and are no samples, the first is new:1: parsing iteration count: invalid syntax", ""},
		{"a line without end", "", []string{both, a + strings.Repeat("x", 70_000) + "\n" + rep("B", 8, 2000, "ns/op")}, "new: line 9 is longer than 64 KiB, which no line of the Go benchmark format is: take it out", ""},
	} {
		notes, err := gated(t, c.allow, c.texts...)
		switch {
		case c.fails == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)):
			t.Errorf("%s: %v, want %s", c.name, err, c.fails)
		}
		if !strings.Contains(notes, c.notes) || c.notes == "" && c.fails == "" && notes != "" {
			t.Errorf("%s: notes\n%s\nwant %s", c.name, notes, c.notes)
		}
	}
	if _, err := Judge([]Source{textOf(t, "old", both), textOf(t, "new", a)}, Options{Filter: ".name:B"}); err == nil || err.Error() != `--filter ".name:B": no sample of new matches` {
		t.Errorf("a filter that a file has nothing for: %v", err)
	}
}

// TestManyMissing: an error stays a line that can be read.
func TestManyMissing(t *testing.T) {
	old := rep("A", 8, 1000, "ns/op")
	for i := range 50 {
		old += rep(fmt.Sprintf("B%d", i), 8, 1000, "ns/op")
	}
	_, err := gated(t, "", old, rep("A", 8, 1000, "ns/op"))
	if err == nil || !strings.Contains(err.Error(), "50 that old has are missing: B0 (time, new), ") || !strings.Contains(err.Error(), "B19 (time, new) and 30 more;") {
		t.Errorf("%v", err)
	}
}

// TestSaid: what one side lacks is said where no gate is asked for, too.
func TestSaid(t *testing.T) {
	old := rep("A", 8, 1000, "ns/op") + rep("B", 8, 1000, "ns/op")
	text := write(t, judge(t, Options{}, textOf(t, "old", old), textOf(t, "new", rep("A", 8, 1000, "ns/op")+rep("C", 8, 10, "B/op"))), table.Plain)
	for _, want := range []string{"Missing in new, of what old has: B (time).\n", "In new and not in old: C (B/op).\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	text = write(t, judge(t, Options{}, textOf(t, "old", rep("Compile", 8, 9, "ns/op 5 misses")), textOf(t, "new", rep("Compile", 8, 9, "ns/op 5 hits"))), table.Plain)
	for _, want := range []string{"0 in new, which leaves such a count out, and not in old: Compile (misses).\n", "0 in old, which leaves such a count out, and not in new: Compile (hits).\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	// Tables of one unit are told apart by what differs of their configuration.
	pkgs := "goos: linux\npkg: a\n" + rep("A", 8, 1000, "ns/op") + "pkg: b\n" + rep("A", 8, 1000, "ns/op")
	text = write(t, judge(t, Options{}, textOf(t, "old", pkgs), textOf(t, "new", pkgs)), table.Plain)
	for _, want := range []string{"time, pkg: a, new against old\n", "time, pkg: b, new against old\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	// Rows whose names are cut to one are not cut.
	pipes := rep("Pipe/lib=A/pipe=f", 8, 1000, "ns/op") + rep("Pipe/lib=B/pipe=f", 8, 1000, "ns/op") + rep("Pipe/lib=B/pipe=g", 8, 1000, "ns/op")
	text = write(t, judge(t, Options{}, textOf(t, "old", pipes), textOf(t, "new", pipes)), table.Markdown)
	for _, want := range []string{"| Pipe/lib=A/pipe=f ", "| Pipe/lib=B/pipe=f ", "| g "} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	// Samples without what the columns are have a column with a name.
	text = write(t, judge(t, Options{By: "/cache"}, textOf(t, "old", rep("A/cache=warm", 8, 1000, "ns/op")+rep("A", 8, 1000, "ns/op"))), table.Plain)
	if !strings.Contains(text, "time, (none) against warm\n") {
		t.Errorf("a column without a name:\n%s", text)
	}
}

// inUTF16 is a text as a shell of Windows writes it.
func inUTF16(text string, order binary.AppendByteOrder) string {
	b := make([]byte, 0, 2*len(text)+2)
	for _, unit := range utf16.Encode([]rune("\ufeff" + strings.ReplaceAll(text, "\n", "\r\n"))) {
		b = order.AppendUint16(b, unit)
	}
	return string(b)
}

// TestEncodings: a text is read in the encodings that its first bytes tell, or
// it is said that it is not.
func TestEncodings(t *testing.T) {
	text := "pkg: größe/𝄞\n" + rep("A", 8, 1000, "ns/op")
	want := write(t, judge(t, Options{}, textOf(t, "a", text), textOf(t, "b", text)), table.CSV)
	for name, encoded := range map[string]string{
		"UTF-16 LE":        inUTF16(text, binary.LittleEndian),
		"UTF-16 BE":        inUTF16(text, binary.BigEndian),
		"UTF-8 with a BOM": "\xef\xbb\xbf" + text,
		"CRLF":             strings.ReplaceAll(text, "\n", "\r\n"),
	} {
		if got := write(t, judge(t, Options{}, textOf(t, "a", text), textOf(t, "b", encoded)), table.CSV); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
		}
	}
	whole := inUTF16(text, binary.LittleEndian)
	for text, want := range map[string]string{
		whole[2:]:                   "x: byte 1 is 0, which no text has: it may be in UTF-16 without a byte order mark",
		text + whole[2:]:            "is 0, which no text has",
		whole[:len(whole)-1]:        "x: it is in UTF-16 and its last character is not whole",
		whole + "\x00\xd8\x41\x00":  "is none: other bytes may have been appended",
		whole + "\x00\x00":          "is 0, which no text has",
		"\xff\xfe\x00\x00A\x00\x00": "x: it is in UTF-32",
		"\x1f\x8b\x08":              "x: it is packed with gzip and holds no recording",
	} {
		if _, err := Text("x", strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v, want %s", text, err, want)
		}
	}
}

// TestPrompts: prompts of one length and other ids are other work; of a run that
// does not tell its ids, as those of older versions, nothing is said.
func TestPrompts(t *testing.T) {
	with := func(ids ...int32) *recording.File {
		f := repeated(experiment(t, "experiment-sweep.introgen"), 6, 7)
		for _, r := range f.Runs {
			for i := range r.Rounds {
				r.Rounds[i].Prompt, r.Rounds[i].PromptIDs = 3, ids
			}
		}
		return f
	}
	one, two, unknown := with(5, 6, 7), with(7, 6, 5), with()
	_, err := Judge([]Source{Recording("old", one), Recording("new", two)}, Options{})
	if err == nil || err.Error() != "these are samples of different things (prompt: different ids): --mixed compares them nevertheless" {
		t.Errorf("two prompts: %v", err)
	}
	judge(t, Options{Mixed: true}, Recording("old", one), Recording("new", two))
	for _, f := range []*recording.File{one, unknown} {
		if r := judge(t, Options{}, Recording("old", f), Recording("new", one)); len(r.Tables[0].Cols) != 2 || len(r.Missing)+len(r.Added) > 0 {
			t.Errorf("one prompt, and %v: %v", f.Runs[0].PromptIDs(1), r.Tables[0].Cols)
		}
	}
}

// TestContents: models of one name and other numbers are other things, as
// compare has it; of a file whose content nobody knows nothing is said.
func TestContents(t *testing.T) {
	with := func(digest string) *recording.File {
		f := repeated(experiment(t, "experiment-sweep.introgen"), 6, 7)
		for _, r := range f.Runs {
			r.Header.Model.Digest = digest
		}
		return f
	}
	one, two, unknown := with("aa"), with("bb"), with("")
	_, err := Judge([]Source{Recording("old", one), Recording("new", two)}, Options{})
	if err == nil || err.Error() != "these are samples of different things (model: files of different content): --mixed compares them nevertheless" {
		t.Errorf("two contents: %v", err)
	}
	if r := judge(t, Options{Mixed: true}, Recording("old", one), Recording("new", two)); !slices.Contains(r.Warnings, "benchmarks vary in model-sha256") {
		t.Errorf("two contents when asked: %q", r.Warnings)
	}
	for _, f := range []*recording.File{one, unknown} {
		if r := judge(t, Options{}, Recording("old", one), Recording("new", f)); len(r.Tables[0].Cols) != 2 || len(r.Missing)+len(r.Added) > 0 {
			t.Errorf("one content, and %q: %v", f.Runs[0].Header.Model.Digest, r.Tables[0].Cols)
		}
	}
	// A text that was kept of a recording says it too.
	text := string(Recording("new", two).text)
	if _, err := Judge([]Source{Recording("old", one), textOf(t, "new", text)}, Options{}); err == nil || !strings.Contains(err.Error(), "different content") {
		t.Errorf("a recording and a text: %v", err)
	}
	// So does a size, where the content of one is not known.
	longer := with("")
	for _, r := range longer.Runs {
		r.Header.Model.Bytes++
	}
	for _, f := range []*recording.File{one, unknown} {
		if _, err := Judge([]Source{Recording("old", f), Recording("new", longer)}, Options{}); err == nil || !strings.Contains(err.Error(), "(model: 144811360 bytes and 144811361 bytes): --mixed") {
			t.Errorf("two sizes: %v", err)
		}
		judge(t, Options{Mixed: true}, Recording("old", f), Recording("new", longer))
	}
	// Arms of one plan may differ in it on purpose, which is said.
	mixed := with("aa")
	mixed.Runs[1].Header.Model.Digest = "bb"
	if r := judge(t, Options{By: "/per-buffer"}, Recording("x", mixed)); !slices.Contains(r.Notes, "x: its runs differ in their model: files of different content") {
		t.Errorf("notes %q", r.Notes)
	}
}

// TestLostArm: an arm of a plan that lost all its runs cannot be compared, which
// is no pass unless it is allowed.
func TestLostArm(t *testing.T) {
	f := repeated(experiment(t, "experiment-sweep.introgen"), 6, 7)
	arm := f.Plan.Arms[len(f.Plan.Arms)-1].Name
	check := func(allow *regexp.Regexp) error {
		_, err := judge(t, Options{By: "/per-buffer", Base: "50"}, Recording("x", f)).Check(Gate{Above: 100, Limit: "10000%", Allow: allow})
		return err
	}
	if err := check(nil); err != nil {
		t.Errorf("a whole plan: %v", err)
	}
	for _, r := range f.Runs {
		if r.Start.Arm == arm {
			r.Exit.Refused = "was not warm"
		}
	}
	if err := check(nil); err == nil || !strings.Contains(err.Error(), "1 of the plan's arms has no run that counts: "+arm) {
		t.Errorf("without the runs of %s: %v", arm, err)
	}
	if err := check(regexp.MustCompile("^" + arm + "$")); err != nil {
		t.Errorf("allowed to be missing: %v", err)
	}
}

// TestEndings: how the run of a recording ended is told, and why it has no samples.
func TestEndings(t *testing.T) {
	whole := experiment(t, "experiment-states.introgen")
	run := *whole.Runs[0]
	run.Start, run.Exit = nil, nil
	file := &recording.File{Runs: []*recording.Run{&run}}
	good := Recording("good", file)
	run.End = &recording.End{Code: 130, Error: "interrupted"}
	if r := judge(t, Options{}, good, Recording("new", file)); !slices.Contains(r.Notes, "new: the run ended with exit code 130: interrupted") {
		t.Errorf("notes %q", r.Notes)
	}
	run.End = nil
	if r := judge(t, Options{}, good, Recording("new", file)); !slices.Contains(r.Notes, "new: the run was cut off") {
		t.Errorf("notes %q", r.Notes)
	}
	empty := recording.Run{}
	refused := recording.Run{Start: &recording.Start{}, End: &recording.End{}, Exit: &recording.Exit{Refused: "was not cold"}}
	for why, f := range map[string]*recording.File{
		"the run was cut off": {Runs: []*recording.Run{&empty}},
		"none of its 1 runs counts, the first since it was not cold": {Plan: &recording.Plan{}, Runs: []*recording.Run{&refused}},
		"it was cut off in line 2":                                   {Broken: "it was cut off in line 2"},
		"no round of it is whole":                                    {Runs: []*recording.Run{{End: &recording.End{}}}},
		"the run ended with exit code 1: no file m.gguf":             {Runs: []*recording.Run{{End: &recording.End{Code: 1, Error: "no file m.gguf"}}}},
	} {
		if _, err := Judge([]Source{good, Recording("new", f)}, Options{}); err == nil || err.Error() != "new has no samples to compare: "+why {
			t.Errorf("%v, want %s", err, why)
		}
	}
}

// TestRelative: worse by a part of the base whatever the signs are.
func TestRelative(t *testing.T) {
	for _, c := range [][3]float64{{100, 150, 0.5}, {100, 50, -0.5}, {-100, -50, 0.5}, {-100, -150, -0.5}, {-100, 50, 1.5}, {0, 0, 0}, {0, 3, math.Inf(1)}, {0, -3, math.Inf(-1)}} {
		if got := relative(c[0], c[1]); got != c[2] {
			t.Errorf("from %v to %v is %v, want %v", c[0], c[1], got, c[2])
		}
	}
}

// Package diff judges whether sets of samples differ: two files, or what one
// file varies. The judgement is benchstat's, made by the same packages
// (golang.org/x/perf) from the same text: rows, medians, intervals, p-values and
// warnings are those that benchstat prints. Beside it stands, where runs were
// made in blocks, a judgement of our own: the ratio within each block, which a
// machine that drifts does not disturb.
//
// What is compared is there on both sides: a file without samples is refused,
// and what the base has and another column lacks is told, and fails a gate.
package diff

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/introgen/introgen/results/answers/samples"
	"github.com/introgen/introgen/results/benchtext"
	"github.com/introgen/introgen/results/recording"
)

// Source is a set of samples: a file.
type Source struct {
	Label  string
	varies string
	text   []byte
	lines  map[int]benchtext.Line // by the number of the line in text; nil of a text
	notes  []string               // what to know before believing it
	lost   []string               // arms of its plan without a run that counts
	barren string                 // why it has no samples, should it have none
	bytes  int64                  // of the model file of all its runs; 0 where nobody knows
}

// Varies is what the columns of a single source are: the factors of its plan,
// the arms of one that has none, else the source itself.
func (s Source) Varies() string { return cmp.Or(s.varies, ByFile) }

// Recording is the source that a recording is.
func Recording(label string, f *recording.File) Source {
	s := Source{Label: label, varies: benchtext.Varies(f), barren: barren(f)}
	s.text, s.lines = benchtext.Text(f)
	for i, r := range f.Runs {
		if i == 0 {
			s.bytes = r.Header.Model.Bytes
		} else if r.Header.Model.Bytes != s.bytes {
			s.bytes = 0
			break
		}
	}
	if f.Plan != nil {
		for _, a := range f.Plan.Arms {
			if len(f.Counted(a.Name)) == 0 {
				s.lost = append(s.lost, a.Name)
			}
		}
	}
	for _, n := range doubts(f) {
		s.notes = append(s.notes, label+": "+n)
	}
	return s
}

// mostText bounds what is read of a text, in bytes.
const mostText = 256 << 20

// Text is the source that a text in the Go benchmark format is, in UTF-8 or in
// UTF-16 with a byte order mark.
func Text(label string, r io.Reader) (Source, error) {
	text, err := io.ReadAll(io.LimitReader(r, mostText+1))
	if err == nil && len(text) > mostText {
		err = fmt.Errorf("longer than %d MiB", mostText>>20)
	}
	s := Source{Label: label, barren: "no line of it begins with Benchmark, as those of the Go benchmark format do"}
	if err == nil {
		s.text, err = utf8Text(text)
	}
	if err != nil {
		return Source{}, fmt.Errorf("%s: %w", label, err)
	}
	switch trimmed := bytes.TrimSpace(s.text); {
	case len(trimmed) == 0:
		s.barren = "it is empty"
	case trimmed[0] == '{' && bytes.Contains(s.text, []byte(`"Action":`)):
		s.barren = "it is what go test -json writes: leave -json out"
	}
	for i, n := range failures(s.text) {
		if s.notes = append(s.notes, label+": "+n); i == 0 {
			s.barren += "; " + n
		}
	}
	return s, nil
}

// failed is a line that a Go program or its test leaves when it fails.
var failed = regexp.MustCompile(`^(--- FAIL|FAIL\b|panic: |fatal error: |signal: |exit status |\*\*\* Test killed)`)

// failures are what in a text says that its run failed, or was cut off.
func failures(text []byte) []string {
	var out []string
	n := 0
	for line := range bytes.Lines(text) {
		n++
		line = bytes.TrimRight(line, "\r\n")
		if failed.Match(line) && len(out) == 0 {
			out = append(out, fmt.Sprintf("line %d says that the run failed: %s", n, line[:min(len(line), 200)]))
		}
	}
	if len(text) > 0 && text[len(text)-1] != '\n' {
		out = append(out, "its last line has no end: it may have been cut off")
	}
	return out
}

// barren is why a recording would have no samples.
func barren(f *recording.File) string {
	switch {
	case f.Broken != "":
		return f.Broken
	case f.Plan != nil:
		why := ""
		if i := slices.IndexFunc(f.Runs, func(r *recording.Run) bool { return r.Exit != nil && r.Exit.Refused != "" }); i >= 0 {
			why = ", the first since it " + f.Runs[i].Exit.Refused
		}
		return fmt.Sprintf("none of its %d runs counts%s", len(f.Runs), why)
	}
	for _, r := range f.Runs {
		if n := r.Ending(); n != "" {
			return "the run " + n
		}
	}
	return "no round of it is whole"
}

// doubts are what speaks against the runs of a recording: those that do not
// count or did not end well, those that do but were disturbed, and that they
// are of different things.
func doubts(f *recording.File) []string {
	var out []string
	counted := f.Runs
	if f.Plan != nil {
		counted = f.Counted("")
	}
	for _, m := range samples.Mixed(counted) {
		out = append(out, "its runs differ in their "+m)
	}
	if f.Plan == nil {
		for _, r := range f.Runs {
			if n := r.Ending(); n != "" && !slices.Contains(out, "the run "+n) {
				out = append(out, "the run "+n)
			}
		}
		return out
	}
	if n := len(f.Runs) - len(counted); n > 0 {
		out = append(out, fmt.Sprintf("%d of %d runs do not count", n, len(f.Runs)))
	}
	tainted, codes := 0, map[string]bool{}
	for _, r := range counted {
		if r.Exit == nil || len(r.Exit.Flags) == 0 {
			continue
		}
		tainted++
		for _, t := range r.Exit.Taints {
			codes[t.Code] = true
		}
	}
	if tainted > 0 {
		out = append(out, fmt.Sprintf("%d of %d runs are tainted: %s", tainted, len(counted), strings.Join(slices.Sorted(maps.Keys(codes)), ", ")))
	}
	return out
}

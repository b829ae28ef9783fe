// Package diff judges whether sets of samples differ: two files, or what one
// file varies. The judgement is benchstat's, made by the same packages
// (golang.org/x/perf) from the same text: rows, medians, intervals, p-values and
// warnings are those that benchstat prints. Beside it stands, where runs were
// made in blocks, a judgement of our own: the ratio within each block, which a
// machine that drifts does not disturb.
package diff

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

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
}

// Varies is what the columns of a single source are: the factors of its plan,
// the arms of one that has none, else the source itself.
func (s Source) Varies() string { return cmp.Or(s.varies, ByFile) }

// Recording is the source that a recording is.
func Recording(label string, f *recording.File) Source {
	s := Source{Label: label, varies: benchtext.Varies(f)}
	s.text, s.lines = benchtext.Text(f)
	for _, n := range doubts(f) {
		s.notes = append(s.notes, label+": "+n)
	}
	return s
}

// mostText bounds what is read of a text, in bytes.
const mostText = 256 << 20

// Text is the source that a text in the Go benchmark format is.
func Text(label string, r io.Reader) (Source, error) {
	text, err := io.ReadAll(io.LimitReader(r, mostText+1))
	if err == nil && len(text) > mostText {
		err = fmt.Errorf("longer than %d MiB", mostText>>20)
	}
	if err != nil {
		return Source{}, fmt.Errorf("%s: %w", label, err)
	}
	return Source{Label: label, text: text}, nil
}

// doubts are what speaks against a plan's runs: those that do not count, and
// those that do but were disturbed.
func doubts(f *recording.File) []string {
	if f.Plan == nil {
		return nil
	}
	var out []string
	counted := f.Counted("")
	if n := len(f.Runs) - len(counted); n > 0 {
		out = append(out, fmt.Sprintf("%d of %d runs do not count", n, len(f.Runs)))
	}
	tainted, kinds := 0, map[string]bool{}
	for _, r := range counted {
		if r.Exit == nil || len(r.Exit.Flags) == 0 {
			continue
		}
		tainted++
		for _, flag := range r.Exit.Flags {
			kind, _, _ := strings.Cut(flag, ":") // what follows are figures, other ones each time
			kinds[kind] = true
		}
	}
	if tainted > 0 {
		out = append(out, fmt.Sprintf("%d of %d runs are tainted: %s", tainted, len(counted), strings.Join(slices.Sorted(maps.Keys(kinds)), ", ")))
	}
	return out
}

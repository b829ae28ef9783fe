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

	"github.com/introgen/introgen/results/benchtext"
	"github.com/introgen/introgen/results/recording"
)

// Source is a set of samples: a file.
type Source struct {
	Label  string
	varies string
	text   []byte
	lines  map[int]benchtext.Line // by the number of the line in text; nil of a text
}

// Varies is what the columns of a single source are: the factors of its plan,
// the arms of one that has none, else the source itself.
func (s Source) Varies() string { return cmp.Or(s.varies, ByFile) }

// Recording is the source that a recording is.
func Recording(label string, f *recording.File) Source {
	s := Source{Label: label, varies: benchtext.Varies(f)}
	s.text, s.lines = benchtext.Text(f)
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

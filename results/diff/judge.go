package diff

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/stats"
	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"
)

// ByFile is the column of each source's own name.
const ByFile = ".file"

// Options say what is compared with what. By and Filter are in the syntax of
// benchstat's -col and -filter.
type Options struct {
	By     string // what the columns are: ByFile, "/cache", "/per-buffer"
	Base   string // the column that the others are compared with; "" is the first
	Filter string // which samples; "" is all
	Mixed  bool   // compare also what differs in machine, model or workload
}

// Report is the judgement.
type Report struct {
	Tables   []Table
	Base     string   // the column that the others are compared with
	Missing  []Lack   // what the base has and another column lacks
	Added    []Lack   // what another column has and the base lacks
	Lost     []string // of a single file, the arms of its plan without a run that counts
	Notes    []string // of runs that do not count, or were disturbed
	Warnings []string // of lines that are no samples, and of what is mixed
}

// Table has the samples of one unit (and, of texts, one configuration).
type Table struct {
	Unit   string   // as benchstat tidies it: "sec/op"
	Better int      // 1 where more is better, −1 where less is, 0 where nobody knows
	Exact  bool     // counts, which are not tested but compared
	Config []string // "key: value", of what all samples of the table share
	Apart  []string // of Config, what not all tables share
	Cols   []string // the first is the base, where Judged
	Rows   []Row
	// Judged says that the report's base has samples in the table; else its
	// columns are compared with the first that has, as benchstat does.
	Judged bool
}

// Row is one thing that is measured.
type Row struct {
	Name  string
	Cells []*Cell // one a column, nil where the column lacks it
}

// Cell is a sample and how it compares.
type Cell struct {
	N        int
	Summary  benchmath.Summary
	Warnings []string // benchstat's: of the sample, its summary and its comparison
	// Of columns beside the base; else nil.
	Versus *Versus
}

// Versus is a comparison with the base.
type Versus struct {
	benchmath.Comparison
	Delta  string       // benchstat's: "+4.97%", "~" where nothing is known to differ
	Change float64      // how much more the median is than that of the base, as a part of it; ±Inf where that is 0
	MDE    float64      // the smallest effect that such samples show in 80 % of cases; 0: none
	Pairs  *stats.Ratio // ours, where both are of one plan's blocks
}

// Significant says whether the test finds a difference.
func (v *Versus) Significant() bool { return v.P <= v.Alpha }

// A MixedError says that columns differ in what samples must share.
type MixedError struct {
	Differences []string // "model: a.gguf and b.gguf"
}

func (e *MixedError) Error() string {
	return fmt.Sprintf("these are samples of different things (%s): --mixed compares them nevertheless", strings.Join(e.Differences, "; "))
}

// An OptionError is an option that cannot be understood, or fits no sample.
type OptionError struct {
	Name, Value string // "by", "/cache"
	Err         error
}

// Error leaves out what the parser shows below its message: a second line with
// the place.
func (e *OptionError) Error() string {
	why, _, _ := strings.Cut(e.Err.Error(), "\n")
	return fmt.Sprintf("--%s %q: %s", e.Name, e.Value, why)
}

// Unwrap returns what is wrong with the option.
func (e *OptionError) Unwrap() error { return e.Err }

// Judge compares the sources. The error is an *OptionError where an option is
// wrong, a *MixedError where what is compared is.
func Judge(sources []Source, o Options) (*Report, error) {
	b, err := newBuilder(o)
	if err != nil {
		return nil, err
	}
	if len(sources) == 1 {
		b.report.Lost = sources[0].lost
	}
	reader := new(benchfmt.Reader)
	for i, s := range sources {
		b.report.Notes = append(b.report.Notes, s.notes...)
		reader.Reset(bytes.NewReader(s.text), s.Label, ByFile, s.Label)
		before, lines, odd := b.added, 0, []string(nil)
		for reader.Scan() {
			switch rec := reader.Result().(type) {
			case *benchfmt.SyntaxError:
				b.warn(rec.Error())
				odd = append(odd, rec.Error())
			case *benchfmt.UnitMetadata:
				b.metadata(rec)
			case *benchfmt.Result:
				lines++
				b.tidy(rec)
				block := 0
				if _, line := rec.Pos(); s.lines != nil {
					block = s.lines[line].Block
				}
				if err := b.add(rec, i, block); err != nil {
					return nil, err
				}
			}
		}
		if err := reader.Err(); errors.Is(err, bufio.ErrTooLong) {
			return nil, fmt.Errorf("%s: line %d is longer than %d KiB, which no line of the Go benchmark format is: take it out", s.Label, longLine(s.text), bufio.MaxScanTokenSize>>10)
		} else if err != nil {
			return nil, err
		}
		switch {
		case b.added > before:
		case lines == 0 && len(odd) > 0:
			return nil, fmt.Errorf("%s has no samples to compare: %s, the first is %s", s.Label, notSamples(len(odd)), odd[0])
		case lines == 0:
			return nil, fmt.Errorf("%s has no samples to compare: %s", s.Label, s.barren)
		case b.passed == 0:
			return nil, &OptionError{"filter", o.Filter, fmt.Errorf("no sample of %s matches", s.Label)}
		default:
			return nil, fmt.Errorf("%s has no samples to compare: none of its values is a measurement", s.Label)
		}
		b.passed = 0
	}
	b.unused(reader.Units())
	r, err := b.finish(reader.Units(), o)
	if err == nil && !o.Mixed {
		err = refuseSizes(sources)
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

func notSamples(n int) string {
	return fmt.Sprintf("%s %s with Benchmark or Unit and %s", figures.Number(n, "line"), figures.Verb(n, "begins", "begin"), figures.Verb(n, "is no sample", "are no samples"))
}

// longLine is the number of the first line that the reader of the format finds
// too long.
func longLine(text []byte) int {
	n := 1
	for line := range bytes.Lines(text) {
		if len(line) > bufio.MaxScanTokenSize {
			break
		}
		n++
	}
	return n
}

// refuseSizes finds that the model files of two recordings differ in size, which
// is known where the content may not be.
func refuseSizes(sources []Source) error {
	first := int64(0)
	for _, s := range sources {
		if first != 0 && s.bytes != 0 && s.bytes != first {
			return &MixedError{Differences: []string{fmt.Sprintf("model: %d bytes and %d bytes", first, s.bytes)}}
		}
		first = cmp.Or(first, s.bytes)
	}
	return nil
}

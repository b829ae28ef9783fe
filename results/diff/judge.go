package diff

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/introgen/introgen/results/stats"
	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"
	"golang.org/x/perf/benchproc"
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
	Notes    []string // of runs that do not count, or were disturbed
	Warnings []string // of lines that are no samples, and of what is mixed
}

// Table has the samples of one unit (and, of texts, one configuration).
type Table struct {
	Unit   string   // as benchstat tidies it: "sec/op"
	Better int      // 1 where more is better, −1 where less is, 0 where nobody knows
	Exact  bool     // counts, which are not tested but compared
	Config []string // "key: value", of what all samples of the table share
	Cols   []string // the first is the base
	Rows   []Row
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
	Change float64      // the median by that of the base, less 1
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
	reader := new(benchfmt.Reader)
	for i, s := range sources {
		b.report.Notes = append(b.report.Notes, s.notes...)
		reader.Reset(bytes.NewReader(s.text), s.Label, ByFile, s.Label)
		for reader.Scan() {
			switch rec := reader.Result().(type) {
			case *benchfmt.SyntaxError:
				b.warn(rec.Error())
			case *benchfmt.Result:
				block := 0
				if _, line := rec.Pos(); s.lines != nil {
					block = s.lines[line].Block
				}
				if err := b.add(rec, i, block); err != nil {
					return nil, err
				}
			}
		}
		if err := reader.Err(); err != nil {
			return nil, err
		}
	}
	return b.finish(reader.Units(), o)
}

// builder sorts samples into cells as benchstat's does.
type builder struct {
	table, row, col, residue *benchproc.Projection
	unit                     *benchproc.Field
	filter                   *benchproc.Filter
	tables                   map[benchproc.Key]map[[2]benchproc.Key]*cell
	report                   Report
	added                    int // values
	unsaid                   int // warnings beyond maxWarnings
}

type cell struct {
	values []float64
	// Where each value is from: the source, and the block or 0.
	blocks  [][2]int
	residue map[benchproc.Key]struct{}
}

func newBuilder(o Options) (*builder, error) {
	b := &builder{tables: map[benchproc.Key]map[[2]benchproc.Key]*cell{}}
	var err error
	if b.filter, err = benchproc.NewFilter(cmp.Or(o.Filter, "*")); err != nil {
		return nil, &OptionError{"filter", o.Filter, err}
	}
	var p benchproc.ProjectionParser
	by := ".config"
	if o.Mixed {
		by = ""
	}
	if b.table, b.unit, err = p.ParseWithUnit(by, b.filter); err != nil {
		return nil, err
	}
	if b.row, err = p.Parse(".fullname", b.filter); err != nil {
		return nil, err
	}
	if b.col, err = p.Parse(cmp.Or(o.By, ByFile), b.filter); err != nil {
		return nil, &OptionError{"by", o.By, err}
	}
	b.residue = p.Residue()
	return b, nil
}

func (b *builder) add(r *benchfmt.Result, source, block int) error {
	if ok, err := b.filter.Apply(r); !ok {
		if err != nil {
			b.warn(err.Error())
		}
		return nil
	}
	at := [2]benchproc.Key{b.row.Project(r), b.col.Project(r)}
	residue := b.residue.Project(r)
	for i, key := range b.table.ProjectValues(r) {
		v := r.Values[i]
		if math.IsNaN(v.Value) || math.IsInf(v.Value, 0) {
			// Package benchmath has no end of it when it compares a NaN.
			file, line := r.Pos()
			b.warn(fmt.Sprintf("%s:%d: %v %s is no measurement: skipped", file, line, v.Value, v.Unit))
			continue
		}
		b.added++
		cells := b.tables[key]
		if cells == nil {
			cells = map[[2]benchproc.Key]*cell{}
			b.tables[key] = cells
		}
		c := cells[at]
		if c == nil {
			c = &cell{residue: map[benchproc.Key]struct{}{}}
			cells[at] = c
		}
		c.values = append(c.values, v.Value)
		c.blocks = append(c.blocks, [2]int{source, block})
		c.residue[residue] = struct{}{}
	}
	return nil
}

func (b *builder) finish(units benchfmt.UnitMetadataMap, o Options) (*Report, error) {
	if b.added == 0 {
		return nil, errors.New("there are no samples to compare")
	}
	if key := b.absent(); key != "" {
		return nil, &OptionError{"by", o.By, fmt.Errorf("no sample has %s", key)}
	}
	keys := slices.Collect(maps.Keys(b.tables))
	benchproc.SortKeys(keys)
	if err := b.refuseMixed(keys); err != nil {
		return nil, err
	}
	found := o.Base == ""
	for _, key := range keys {
		t := Table{Unit: key.Get(b.unit)}
		t.Better = units.GetBetter(t.Unit)
		assume := units.GetAssumption(t.Unit)
		t.Exact = assume == benchmath.AssumeExact
		for _, f := range key.Projection().FlattenedFields() {
			if v := key.Get(f); f != b.unit && v != "" {
				t.Config = append(t.Config, f.Name+": "+v)
			}
		}
		rows, cols := b.order(b.tables[key])
		if i := slices.IndexFunc(cols, func(k benchproc.Key) bool { return k.StringValues() == o.Base }); i >= 0 {
			cols = slices.Insert(slices.Delete(slices.Clone(cols), i, i+1), 0, cols[i])
			found = true
		}
		for _, c := range cols {
			t.Cols = append(t.Cols, c.StringValues())
		}
		vary := map[string]bool{}
		for _, r := range rows {
			t.Rows = append(t.Rows, b.judgeRow(b.tables[key], r, cols, assume, t.Exact, vary))
		}
		for _, name := range slices.Sorted(maps.Keys(vary)) {
			b.warn("benchmarks vary in " + name)
		}
		b.report.Tables = append(b.report.Tables, t)
	}
	if !found {
		return nil, fmt.Errorf("no column %q to compare with: %s are there", o.Base, strings.Join(b.report.Tables[0].Cols, ", "))
	}
	if b.unsaid > 0 {
		b.report.Warnings = append(b.report.Warnings, fmt.Sprintf("%d more like these", b.unsaid))
	}
	return &b.report, nil
}

// absent is a key of the columns that no sample has, or "": all would stand in
// one column without a name.
func (b *builder) absent() string {
	for _, f := range b.col.FlattenedFields() {
		has := false
		for _, cells := range b.tables {
			for at := range cells {
				has = has || at[1].Get(f) != ""
			}
		}
		if !has {
			return f.Name
		}
	}
	return ""
}

// maxWarnings is how many warnings are told one by one.
const maxWarnings = 20

func (b *builder) warn(text string) {
	switch {
	case slices.Contains(b.report.Warnings, text):
	case len(b.report.Warnings) == maxWarnings:
		b.unsaid++
	default:
		b.report.Warnings = append(b.report.Warnings, text)
	}
}

// refuseMixed finds that columns are there and none can be compared with another,
// since each stands in a table of its own.
func (b *builder) refuseMixed(keys []benchproc.Key) error {
	all := map[benchproc.Key]bool{}
	for _, k := range keys {
		cols := map[benchproc.Key]bool{}
		for at := range b.tables[k] {
			all[at[1]], cols[at[1]] = true, true
		}
		if len(cols) > 1 {
			return nil
		}
	}
	if len(all) < 2 {
		return nil
	}
	var e MixedError
	for _, k := range keys[1:] {
		for _, f := range benchproc.NonSingularFields([]benchproc.Key{keys[0], k}) {
			if f != b.unit {
				e.Differences = append(e.Differences, fmt.Sprintf("%s: %s and %s", f.Name, cmp.Or(keys[0].Get(f), "unknown"), cmp.Or(k.Get(f), "unknown")))
			}
		}
		if len(e.Differences) > 0 {
			return &e
		}
	}
	return nil
}

// order is the rows and columns of a table in the order of their first sample.
func (b *builder) order(cells map[[2]benchproc.Key]*cell) (rows, cols []benchproc.Key) {
	for at := range cells {
		rows, cols = append(rows, at[0]), append(cols, at[1])
	}
	benchproc.SortKeys(rows)
	benchproc.SortKeys(cols)
	return slices.Compact(rows), slices.Compact(cols)
}

func (b *builder) judgeRow(cells map[[2]benchproc.Key]*cell, row benchproc.Key, cols []benchproc.Key, assume benchmath.Assumption, exact bool, vary map[string]bool) Row {
	out := Row{Name: row.StringValues(), Cells: make([]*Cell, len(cols))}
	residues := map[benchproc.Key]struct{}{}
	base := cells[[2]benchproc.Key{row, cols[0]}]
	for i, col := range cols {
		c := cells[[2]benchproc.Key{row, col}]
		if c == nil {
			continue
		}
		sample := benchmath.NewSample(slices.Clone(c.values), &benchmath.DefaultThresholds)
		d := &Cell{N: len(c.values), Summary: assume.Summary(sample, stats.Confidence)}
		d.note(d.Summary.Warnings)
		if i > 0 && base != nil {
			v := versus(base, c, sample, assume, exact)
			v.Delta = v.FormatDelta(out.Cells[0].Summary.Center, d.Summary.Center)
			if center := out.Cells[0].Summary.Center; center != 0 {
				v.Change = d.Summary.Center/center - 1
			}
			d.Versus = v
			d.note(v.Warnings)
		}
		maps.Copy(residues, c.residue)
		out.Cells[i] = d
	}
	for _, f := range benchproc.NonSingularFields(slices.Collect(maps.Keys(residues))) {
		vary[f.Name] = true
	}
	return out
}

func (c *Cell) note(warnings []error) {
	for _, w := range warnings {
		c.Warnings = append(c.Warnings, w.Error())
	}
}

func versus(base, c *cell, sample *benchmath.Sample, assume benchmath.Assumption, exact bool) *Versus {
	v := &Versus{Comparison: assume.Compare(benchmath.NewSample(slices.Clone(base.values), &benchmath.DefaultThresholds), sample)}
	if exact {
		return v
	}
	v.MDE = stats.Compare(base.values, c.values).MDE
	var first, second []float64
	for i, at := range base.blocks {
		if at[1] == 0 {
			continue
		}
		// A block that has several samples of one name is no pair.
		j := slices.Index(c.blocks, at)
		if j < 0 || count(base.blocks, at) > 1 || count(c.blocks, at) > 1 {
			continue
		}
		first, second = append(first, base.values[i]), append(second, c.values[j])
	}
	if len(first) > 0 {
		r := stats.Paired(first, second)
		v.Pairs = &r
	}
	return v
}

func count(blocks [][2]int, at [2]int) int {
	n := 0
	for _, b := range blocks {
		if b == at {
			n++
		}
	}
	return n
}

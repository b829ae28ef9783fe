package diff

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/introgen/introgen/results/benchtext"
	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"
	"golang.org/x/perf/benchproc"
	"golang.org/x/perf/benchunit"
)

// builder sorts samples into cells as benchstat's does.
type builder struct {
	table, row, col, residue *benchproc.Projection
	identities               []*benchproc.Projection // of identities; nil where they may differ
	unit                     *benchproc.Field
	filter                   *benchproc.Filter
	tables                   map[benchproc.Key]map[[2]benchproc.Key]*cell
	report                   Report
	units                    map[string]bool // of all lines, also those that the filter drops
	added                    int             // values
	passed                   int             // lines of this source that the filter lets through
	unsaid                   int             // warnings beyond maxWarnings
}

type cell struct {
	values []float64
	// Where each value is from: the source, and the block or 0.
	blocks   [][2]int
	residue  map[benchproc.Key]struct{}
	identity []map[string]struct{} // for each of identities the values, as far as known
	written  string                // the unit as the text has it
}

// identities are the keys of what must be the same in all samples of a row where
// it is known: an interrupted run and an older version do not tell all of it.
var identities = []struct{ key, differ string }{
	{benchtext.KeyContent, "model: files of different content"},
	{benchtext.KeyPrompt, "prompt: different ids"},
}

func newBuilder(o Options) (*builder, error) {
	b := &builder{tables: map[benchproc.Key]map[[2]benchproc.Key]*cell{}, units: map[string]bool{}}
	var err error
	if b.filter, err = benchproc.NewFilter(cmp.Or(o.Filter, "*")); err != nil {
		return nil, &OptionError{"filter", o.Filter, err}
	}
	var p benchproc.ProjectionParser
	by := ".config"
	if o.Mixed {
		by = ""
	} else {
		b.identities = make([]*benchproc.Projection, len(identities))
		for i, one := range identities {
			if b.identities[i], err = p.Parse(one.key, b.filter); err != nil {
				return nil, err
			}
		}
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

// tidy brings values to the units that benchstat compares. The reader leaves one
// that is 0 in the unit of the text.
func (b *builder) tidy(r *benchfmt.Result) {
	for i := range r.Values {
		v := &r.Values[i]
		if v.OrigUnit == "" {
			v.OrigUnit = v.Unit
			_, v.Unit = benchunit.Tidy(v.Value, v.Unit)
		}
		b.units[v.Unit] = true
	}
}

// unused warns of what is said of units that no line has: the name of one may be
// misspelt.
func (b *builder) unused(units benchfmt.UnitMetadataMap) {
	for _, key := range slices.SortedFunc(maps.Keys(units), func(x, y benchfmt.UnitMetadataKey) int { return cmp.Compare(x.Unit+x.Key, y.Unit+y.Key) }) {
		if m := units[key]; !b.units[key.Unit] {
			file, line := m.Pos()
			b.warn(fmt.Sprintf("%s:%d: no line has the unit %s", file, line, m.OrigUnit))
		}
	}
}

// metadata warns of what a text says of a unit and nobody understands, or
// nobody believes.
func (b *builder) metadata(m *benchfmt.UnitMetadata) {
	file, line := m.Pos()
	known := map[string][]string{"better": {"higher", "lower"}, "assume": {"nothing", "exact"}}[m.Key]
	switch {
	case known == nil:
		b.warn(fmt.Sprintf("%s:%d: %s=%s of unit %s means nothing: better and assume do", file, line, m.Key, m.Value, m.OrigUnit))
	case !slices.Contains(known, m.Value):
		b.warn(fmt.Sprintf("%s:%d: %s=%s of unit %s is not known: %s", file, line, m.Key, m.Value, m.OrigUnit, strings.Join(known, " or ")))
	}
	usual := benchfmt.UnitMetadataMap{}.GetBetter(m.Unit)
	if said := map[string]int{"higher": 1, "lower": -1}[m.Value]; m.Key == "better" && said*usual < 0 {
		b.warn(fmt.Sprintf("%s:%d: better=%s of unit %s is not what such a unit means elsewhere", file, line, m.Value, m.OrigUnit))
	}
}

func (b *builder) add(r *benchfmt.Result, source, block int) error {
	if ok, err := b.filter.Apply(r); !ok {
		if err != nil {
			b.warn(err.Error())
		}
		return nil
	}
	b.passed++
	file, line := r.Pos()
	if r.Iters < 1 {
		b.warn(fmt.Sprintf("%s:%d: %d iterations are no measurement: skipped", file, line, r.Iters))
		return nil
	}
	at := [2]benchproc.Key{b.row.Project(r), b.col.Project(r)}
	residue := b.residue.Project(r)
	identity := make([]string, len(b.identities))
	for i, p := range b.identities {
		identity[i] = p.Project(r).StringValues()
	}
	for i, key := range b.table.ProjectValues(r) {
		v := r.Values[i]
		switch {
		case math.IsNaN(v.Value) || math.IsInf(v.Value, 0):
			// Package benchmath has no end of it when it compares a NaN.
			b.warn(fmt.Sprintf("%s:%d: %v %s is no measurement: skipped", file, line, v.Value, v.Unit))
			continue
		case slices.ContainsFunc(r.Values[:i], func(x benchfmt.Value) bool { return x.Unit == v.Unit }):
			b.warn(fmt.Sprintf("%s:%d: %s has two values on a line: the second is skipped", file, line, v.Unit))
			continue
		case v.Value < 0 && neverNegative(v.Unit):
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
			c = &cell{residue: map[benchproc.Key]struct{}{}, identity: make([]map[string]struct{}, len(identities)), written: v.OrigUnit}
			cells[at] = c
		}
		c.values = append(c.values, v.Value)
		c.blocks = append(c.blocks, [2]int{source, block})
		c.residue[residue] = struct{}{}
		for i, value := range identity {
			if value == "" {
				continue
			}
			if c.identity[i] == nil {
				c.identity[i] = map[string]struct{}{}
			}
			c.identity[i][value] = struct{}{}
		}
	}
	return nil
}

// neverNegative says whether a unit is one of times, amounts or rates that
// cannot be below 0: those of package testing, and introgen's own.
func neverNegative(unit string) bool {
	return slices.Contains([]string{"sec/op", "B/s", "B/op", "allocs/op"}, unit) || benchtext.Known(unit)
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
	all := b.columns()
	base := slices.IndexFunc(all, func(k benchproc.Key) bool { return o.Base == "" || k.StringValues() == o.Base })
	if base < 0 {
		return nil, fmt.Errorf("no column %q to compare with: %s are there", o.Base, strings.Join(values(all), ", "))
	}
	all = slices.Insert(slices.Delete(slices.Clone(all), base, base+1), 0, all[base])
	b.report.Base = all[0].StringValues()
	if err := b.refuseIdentities(); err != nil {
		return nil, err
	}
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
		if i := slices.Index(cols, all[0]); i >= 0 {
			cols = slices.Insert(slices.Delete(slices.Clone(cols), i, i+1), 0, cols[i])
			t.Judged = true
		}
		t.Cols = values(cols)
		vary := map[string]bool{}
		for _, r := range rows {
			t.Rows = append(t.Rows, b.judgeRow(b.tables[key], r, cols, assume, t.Exact, vary))
		}
		for _, name := range slices.Sorted(maps.Keys(vary)) {
			b.warn("benchmarks vary in " + name)
		}
		b.report.Tables = append(b.report.Tables, t)
	}
	b.tellApart()
	b.lacks(keys, all)
	b.inexact()
	if b.unsaid > 0 {
		b.report.Warnings = append(b.report.Warnings, fmt.Sprintf("%d more like these", b.unsaid))
	}
	return &b.report, nil
}

func values(keys []benchproc.Key) []string {
	out := make([]string, len(keys))
	for i, k := range keys {
		out[i] = k.StringValues()
	}
	return out
}

// columns are those of all tables, in the order of their first sample.
func (b *builder) columns() []benchproc.Key {
	var all []benchproc.Key
	for _, cells := range b.tables {
		_, cols := b.order(cells)
		all = append(all, cols...)
	}
	benchproc.SortKeys(all)
	return slices.Compact(all)
}

// tellApart finds what of their configuration tables do not share.
func (b *builder) tellApart() {
	in := map[string]int{}
	for _, t := range b.report.Tables {
		for _, c := range t.Config {
			in[c]++
		}
	}
	for i := range b.report.Tables {
		t := &b.report.Tables[i]
		for _, c := range t.Config {
			if in[c] < len(b.report.Tables) {
				t.Apart = append(t.Apart, c)
			}
		}
	}
}

// inexact warns of counts that are to be exact and differ within a cell.
func (b *builder) inexact() {
	for _, t := range b.report.Tables {
		for _, r := range t.Rows {
			for i, c := range r.Cells {
				if t.Exact && c != nil && c.Summary.Lo != c.Summary.Hi {
					b.warn(fmt.Sprintf("%s (%s): to be exact, and from %v to %v: the worst is judged", r.Name, t.where(t.Cols[i]), c.Summary.Lo, c.Summary.Hi))
				}
			}
		}
	}
}

// absent is a key of the columns that no sample has, or "": all would stand in
// one column without a name.
func (b *builder) absent() string {
	all := b.columns()
	for _, f := range b.col.FlattenedFields() {
		if !slices.ContainsFunc(all, func(k benchproc.Key) bool { return k.Get(f) != "" }) {
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
// since each stands in a table of its own. What is told are the differences of two
// tables of two columns that have the fewest: the others are those of the things
// that each column has.
func (b *builder) refuseMixed(keys []benchproc.Key) error {
	cols := make([]benchproc.Key, len(keys))
	for i, k := range keys {
		for at := range b.tables[k] {
			if cols[i] != (benchproc.Key{}) && cols[i] != at[1] {
				return nil
			}
			cols[i] = at[1]
		}
	}
	var fewest []string
	for i, k := range keys {
		for j := range i {
			if cols[i] == cols[j] {
				continue
			}
			var differ []string
			for _, f := range benchproc.NonSingularFields([]benchproc.Key{keys[j], k}) {
				if f != b.unit {
					differ = append(differ, fmt.Sprintf("%s: %s and %s", f.Name, cmp.Or(keys[j].Get(f), "unknown"), cmp.Or(k.Get(f), "unknown")))
				}
			}
			if len(differ) > 0 && (fewest == nil || len(differ) < len(fewest)) {
				fewest = differ
			}
			if len(fewest) == 1 {
				return &MixedError{Differences: fewest}
			}
		}
	}
	if fewest == nil {
		return nil
	}
	return &MixedError{Differences: fewest}
}

// refuseIdentities finds that samples of one row were made with model files of
// different content, whatever these are called, or of different prompts of one
// length. Where nobody knows, nothing can be said.
func (b *builder) refuseIdentities() error {
	for i, one := range identities {
		for _, cells := range b.tables {
			rows := map[benchproc.Key]map[string]struct{}{}
			for at, c := range cells {
				if rows[at[0]] == nil {
					rows[at[0]] = map[string]struct{}{}
				}
				if maps.Copy(rows[at[0]], c.identity[i]); len(rows[at[0]]) > 1 {
					return &MixedError{Differences: []string{one.differ}}
				}
			}
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

package diff

import (
	"fmt"
	"slices"
	"strings"

	"github.com/introgen/introgen/results/benchtext"
	"golang.org/x/perf/benchproc"
)

// Lack is a row's samples of one unit that one side of a comparison has and the
// other has not.
type Lack struct {
	Row    string   // the name, without Benchmark
	Unit   string   // as Table.Unit
	Config []string // as Table.Apart
	Col    string   // the column that is compared with the base
	N      int      // samples on the side that has them
	Value  float64  // their middle
	Better int      // as in Table
	// Zero says that the other side has the row, and that introgen leaves such a
	// count out where it is 0: nothing is missing, and it changed by all of it.
	Zero bool
	// Instead is what stands in its place, or "": "there in ms/op".
	Instead string

	written string // the unit as the text has it
	rows    int    // samples of the row on the other side
	exact   bool
}

// String is "Decode (time, new.txt)".
func (l Lack) String() string {
	text := fmt.Sprintf("%s (%s)", l.Row, where(l.Unit, l.Config, l.Col))
	if l.Instead != "" {
		text += ", " + l.Instead
	}
	return text
}

// names are what a regular expression may allow it by: its row, or row and unit,
// as the text has it, as benchstat tidies it, and as the tables call it.
func (l Lack) names() []string {
	var out []string
	for _, row := range []string{l.Row, "Benchmark" + l.Row} {
		out = append(out, row, row+" "+l.written, row+" "+l.Unit, row+" "+unitName(l.Unit))
	}
	return out
}

// where says what of a row is meant: its unit, its configuration where tables
// differ in it, and the column.
func where(unit string, config []string, col string) string {
	return strings.Join(slices.Concat([]string{unitName(unit)}, config, []string{colName(col)}), ", ")
}

func (t *Table) where(col string) string { return where(t.Unit, t.Apart, col) }

// lacks finds what the base, the first of all columns, has and another one
// lacks, and the other way round.
func (b *builder) lacks(keys, all []benchproc.Key) {
	seen := b.occurrences(keys)
	for i, key := range keys {
		t, cells := &b.report.Tables[i], b.tables[key]
		rows, _ := b.order(cells)
		for _, row := range rows {
			base := cells[[2]benchproc.Key{row, all[0]}]
			for _, col := range all[1:] {
				c := cells[[2]benchproc.Key{row, col}]
				if (base == nil) == (c == nil) {
					continue
				}
				l := Lack{Row: row.StringValues(), Unit: t.Unit, Config: t.Apart, Col: col.StringValues(), Better: t.Better, exact: t.Exact}
				has, lacking := c, all[0]
				if base != nil {
					has, lacking = base, col
				}
				l.N, l.Value, l.written = len(has.values), middle(has.values), has.written
				l.rows = seen[occurrence{lacking, l.Row}].samples
				l.Zero = l.rows > 0 && benchtext.LeftOut(t.Unit)
				if !l.Zero {
					l.Instead = instead(seen, lacking, l)
				}
				if base != nil {
					b.report.Missing = append(b.report.Missing, l)
				} else {
					b.report.Added = append(b.report.Added, l)
				}
			}
		}
	}
}

func middle(x []float64) float64 {
	s := slices.Sorted(slices.Values(x))
	return s[len(s)/2]
}

// occurrence is a name in a column: of a row, or what is left of one without
// GOMAXPROCS.
type occurrence struct {
	col  benchproc.Key
	name string
}

// occurrences is in what units a row stands in a column, and with which values
// of GOMAXPROCS a name does.
type occurrences struct {
	units   []string // as written
	names   []string
	configs []string
	samples int // of one unit at the most
}

func (b *builder) occurrences(keys []benchproc.Key) map[occurrence]occurrences {
	seen := map[occurrence]occurrences{}
	for i, key := range keys {
		t := &b.report.Tables[i]
		rows, cols := b.order(b.tables[key])
		for _, row := range rows {
			name := row.StringValues()
			for _, col := range cols {
				c := b.tables[key][[2]benchproc.Key{row, col}]
				if c == nil {
					continue
				}
				at := seen[occurrence{col, name}]
				at.samples = max(at.samples, len(c.values))
				at.units = append(at.units, c.written)
				at.configs = append(at.configs, strings.Join(t.Apart, ", "))
				seen[occurrence{col, name}] = at
				if short := withoutProcs(name); short != name {
					at := seen[occurrence{col, "-" + short}]
					at.names = append(at.names, name)
					seen[occurrence{col, "-" + short}] = at
				}
			}
		}
	}
	return seen
}

// withoutProcs is a name without the GOMAXPROCS that package testing appends.
func withoutProcs(name string) string {
	if i := strings.LastIndexByte(name, '-'); i > 0 && i+1 < len(name) && strings.Trim(name[i+1:], "0123456789") == "" {
		return name[:i]
	}
	return name
}

// instead is what stands in a column in place of what it lacks, or "".
func instead(seen map[occurrence]occurrences, col benchproc.Key, l Lack) string {
	if at := seen[occurrence{col, l.Row}]; len(at.units) > 0 {
		if i := slices.Index(at.units, l.written); i >= 0 {
			return "there with " + at.configs[i]
		}
		return "there in " + at.units[0]
	}
	short := withoutProcs(l.Row)
	if at := seen[occurrence{col, "-" + short}]; len(at.names) > 0 {
		return "there as " + at.names[0] + ", another GOMAXPROCS"
	}
	if short != l.Row && len(seen[occurrence{col, short}].units) > 0 {
		return "there as " + short + ", another GOMAXPROCS"
	}
	return ""
}

package diff

import (
	"maps"
	"math"
	"slices"

	"github.com/introgen/introgen/results/stats"
	"golang.org/x/perf/benchmath"
	"golang.org/x/perf/benchproc"
)

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
			v.Change = relative(out.Cells[0].Summary.Center, d.Summary.Center)
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

// relative is how much more b is than a, as a part of a: below 0 where it is less,
// whatever the sign of both, and infinite where there was nothing.
func relative(a, b float64) float64 {
	switch {
	case a == b:
		return 0
	case a == 0:
		return math.Inf(int(math.Copysign(1, b)))
	case a < 0:
		return 1 - b/a
	}
	return b/a - 1
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
		if j := slices.Index(c.blocks, at); j >= 0 && alone(base.blocks, i) && alone(c.blocks, j) {
			first, second = append(first, base.values[i]), append(second, c.values[j])
		}
	}
	if len(first) > 0 {
		r := stats.Paired(first, second)
		v.Pairs = &r
	}
	return v
}

// alone says whether no other of the blocks is the same as that at i.
func alone(blocks [][2]int, i int) bool {
	return slices.Index(blocks, blocks[i]) == i && !slices.Contains(blocks[i+1:], blocks[i])
}

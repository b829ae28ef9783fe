package diff

import (
	"fmt"

	"github.com/introgen/introgen/results/stats"
)

// Regressions are the rows that became worse by more than above (0.05: 5 %), as
// far as that is no chance: where there are pairs by their interval, else by
// benchstat's test. Counts that are exact need none.
func (r *Report) Regressions(above float64) []string {
	var out []string
	r.each(func(t *Table, row *Row, col int, v *Versus) {
		change, sure := v.Change, v.Significant()
		if v.paired() {
			change, sure = v.Pairs.Ratio-1, v.Pairs.Significant
		}
		if sure && -float64(t.Better)*change > above {
			out = append(out, fmt.Sprintf("%s %+.1f %% (%s, %s)", row.Name, 100*change, unitName(t.Unit), t.Cols[col]))
		}
	})
	return out
}

// Sight says of how many rows a regression could be told at all, how many of
// these see only larger ones than above, and how many have too few samples to
// show any.
func (r *Report) Sight(above float64) (rows, coarse, blind int) {
	r.each(func(t *Table, _ *Row, _ int, v *Versus) {
		rows++
		mde := v.MDE
		if v.paired() {
			mde = v.Pairs.MDE
		}
		switch {
		case t.Exact:
		case min(v.N1, v.N2) < stats.LeastForCompare:
			blind++
		case mde > above:
			coarse++
		}
	})
	return rows, coarse, blind
}

// each calls f for every comparison of which it is known what would be worse.
func (r *Report) each(f func(t *Table, row *Row, col int, v *Versus)) {
	for i := range r.Tables {
		t := &r.Tables[i]
		for k := range t.Rows {
			for col, c := range t.Rows[k].Cells {
				if c != nil && c.Versus != nil && t.Better != 0 {
					f(t, &t.Rows[k], col, c.Versus)
				}
			}
		}
	}
}

func (v *Versus) paired() bool { return v.Pairs != nil && v.Pairs.Decidable }

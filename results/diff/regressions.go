package diff

import "fmt"

// Regressions are the rows that became worse by more than above (0.05: 5 %), as
// far as that is no chance: where there are pairs by their interval, else by
// benchstat's test. Counts that are exact need none.
func (r *Report) Regressions(above float64) []string {
	var out []string
	for _, t := range r.Tables {
		for _, row := range t.Rows {
			for i, c := range row.Cells {
				if c == nil || c.Versus == nil || t.Better == 0 {
					continue
				}
				change, sure := c.Versus.Change, c.Versus.Significant()
				if p := c.Versus.Pairs; p != nil && p.Decidable {
					change, sure = p.Ratio-1, p.Significant
				}
				if sure && -float64(t.Better)*change > above {
					out = append(out, fmt.Sprintf("%s %+.1f %% (%s, %s)", row.Name, 100*change, unitName(t.Unit), t.Cols[i]))
				}
			}
		}
	}
	return out
}

package diff

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/stats"
)

// Gate is what a comparison must keep to.
type Gate struct {
	Above float64        // by how much of the base anything may become worse: 0.05 is 5 %
	Limit string         // the same as it was asked for: "5%"
	Allow *regexp.Regexp // what may be missing, by name; nil: nothing
}

// Check holds the report against the gate. It passes only what it could judge:
// the error says what became worse, what the base has and another column lacks,
// what has too few samples though the base has enough, or that nothing could be
// judged at all. Notes are of what no error is made of, and was not judged, and
// what speaks against the runs.
func (r *Report) Check(g Gate) (notes []string, err error) {
	var reasons []string
	worse := r.Regressions(g.Above)
	if len(worse) > 0 {
		reasons = append(reasons, fmt.Sprintf("%d became worse by more than %s: %s", len(worse), g.Limit, strings.Join(worse, ", ")))
	}
	missing, allowed := r.missing(g.Allow)
	if len(missing) > 0 {
		reasons = append(reasons, fmt.Sprintf("%d that %s has %s missing: %s; --allow-missing REGEXP lets what it matches be missing",
			len(missing), colName(r.Base), figures.Verb(len(missing), "is", "are"), listed(missing)))
	}
	if lost := slices.DeleteFunc(slices.Clone(r.Lost), func(arm string) bool { return g.Allow != nil && g.Allow.MatchString(arm) }); len(lost) > 0 {
		reasons = append(reasons, fmt.Sprintf("%d of the plan's arms %s no run that counts: %s; --allow-missing REGEXP lets arms be missing that it matches", len(lost), figures.Verb(len(lost), "has", "have"), listed(lost)))
	}
	thin, blind := r.tooFew(g.Allow)
	if len(thin) > 0 {
		reasons = append(reasons, fmt.Sprintf("%d %s too few samples to be judged, at least %d are wanted and %s has them: %s",
			len(thin), figures.Verb(len(thin), "has", "have"), stats.LeastForCompare, colName(r.Base), listed(thin)))
	}
	rows, coarse, few := r.Sight(g.Above)
	if rows == few {
		reasons = append(reasons, fmt.Sprintf("nothing was compared that has enough samples, at least %d a side: a regression could not have been seen", stats.LeastForCompare))
	}
	if coarse+few > 0 {
		notes = append(notes, fmt.Sprintf("of %d comparisons %d see only larger changes, and %d have too few samples to see any", rows, coarse, few))
	}
	if len(blind) > 0 {
		notes = append(notes, fmt.Sprintf("not judged, of fewer than %d samples a side: %s", stats.LeastForCompare, listed(blind)))
	}
	if open := r.undirected(); len(open) > 0 {
		notes = append(notes, "not judged, since nobody says whether more is worse: "+listed(open)+"; a line such as `Unit NAME better=lower` in a text does")
	}
	if len(allowed) > 0 {
		notes = append(notes, "missing, as --allow-missing lets it: "+listed(allowed))
	} else if g.Allow != nil && !slices.ContainsFunc(r.Lost, g.Allow.MatchString) {
		notes = append(notes, fmt.Sprintf("--allow-missing %q matches nothing that is missing", g.Allow))
	}
	if added := texts(r.Added, func(l Lack) bool { return !l.Zero }); len(added) > 0 {
		notes = append(notes, fmt.Sprintf("not judged, since %s lacks it: %s", colName(r.Base), listed(added)))
	}
	for i := range notes {
		notes[i] = "--fail-above " + g.Limit + ": " + notes[i]
	}
	notes = append(notes, r.Notes...)
	if len(reasons) == 0 {
		return notes, nil
	}
	text := strings.Join(reasons, "; ")
	if len(worse) == 0 { // which names the limit itself
		text = "--fail-above " + g.Limit + ": " + text
	}
	return notes, errors.New(text)
}

// mostListed is how many names are told one by one; all stand in the tables.
const mostListed = 20

func listed(names []string) string {
	if more := len(names) - mostListed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:mostListed], ", "), more)
	}
	return strings.Join(names, ", ")
}

func texts(lacks []Lack, wanted func(Lack) bool) []string {
	var out []string
	for _, l := range lacks {
		if wanted(l) {
			out = append(out, l.String())
		}
	}
	return out
}

// missing is what the base has and another column lacks, and what of that is
// allowed.
func (r *Report) missing(allow *regexp.Regexp) (missing, allowed []string) {
	may := func(l Lack) bool { return allow != nil && slices.ContainsFunc(l.names(), allow.MatchString) }
	missing = texts(r.Missing, func(l Lack) bool { return !l.Zero && !may(l) })
	return missing, texts(r.Missing, func(l Lack) bool { return !l.Zero && may(l) })
}

// Regressions are the rows that became worse by more than above (0.05: 5 %), as
// far as that is no chance: where there are pairs by their interval, else by
// benchstat's test. Counts that are exact need none.
func (r *Report) Regressions(above float64) []string {
	var out []string
	tell := func(name, where string, change float64) {
		by := figures.Signed(100*change, 1) + " %"
		if math.IsInf(change, 0) {
			by = "from 0"
		}
		out = append(out, fmt.Sprintf("%s %s (%s)", name, by, where))
	}
	r.each(true, func(t *Table, row *Row, col int) {
		a, b := row.Cells[0], row.Cells[col]
		v := b.Versus
		by, sure := v.Change, v.Significant()
		switch {
		case v.paired():
			by, sure = v.Pairs.Ratio-1, v.Pairs.Significant
		case t.Exact && t.Better < 0:
			by = relative(a.Summary.Hi, b.Summary.Hi)
		case t.Exact:
			by = relative(a.Summary.Lo, b.Summary.Lo)
		}
		if sure && -float64(t.Better)*by > above {
			tell(row.Name, t.where(t.Cols[col]), by)
		}
	})
	zero := func(l Lack, from, to float64) {
		by := relative(from, to)
		if l.Zero && (l.exact || min(l.N, l.rows) >= stats.LeastForCompare) && -float64(l.Better)*by > above {
			tell(l.Row, where(l.Unit, l.Config, l.Col), by)
		}
	}
	for _, l := range r.Missing {
		zero(l, l.Value, 0)
	}
	for _, l := range r.Added {
		zero(l, 0, l.Value)
	}
	return out
}

// tooFew are the rows that cannot be judged for want of samples: thin ones, of
// which the base has enough and nobody allowed them to be missing, and blind
// ones, of which the base has too few as well.
func (r *Report) tooFew(allow *regexp.Regexp) (thin, blind []string) {
	r.each(true, func(t *Table, row *Row, col int) {
		a, b := row.Cells[0].N, row.Cells[col].N
		l := Lack{Row: row.Name, Unit: t.Unit, Config: t.Apart, Col: t.Cols[col]}
		switch text := fmt.Sprintf("%s (%s: %s)", row.Name, t.where(t.Cols[col]), counts(a, b)); {
		case t.Exact || min(a, b) >= stats.LeastForCompare:
		case a < stats.LeastForCompare || allow != nil && slices.ContainsFunc(l.names(), allow.MatchString):
			blind = append(blind, text)
		default:
			thin = append(thin, text)
		}
	})
	return thin, blind
}

// undirected are the rows of units of which nobody knows what would be worse.
func (r *Report) undirected() []string {
	var out []string
	r.each(false, func(t *Table, row *Row, col int) {
		out = append(out, fmt.Sprintf("%s (%s)", row.Name, t.where(t.Cols[col])))
	})
	return out
}

// Sight says of how many rows a regression could be told at all, how many of
// these see only larger ones than above, and how many have too few samples to
// show any.
func (r *Report) Sight(above float64) (rows, coarse, blind int) {
	r.each(true, func(t *Table, row *Row, col int) {
		rows++
		v := row.Cells[col].Versus
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

// each calls f for every comparison with the base of which it is known, or not
// known, what would be worse.
func (r *Report) each(directed bool, f func(t *Table, row *Row, col int)) {
	for i := range r.Tables {
		t := &r.Tables[i]
		for k := range t.Rows {
			for col, c := range t.Rows[k].Cells {
				if c != nil && c.Versus != nil && (t.Better != 0) == directed && t.Judged {
					f(t, &t.Rows[k], col)
				}
			}
		}
	}
}

func (v *Versus) paired() bool { return v.Pairs != nil && v.Pairs.Decidable }

package page

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/introgen/introgen/results/diff"
)

// differences compare the recordings, each with the first, as `introgen diff` does.
func differences(all []subject) []block {
	sources := make([]diff.Source, len(all))
	for i, s := range all {
		sources[i] = diff.Recording(label(all[:i], s.name), s.file.File)
	}
	report, err := diff.Judge(sources, diff.Options{By: diff.ByFile})
	var mixed *diff.MixedError
	switch {
	case errors.As(err, &mixed):
		var out []string
		for _, d := range mixed.Differences {
			out = append(out, sentence(d))
		}
		return []block{{Text: "The recordings stand beside each other and are not compared, since they differ in what samples must share. `introgen diff --mixed` compares them all the same."}, {List: out}}
	case err != nil:
		return []block{{Text: sentence("The recordings are not compared: " + err.Error())}}
	}
	compared, rest := sorted(blocksOf(report.Document()))
	if len(compared) == 0 {
		compared = []block{{Text: "Nothing that was measured is there in more than one of them."}}
	}
	if len(rest) > 0 {
		rest = []block{{Details: &details{"What one of them has alone, and further notes", rest}}}
	}
	return slices.Concat([]block{{Text: "Every recording is compared with the first: medians, and how likely chance alone makes such a difference (p). 0.05 or less counts as one; ~ is none that is known."}},
		compared, rest)
}

// sorted are the tables in which something is compared, with what is said below each,
// and what else a comparison has.
func sorted(all []block) (compared, rest []block) {
	to := &rest
	for i, b := range all {
		last := !slices.ContainsFunc(all[i:], func(b block) bool { return b.Table != nil })
		switch {
		case b.Table != nil && judged(b.Table):
			to = &compared
		case b.Table != nil, last && !strings.HasPrefix(b.Text, "p:") && b.Text != "" && i > 0 && all[i-1].Table == nil:
			to = &rest
		case last && strings.HasPrefix(b.Text, "p:"):
			to = &compared
		}
		*to = append(*to, b)
	}
	return compared, rest
}

// judged says whether a row of the table has a p-value.
func judged(g *grid) bool {
	i := slices.IndexFunc(g.Head, func(h heading) bool { return h.Name == "p" })
	return i >= 0 && slices.ContainsFunc(g.Rows, func(row []string) bool { return row[i] != "" })
}

// label is a recording's name, told apart from those before it.
func label(before []subject, name string) string {
	out := name
	for n := 1; ; n++ {
		taken := false
		for _, s := range before {
			taken = taken || s.name == out
		}
		if !taken {
			return out
		}
		out = fmt.Sprintf("%s#%d", name, n)
	}
}

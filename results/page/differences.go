package page

import (
	"errors"
	"fmt"
	"slices"

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
	both, one := report.Divided()
	compared, alone := blocksOf(both), blocksOf(one)
	if len(compared) == 0 {
		compared = []block{{Text: "Nothing that was measured is there in more than one of them."}}
	}
	if len(alone) > 0 {
		alone = []block{{Details: &details{"What one of them has alone", alone}}}
	}
	return slices.Concat([]block{{Text: "Every recording is compared with the first: medians, and how likely chance alone makes such a difference (p). 0.05 or less counts as one; ~ is none that is known."}},
		compared, alone)
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

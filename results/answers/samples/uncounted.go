package samples

import (
	"fmt"
	"slices"

	"github.com/introgen/introgen/results/recording"
)

// Uncounted says of the runs that do not count why, each reason once and with
// how many runs had it.
func Uncounted(f *recording.File) []string {
	return Reasons(f, func(r *recording.Run) string {
		if r.Start != nil {
			return r.Start.Arm + ": " + r.Uncounted()
		}
		return Shown(r) + ": " + r.Uncounted()
	})
}

// Reasons are what why says of the runs that do not count, each once and with how
// many runs it was said of.
func Reasons(f *recording.File, why func(*recording.Run) string) []string {
	var order []string
	count := map[string]int{}
	for _, r := range f.Runs {
		if r.Counts() {
			continue
		}
		reason := why(r)
		if count[reason]++; count[reason] == 1 {
			order = append(order, reason)
		}
	}
	for i, reason := range order {
		if n := count[reason]; n > 1 {
			order[i] = fmt.Sprintf("%s (%d times)", reason, n)
		}
	}
	return slices.Clip(order)
}

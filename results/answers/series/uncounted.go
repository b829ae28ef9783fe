package series

import (
	"fmt"
	"slices"

	"github.com/introgen/introgen/results/recording"
)

// Uncounted says of the runs that do not count why, each reason once and with
// how many runs had it.
func Uncounted(f *recording.File) []string {
	var order []string
	count := map[string]int{}
	for _, r := range f.Runs {
		if r.Counts() {
			continue
		}
		name := Shown(r)
		if r.Start != nil {
			name = r.Start.Arm
		}
		why := name + ": " + r.Uncounted()
		if count[why]++; count[why] == 1 {
			order = append(order, why)
		}
	}
	for i, why := range order {
		if n := count[why]; n > 1 {
			order[i] = fmt.Sprintf("%s (%d times)", why, n)
		}
	}
	return slices.Clip(order)
}

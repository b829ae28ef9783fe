package series

import (
	"cmp"
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
		why := name + ": " + uncounted(r)
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

func uncounted(r *recording.Run) string {
	switch {
	case r.Exit != nil && r.Exit.Refused != "":
		return r.Exit.Refused
	case r.Doubt != "":
		return r.Doubt
	case r.End == nil:
		return "was cut off"
	}
	return fmt.Sprintf("ended with exit code %d: %s", r.End.Code, cmp.Or(r.End.Error, "interrupted"))
}

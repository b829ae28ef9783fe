package bench

import (
	"fmt"
	"strings"

	"github.com/introgen/introgen/results/answers/samples"
	"github.com/introgen/introgen/results/metrics"
	"github.com/introgen/introgen/results/stats"
)

// Verdicts say in a sentence for each arm but the first what of it differs from
// the first, and what cannot be told apart.
func (a *Answer) Verdicts() []string {
	if len(a.Arms) < 2 {
		return nil
	}
	first := a.Arms[0].Name
	var out []string
	for _, arm := range a.Arms[1:] {
		var differ, alike []string
		undecided := 0
		for _, r := range a.Rows {
			switch {
			case r.Arm != arm.Name, r.Metric.Kind != 0: // numbers are no time
			case !r.Ratio.Decidable:
				undecided++
			case r.Ratio.Significant:
				of := ""
				if len(differ) == 0 {
					of = "the time of " + first + " "
				}
				differ = append(differ, samples.RatioCell(r.Ratio).Text+" "+of+untilWhat(r.Metric))
			default:
				alike = append(alike, r.Metric.Name)
			}
		}
		subject := fmt.Sprintf("%s (%s)", arm.Name, arm.Command)
		switch {
		case len(differ) > 0:
			text := fmt.Sprintf("%s takes %s", subject, strings.Join(differ, ", "))
			if len(alike) > 0 {
				text += "; not told apart: " + strings.Join(alike, ", ")
			}
			out = append(out, text)
		case len(alike) > 0:
			out = append(out, fmt.Sprintf("%s is not told apart from %s: %s", subject, first, strings.Join(alike, ", ")))
		case undecided > 0:
			out = append(out, fmt.Sprintf("%s against %s: undecided, since that needs %d runs of each", subject, first, stats.LeastForInterval))
		}
	}
	return out
}

// untilWhat is a metric in a sentence about times.
func untilWhat(m metrics.Metric) string {
	if m.Key == metrics.Token1.Key {
		return m.Name
	}
	return "for the " + m.Name
}

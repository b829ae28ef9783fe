package samples

import (
	"fmt"
	"slices"
	"strings"

	"github.com/introgen/introgen/results/recording"
)

// Silent says of which kinds of runs no program has called Metal, nor another that it
// started: there is nothing to be known of them but how long they took.
func Silent(f *recording.File) []string {
	if f.Plan == nil {
		return nil // a run by itself says so
	}
	var order []string
	called := map[string]bool{}
	for _, r := range f.Runs {
		if r.Header.Program == nil {
			continue
		}
		name := armOf(r)
		if !slices.Contains(order, name) {
			order = append(order, name)
		}
		called[name] = called[name] || r.Device != nil || slices.ContainsFunc(r.Children, func(c *recording.Run) bool { return c.Device != nil })
	}
	order = slices.DeleteFunc(order, func(name string) bool { return called[name] })
	if len(order) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("The program never called Metal (%s), so that only how long it took is known", strings.Join(order, ", "))}
}

package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace/names"
)

// slowHit is the time from which on a library or pipeline that came from the
// cache takes as long as one that was compiled.
const slowHit = 50 * time.Millisecond

// notWarm looks at runs that should have found everything in the cache: those
// that a plan refused for it, those whose cache held something and did not help,
// and those in which hits were as slow as compiling.
func notWarm(c *Case) ([]any, time.Duration, bool) {
	refused, reason := 0, ""
	for _, r := range c.Runs {
		if c.Arm.State == recording.StateWarmCache && r.Exit != nil && strings.Contains(r.Exit.Refused, "labelled "+recording.StateWarmCache+":") {
			refused, reason = refused+1, r.Exit.Refused
		}
	}
	if refused > 0 {
		return []any{fmt.Sprintf("%d of %d runs were refused: %s", refused, len(c.Runs), reason)}, 0, true
	}
	for _, x := range c.Arm.Samples {
		// A plan that wants cold runs has seen to it.
		if s := c.Arm.State; x.Run.Start != nil && (s == recording.StateCold || s == recording.StateColdNatural) {
			continue
		}
		for _, e := range x.Run.Evidence {
			missed := e.LibraryMisses + e.PipelineMisses
			if e.What == recording.EvidenceMetalCache && e.Nonce == "" && missed > 0 && e.Before != nil && e.Before.Entries > 0 &&
				e.LibraryHits+e.PipelineHits == 0 {
				return []any{fmt.Sprintf("the cache held %d entries (%s), and yet all %d libraries and pipelines were compiled",
					e.Before.Entries, e.Folder, missed)}, 0, true
			}
		}
		var slow []string
		var cost time.Duration
		for _, p := range x.Rounds[0].Phases {
			for _, k := range p.Compiles {
				if k.Cache == names.CacheHit && k.Time >= slowHit {
					name := strings.TrimSpace(k.Library + " " + k.Function)
					slow, cost = append(slow, fmt.Sprintf("%s (%s ms)", name, figures.Milliseconds(k.Time))), cost+k.Time
				}
			}
		}
		if len(slow) > 0 {
			return []any{fmt.Sprintf("what came from the cache took as long as compiling: %s", strings.Join(slow, ", "))}, cost, true
		}
	}
	return nil, 0, false
}

// duplicates looks for what a process compiled more than once.
func duplicates(c *Case) ([]any, time.Duration, bool) {
	for _, r := range c.Runs {
		count, order, cost := map[string]int{}, []string{}, time.Duration(0)
		for _, round := range c.file.Run(r).Rounds {
			for _, p := range round.Phases {
				for _, k := range p.Compiles {
					name := strings.TrimSpace(strings.Join([]string{k.Library, k.Function, k.Constants}, " "))
					if count[name]++; count[name] == 1 {
						order = append(order, name)
					} else {
						cost += k.Time
					}
				}
			}
		}
		var twice []string
		for _, name := range order {
			if n := count[name]; n > 1 {
				twice = append(twice, fmt.Sprintf("%s %d times", name, n))
			}
		}
		if len(twice) > 0 {
			what := fmt.Sprintf("libraries and pipelines that were made more than once: %d", len(twice))
			return []any{what, strings.Join(twice[:min(4, len(twice))], ", ")}, cost, true
		}
	}
	return nil, 0, false
}

// otherLoad looks at what a plan flagged, and in recordings of one run at the
// run's own readings.
func otherLoad(c *Case) ([]any, time.Duration, bool) {
	if f := c.flags("load"); len(f) > 0 {
		return []any{len(f), len(c.Runs), slices.MaxFunc(f, byFigure)}, 0, true
	}
	const busy = 0.2 // cores; package taint's limit
	for _, r := range c.Runs {
		if r.Start != nil {
			continue
		}
		var most float64
		for _, m := range r.Machine {
			most = max(most, m.OtherCores)
		}
		if most >= busy {
			return []any{1, len(c.Runs), fmt.Sprintf("other processes kept %s of %d cores busy", figures.Text(most, 1), r.Header.Host.Cores)}, 0, true
		}
	}
	return nil, 0, false
}

// byFigure orders texts by the first number in each.
func byFigure(a, b string) int {
	first := func(text string) float64 {
		for word := range strings.FieldsSeq(text) {
			if v, err := strconv.ParseFloat(word, 64); err == nil {
				return v
			}
		}
		return 0
	}
	return cmp.Or(cmp.Compare(first(a), first(b)), cmp.Compare(a, b))
}

func idleGaps(c *Case) ([]any, time.Duration, bool) {
	f := c.flags("idle")
	if len(f) == 0 {
		return nil, 0, false
	}
	return []any{len(f), f[0]}, 0, true
}

package compare

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/answers/samples"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/recording"
)

const (
	// worthSaying is the part of the time to the second token from which on
	// pipelines are told beside libraries.
	worthSaying = 0.01
	// most is the part of all compiling that the libraries named last make up,
	// if at most three do.
	most = 0.75
	// dominates is the part from which on compiling is the cause, and not one
	// part among others.
	dominates = 0.5
)

// Cause says in a sentence what the time to the second token goes to, or to what
// else the series has as its goal. It is "" for a series without any.
func Cause(s samples.Series) string {
	c, ok := CostsOf(s)
	if !ok || s.State == recording.StateWarmProcess {
		return ""
	}
	made := c.dominant()
	if made == nil {
		name, share, whole, from := c.Largest()
		return fmt.Sprintf("The largest part of the %s time%s to %s is %s: %s of %s ms", s.Name, from, c.Goal.Name, name,
			figures.Percent(share), figures.Milliseconds(whole))
	}
	text := fmt.Sprintf("%s of the %s time to %s is %s", figures.Percent(made.LibraryShare), s.Name, c.Goal.Name, made.libraries())
	if made.PipelineShare >= worthSaying {
		text = fmt.Sprintf("%s of the %s time to %s is %s and %s (%s and %s)", figures.Percent(made.Share), s.Name, c.Goal.Name,
			made.libraries(), figures.Number(made.PipelineCount, "pipeline"),
			figures.Percent(made.LibraryShare), figures.Percent(made.PipelineShare))
	}
	heads, share := made.Heads()
	names := make([]string, len(heads))
	for i, h := range heads {
		names[i] = h.Name
	}
	text += fmt.Sprintf("; %s %s %s of those", listed(names), figures.Verb(len(heads), "is", "are"), figures.Percent(share))
	if n := made.FirstToken; n < made.LibraryCount {
		first := "the first token"
		if c.Goal.Name != breakdown.GoalToken2 {
			first = breakdown.GoalOutput
		}
		text += fmt.Sprintf(" (%s needs %d of the libraries)", first, n)
	}
	return text
}

// Verdict says of the slowest of the series what most of its time goes to, in a
// line. It is "" where none reached its goal.
func Verdict(all []samples.Series) string {
	var slowest Costs
	name := ""
	for _, s := range all {
		if c, ok := CostsOf(s); ok && s.State != recording.StateWarmProcess && !s.Child() && c.Goal.Time > slowest.Goal.Time {
			slowest, name = c, s.Name
		}
	}
	if name == "" {
		return ""
	}
	if made := slowest.dominant(); made != nil && !made.FromCache {
		next := "`introgen coverage` says how short a warm-up may be, `introgen remedy` what would save most"
		if slowest.Program {
			next = "`introgen explain` says what to do"
		}
		return fmt.Sprintf("%s: %s to %s, %s of it compiling; %s", name,
			seconds(float64(slowest.Goal.Time)), slowest.Goal.Brief(), figures.Percent(made.Share), next)
	}
	what, share, whole, from := slowest.Largest()
	return fmt.Sprintf("%s: %s%s to %s, %s of it %s; `introgen explain` says what to do", name, seconds(float64(whole)), from, slowest.Goal.Brief(),
		figures.Percent(share), what)
}

// libraries says what was done to them.
func (m Made) libraries() string {
	switch {
	case !m.FromCache && m.Beside:
		return "waiting for " + figures.Number(m.LibraryCount, "library compile")
	case !m.FromCache:
		return figures.Number(m.LibraryCount, "library compile")
	case m.LibraryCount == 1:
		return "1 library from the cache"
	}
	return fmt.Sprintf("%d libraries from the cache", m.LibraryCount)
}

func part(of, whole time.Duration) float64 { return float64(of) / float64(max(1, whole)) }

func listed(names []string) string {
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return strings.Join(names, "")
}

// dominant is what was compiled, or what came from the cache where nothing was
// compiled, if that is most of the time to the second token.
func (c *Costs) dominant() *Made {
	for _, m := range []*Made{&c.Compiled, &c.Loaded} {
		if m.Share >= dominates {
			return m
		}
	}
	return nil
}

// Largest is the largest part of all, compiling counted as one, its share, and the
// whole that it is a part of: from the start of the process where that is known, else
// from opening the file.
func (c *Costs) Largest() (name string, part float64, whole time.Duration, from string) {
	all := map[string][]float64{"compiling": c.Compiled.allRuns, "what came from the cache of compiled code": c.Loaded.allRuns}
	for n := range c.Phases {
		all[n] = c.parts[n]
	}
	whole, of := c.Goal.Time, c.wholes
	if c.Start > 0 {
		whole, of, from = c.Start, c.starts, " from the start of the process"
		for n := range c.Before {
			all[n] = c.parts[n]
		}
	}
	for _, n := range slices.Sorted(maps.Keys(all)) {
		if x := share(all[n], of); x > part || name == "" {
			name, part = n, x
		}
	}
	return name, part, whole, from
}

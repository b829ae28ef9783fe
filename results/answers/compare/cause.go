package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/introgen/introgen/results"
	"github.com/introgen/introgen/results/answers/anatomy"
	"github.com/introgen/introgen/results/answers/series"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/stats"
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

// Cause says in a sentence what the time to the second token goes to. It is ""
// for a series without second tokens.
func Cause(s series.Series) string {
	var c causes
	for _, x := range s.Samples {
		c.add(x.Rounds[0])
	}
	if len(c.wholes) == 0 || s.State == recording.StateWarmProcess {
		return ""
	}
	whole := c.share(func(p parts) time.Duration { return p.libraries + p.pipelines })
	if whole < dominates {
		name, share := c.largest()
		return fmt.Sprintf("The largest part of the %s time to the second token is %s: %s of %s ms", s.Name, name, wholePercent(share),
			results.Milliseconds(time.Duration(stats.Summarize(c.wholes).Median)))
	}
	libs, pipes := c.share(func(p parts) time.Duration { return p.libraries }), c.share(func(p parts) time.Duration { return p.pipelines })
	last := c.runs[len(c.runs)-1]
	text := fmt.Sprintf("%s of the %s time to the second token is %s", wholePercent(libs), s.Name, last.made(last.libraryCount, "library", "libraries"))
	byLibrary := func(p parts, name string) time.Duration { return p.byLibrary[name] }
	sum := func(p parts) time.Duration { return p.libraries }
	if pipes >= worthSaying {
		text = fmt.Sprintf("%s of the %s time to the second token is %s and %s (%s and %s)", wholePercent(whole), s.Name,
			last.made(last.libraryCount, "library", "libraries"), plural(last.pipelineCount, "pipeline"), wholePercent(libs), wholePercent(pipes))
		byLibrary = func(p parts, name string) time.Duration { return p.byLibrary[name] + p.pipesOf[name] }
		sum = func(p parts) time.Duration { return p.libraries + p.pipelines }
	}
	named, share := c.heads(byLibrary, sum)
	verb := "are"
	if len(named) == 1 {
		verb = "is"
	}
	text += fmt.Sprintf("; %s %s %s of those", listed(named), verb, wholePercent(share))
	if n := last.firstToken; n < last.libraryCount {
		text += fmt.Sprintf(" (the first token needs %d of the libraries)", n)
	}
	return text
}

// made says what was done to n libraries.
func (p parts) made(n int, one, many string) string {
	switch {
	case !p.fromCache:
		return plural(n, one+" compile")
	case n == 1:
		return "1 " + one + " from the cache"
	}
	return fmt.Sprintf("%d %s from the cache", n, many)
}

// wholePercent is a part as whole percents, as people say it.
func wholePercent(part float64) string { return fmt.Sprintf("%.0f %%", 100*part) }

func listed(names []string) string {
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return strings.Join(names, "")
}

// parts are what the time to one run's second token is made of.
type parts struct {
	whole                       time.Duration
	libraries, pipelines        time.Duration
	libraryCount, pipelineCount int
	firstToken                  int  // libraries before the first token
	fromCache                   bool // all of them were in the cache
	order                       []string
	byLibrary, pipesOf          map[string]time.Duration
	rest                        map[string]time.Duration // phases without what was compiled in them
}

// causes are the parts of all runs of a series.
type causes struct {
	runs   []parts
	wholes []float64
}

// add takes a round apart, unless it has no second token.
func (c *causes) add(r anatomy.Round) {
	whole, ok := r.Token(2)
	if !ok || whole <= 0 {
		return
	}
	p := parts{whole: whole, byLibrary: map[string]time.Duration{}, pipesOf: map[string]time.Duration{}, rest: map[string]time.Duration{}}
	for _, phase := range r.Phases {
		if phase.Start >= r.Start+whole {
			break
		}
		name := phase.Name
		if name == results.SpanStep {
			name = series.First.Name
		}
		p.rest[name] += phase.Own()
		for _, x := range phase.Compiles {
			if !slices.Contains(p.order, x.Library) {
				p.order = append(p.order, x.Library)
			}
			if !x.IsLibrary() {
				p.pipelines += x.Time
				p.pipesOf[x.Library] += x.Time
				p.pipelineCount++
				continue
			}
			p.fromCache = (p.fromCache || p.libraryCount == 0) && x.FromCache()
			p.libraries += x.Time
			p.byLibrary[x.Library] += x.Time
			p.libraryCount++
			if phase.Name != results.SpanStep {
				p.firstToken++
			}
		}
	}
	c.runs, c.wholes = append(c.runs, p), append(c.wholes, float64(whole))
}

// share is the median over runs of a part of the whole.
func (c *causes) share(of func(parts) time.Duration) float64 {
	v := make([]float64, len(c.runs))
	for i, p := range c.runs {
		v[i] = float64(of(p)) / float64(p.whole)
	}
	return stats.Summarize(v).Median
}

// heads are the libraries that make up most of the compiling, three at most,
// in the order in which they were needed, and their median part of it.
func (c *causes) heads(of func(parts, string) time.Duration, sum func(parts) time.Duration) ([]string, float64) {
	order := c.runs[len(c.runs)-1].order
	shareOf := func(names []string) float64 {
		v := make([]float64, 0, len(c.runs))
		for _, p := range c.runs {
			var t time.Duration
			for _, n := range names {
				t += of(p, n)
			}
			v = append(v, float64(t)/float64(max(1, sum(p))))
		}
		return stats.Summarize(v).Median
	}
	bySize := slices.Clone(order)
	slices.SortStableFunc(bySize, func(a, b string) int { return cmp.Compare(shareOf([]string{b}), shareOf([]string{a})) })
	n := 1
	for n < min(3, len(bySize)) && shareOf(bySize[:n]) < most {
		n++
	}
	named := bySize[:n]
	slices.SortFunc(named, func(a, b string) int { return cmp.Compare(slices.Index(order, a), slices.Index(order, b)) })
	return named, shareOf(named)
}

// largest is the largest part of all, compiling counted as one.
func (c *causes) largest() (string, float64) {
	names := []string{}
	for _, p := range c.runs {
		for n := range p.rest {
			if !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
	}
	slices.Sort(names)
	best, share := "compiling", c.share(func(p parts) time.Duration { return p.libraries + p.pipelines })
	for _, n := range names {
		if s := c.share(func(p parts) time.Duration { return p.rest[n] }); s > share {
			best, share = n, s
		}
	}
	return best, share
}

package explain

import (
	"fmt"
	"strings"
	"time"

	"github.com/introgen/introgen/results/answers/compare"
	"github.com/introgen/introgen/results/answers/samples"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace/names"
)

// slowHit is the time from which on a library or pipeline that came from the
// cache takes as long as one that was compiled.
const slowHit = 50 * time.Millisecond

// Runs that should have found everything in the cache: those that a plan refused
// for it, those whose cache held something and did not help, and those in which
// hits were as slow as compiling.
var notWarm = Rule{
	Name: "warm that is not warm", Sure: Certain,
	Advice:     "find out what changes between runs: the kernels or their options, the compiler, the cache folder (INTROGEN_CACHE), or somebody who empties it; the line `# cache` and `introgen show` have the evidence",
	OfPrograms: "find out what changes between runs: the sources or their options, the compiler, or somebody who empties its cache; `introgen show` has what each library took, and whether it came from there; on a machine that others keep busy what is in a cache takes long, too",
	Find: func(c *Case) (Facts, time.Duration) {
		refused := RefusedAsCold{Runs: len(c.Runs)}
		for _, r := range c.Runs {
			if c.Arm.State == recording.StateWarmCache && r.Exit != nil && r.Exit.RefusedCode == recording.RefusedEvidence {
				refused.Refused, refused.Last = refused.Refused+1, r.Exit.Refused
			}
		}
		if refused.Refused > 0 {
			return refused, 0
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
					return UnusedCache{Entries: e.Before.Entries, Folder: e.Folder, Compiled: missed}, 0
				}
			}
			if f, cost := slowHits(x); len(f.Hits) > 0 {
				return f, cost
			}
		}
		return nil, 0
	},
}

// slowHits are the hits of a first round that were slow, and what they took.
func slowHits(x samples.Sample) (f SlowHits, cost time.Duration) {
	for _, p := range x.Rounds[0].Phases {
		for _, k := range p.Compiles {
			if k.Cache == names.CacheHit && k.Time >= slowHit {
				f.Hits, cost = append(f.Hits, compare.Named{Name: strings.TrimSpace(k.Library + " " + k.Function), Time: k.Time}), cost+k.Time
			}
		}
	}
	return f, cost
}

// RefusedAsCold: a plan refused runs that claimed a warm cache.
type RefusedAsCold struct {
	Refused, Runs int
	Last          string // why the last of them was refused
}

func (f RefusedAsCold) Text() string {
	return fmt.Sprintf("%d of %d runs were refused: %s", f.Refused, f.Runs, f.Last)
}

// UnusedCache: the cache held something, and everything was compiled.
type UnusedCache struct {
	Entries  int
	Folder   string
	Compiled int // libraries and pipelines
}

func (f UnusedCache) Text() string {
	return fmt.Sprintf("the cache held %d entries (%s), and yet all %d libraries and pipelines were compiled", f.Entries, f.Folder, f.Compiled)
}

// SlowHits: what came from the cache took as long as compiling it.
type SlowHits struct {
	Hits []compare.Named
}

func (f SlowHits) Text() string {
	return "what came from the cache took as long as compiling: " + inWords(f.Hits)
}

// Runs that do not count, and that no other rule is about.
var refusedRuns = Rule{
	Name: "refused runs", Sure: Certain,
	Advice: "a run that failed, or whose evidence contradicts its label, gives no figures; `introgen show` has what it printed",
	Find: func(c *Case) (Facts, time.Duration) {
		f := RefusedRuns{Runs: len(c.Runs)}
		for _, r := range c.Runs {
			if r.Exit != nil && r.Exit.Refused != "" || r.Doubt != "" {
				f.Refused, f.Last = f.Refused+1, r.Uncounted()
			}
		}
		if f.Refused == 0 || notWarm.holds(c) || stayedInMemory.holds(c) {
			return nil, 0
		}
		return f, 0
	},
}

// RefusedRuns are runs that do not count.
type RefusedRuns struct {
	Refused, Runs int
	Last          string // why the last of them does not
}

func (f RefusedRuns) Text() string {
	return fmt.Sprintf("%d of %d runs do not count: the last one %s", f.Refused, f.Runs, f.Last)
}

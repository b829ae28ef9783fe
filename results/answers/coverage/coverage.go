// Package coverage answers which libraries and pipelines a warm-up compiles, a
// prompt of so many tokens and so many decode steps, which a full run would
// still compile after it, and what the smallest warm-up is that leaves nothing.
// It reasons about sets; what a pass needs is told by Needs, before any run is
// made, and by the recording from then on.
package coverage

import (
	"fmt"
	"slices"
	"strings"

	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace/names"
)

// Use is a pipeline, and with it its library.
type Use struct {
	Library, Function string
	Constants         string // of the function, to tell its pipelines apart
}

// Needs tells what the parts of a run need, in the order of first use.
type Needs interface {
	Build() []Use
	// Prefill is a pass over so many tokens.
	Prefill(tokens int) ([]Use, error)
	// Decode is a pass over one token with so many keys, its own counted.
	Decode(keys int) ([]Use, error)
}

// Run is a generation: a prompt of so many tokens, then decode steps.
type Run struct{ Prompt, Steps int }

func (r Run) String() string { return fmt.Sprintf("%d,%d", r.Prompt, r.Steps) }

// Missing is what a warm-up leaves to be compiled.
type Missing struct {
	Use
	Phase   string // of the full run, in which it is first needed
	Library bool   // the library is missing too
}

// Answer is what a warm-up covers.
type Answer struct {
	Full, Warm Run
	// All is what the full run needs, Covered how much of it the warm-up
	// touches: libraries and pipelines.
	All, Covered Count
	Missing      []Missing // in the order in which the full run needs it
	// Smallest is the warm-up with the fewest passed tokens, and of these the
	// one with the fewest decode steps, after which the full run compiles
	// nothing.
	Smallest Run
	// PrefillOnly is what the full run's own prompt without a decode step
	// leaves.
	PrefillOnly []Missing
}

// Count is a number of libraries and one of pipelines.
type Count struct{ Libraries, Pipelines int }

// Foretell computes what a full run and a warm-up need, and the smallest warm-up.
// It is all that an answer is made of, and what a recording keeps.
func Foretell(n Needs, full, warm Run) (*recording.Coverage, error) {
	for _, r := range []Run{full, warm} {
		if r.Prompt < 1 || r.Steps < 0 {
			return nil, fmt.Errorf("a run of %d tokens and %d decode steps: at least one token is wanted, and no negative number of steps", r.Prompt, r.Steps)
		}
	}
	c := &passes{n, map[int][]Use{}, map[int][]Use{}}
	all, err := c.needs(full)
	if err != nil {
		return nil, err
	}
	touched, err := c.needs(warm)
	if err != nil {
		return nil, err
	}
	smallest, err := c.smallest(full, all)
	if err != nil {
		return nil, err
	}
	return &recording.Coverage{
		Full:     recording.Foretold{Prompt: full.Prompt, Steps: full.Steps, Needs: all},
		WarmUp:   recording.Foretold{Prompt: warm.Prompt, Steps: warm.Steps, Needs: touched},
		Smallest: recording.Foretold{Prompt: smallest.Prompt, Steps: smallest.Steps},
	}, nil
}

// Of is the answer that what was foretold gives.
func Of(c *recording.Coverage) *Answer {
	// Build and prefill need the same whatever follows them.
	prefill := slices.DeleteFunc(slices.Clone(c.Full.Needs), func(n recording.Need) bool { return n.Phase == names.SpanStep })
	a := &Answer{
		Full: runOf(c.Full), Warm: runOf(c.WarmUp), Smallest: runOf(c.Smallest), All: count(c.Full.Needs),
		Missing: without(c.Full.Needs, c.WarmUp.Needs), PrefillOnly: without(c.Full.Needs, prefill),
	}
	a.Covered = a.All.less(a.Missing)
	return a
}

func runOf(f recording.Foretold) Run { return Run{f.Prompt, f.Steps} }

func useOf(n recording.Need) Use { return Use{n.Library, n.Function, n.Constants} }

func count(needs []recording.Need) Count {
	libraries := map[string]bool{}
	for _, n := range needs {
		libraries[n.Library] = true
	}
	return Count{len(libraries), len(needs)}
}

func (c Count) less(missing []Missing) Count {
	for _, m := range missing {
		c.Pipelines--
		if m.Library {
			c.Libraries--
		}
	}
	return c
}

// without is what of all is not in some. A library is missing with the first of
// its pipelines if some has none of them.
func without(all, some []recording.Need) []Missing {
	has, libraries := map[Use]bool{}, map[string]bool{}
	for _, n := range some {
		has[useOf(n)], libraries[n.Library] = true, true
	}
	var out []Missing
	for _, n := range all {
		if has[useOf(n)] {
			continue
		}
		out = append(out, Missing{useOf(n), names.Title(n.Phase, int64(n.Step)), !libraries[n.Library]})
		libraries[n.Library] = true
	}
	return out
}

// passes keeps what passes need, so that each is asked for once.
type passes struct {
	n               Needs
	prefill, decode map[int][]Use
}

func kept(in map[int][]Use, n int, of func(int) ([]Use, error)) ([]Use, error) {
	if uses, ok := in[n]; ok {
		return uses, nil
	}
	uses, err := of(n)
	in[n] = uses
	return uses, err
}

// needs are what a run needs, in order.
func (c *passes) needs(r Run) ([]recording.Need, error) {
	seen := map[Use]bool{}
	var out []recording.Need
	add := func(phase string, step int, uses []Use) {
		for _, u := range uses {
			if !seen[u] {
				seen[u] = true
				out = append(out, recording.Need{Library: u.Library, Function: u.Function, Constants: u.Constants, Phase: phase, Step: step})
			}
		}
	}
	add(names.SpanBuild, 0, c.n.Build())
	uses, err := kept(c.prefill, r.Prompt, c.n.Prefill)
	if err != nil {
		return nil, err
	}
	add(names.SpanPrefill, 0, uses)
	for i := 1; i <= r.Steps; i++ {
		if uses, err = kept(c.decode, r.Prompt+i, c.n.Decode); err != nil {
			return nil, err
		}
		add(names.SpanStep, i, uses)
	}
	return out, nil
}

// smallest tries prompts from the shortest on, each with as many steps as it
// takes, as long as that can be shorter than the best so far. The full run
// covers itself, so there is one.
func (c *passes) smallest(full Run, all []recording.Need) (Run, error) {
	best := full
	for prompt := 1; prompt <= best.Prompt+best.Steps; prompt++ {
		left := map[Use]bool{}
		for _, n := range all {
			left[useOf(n)] = true
		}
		take := func(uses []Use) {
			for _, u := range uses {
				delete(left, u)
			}
		}
		take(c.n.Build())
		uses, err := kept(c.prefill, prompt, c.n.Prefill)
		if err != nil {
			return Run{}, err
		}
		take(uses)
		steps := 0
		for ; len(left) > 0 && (Run{prompt, steps + 1}).before(best); steps++ {
			if uses, err = kept(c.decode, prompt+steps+1, c.n.Decode); err != nil {
				return Run{}, err
			}
			take(uses)
		}
		if r := (Run{prompt, steps}); len(left) == 0 && r.before(best) {
			best = r
		}
	}
	return best, nil
}

// before says whether r is the smaller warm-up.
func (r Run) before(o Run) bool {
	return r.Prompt+r.Steps < o.Prompt+o.Steps || r.Prompt+r.Steps == o.Prompt+o.Steps && r.Steps < o.Steps
}

// Libraries are the names of the libraries that are missing, in order.
func Libraries(missing []Missing) []string {
	var out []string
	for _, m := range missing {
		if m.Library && !slices.Contains(out, m.Use.Library) {
			out = append(out, m.Use.Library)
		}
	}
	return out
}

// String is "function 10:bool=1".
func (u Use) String() string { return strings.TrimSpace(u.Function + " " + u.Constants) }

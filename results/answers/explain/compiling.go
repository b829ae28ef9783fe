package explain

import (
	"fmt"
	"strings"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/answers/compare"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/trace/names"
)

// inWords is "Gemm (400.0 ms), Reduce (500.0 ms)".
func inWords(all []compare.Named) string {
	out := make([]string, len(all))
	for i, n := range all {
		out[i] = fmt.Sprintf("%s (%s ms)", n.Name, ms(n.Time))
	}
	return strings.Join(out, ", ")
}

var coldCompile = Rule{
	Name: "cold compile", Sure: Certain,
	OfPrograms: "compile before it matters: use once, at the start of the process or at installation, what the first answer needs; keep libraries and pipelines, and the cache of compiled code; `introgen bill` has each library, `introgen coverage` which phase needs it first, and `introgen remedy` what each way would save",
	Advice:     "compile before it matters: one short generation with at least one decode step at the start of the process or at installation (`introgen coverage` says how short), or keep the cache of compiled code; `introgen bill` has each library, and what compiling at once would leave; `introgen remedy` says what each way would save",
	Find: func(c *Case) (Facts, time.Duration) {
		x, ok := compare.CostsOf(c.Arm)
		took := x.Compiled.Time()
		if !ok || x.Compiled.Share < least {
			return nil, 0
		}
		f := ColdCompile{Compiling: took, Share: x.Compiled.Share, ToGoal: x.Goal.Time, Goal: x.Goal.Brief(), Libraries: x.Compiled.LibraryCount, Pipelines: x.Compiled.PipelineCount, Beside: x.Compiled.Beside}
		f.Most, _ = x.Compiled.Heads()
		return f, took
	},
}

// ColdCompile: a good part of the time to token 2, or to what else a program is
// waited for, went into compiling.
type ColdCompile struct {
	Compiling, ToGoal    time.Duration
	Share                float64 // of compiling in the time to the goal, within a run
	Goal                 string
	Libraries, Pipelines int
	Beside               bool            // beside the thread that generates, which waited so long for them
	Most                 []compare.Named // of the libraries, each with its pipelines
}

func (f ColdCompile) Text() string {
	into, most := "compiling", "into"
	if f.Beside {
		into, most = "waiting for what was compiled beside", "for"
	}
	return fmt.Sprintf("%s of the %s ms to %s went into %s: libraries %d, pipelines %d; most %s %s",
		figures.Percent(f.Share), ms(f.ToGoal), f.Goal, into, f.Libraries, f.Pipelines, most, inWords(f.Most))
}

var prefillOnly = Rule{
	Name: "prefill-only warm-up", Sure: Likely,
	Advice: "let the warm-up decode at least one token; `introgen coverage` prints the smallest warm-up that covers all",
	Find: func(c *Case) (Facts, time.Duration) {
		for _, x := range c.Arm.Samples {
			before, step, inStep := compiledLibraries(x.Rounds[0])
			_, prefilled := x.Rounds[0].Phase(names.SpanPrefill)
			if len(before) > 0 || len(inStep) == 0 || !prefilled {
				continue
			}
			f, cost := PrefillOnly{Step: step}, time.Duration(0)
			for _, l := range inStep {
				f.Libraries = append(f.Libraries, l.Library)
				cost += l.Time
			}
			return f, cost
		}
		return nil, 0
	},
}

// compiledLibraries are the libraries of a round's phases that were compiled, and
// the first decode step with any; before it are build and prefill.
func compiledLibraries(r breakdown.Round) (before []breakdown.Compile, step int64, inStep []breakdown.Compile) {
	for _, p := range r.Phases {
		for _, x := range p.Compiles {
			switch {
			case x.FromCache() || !x.IsLibrary():
			case p.Name == names.SpanStep:
				if step == 0 {
					step = p.N
				}
				inStep = append(inStep, x)
			default:
				before = append(before, x)
			}
		}
	}
	return before, step, inStep
}

// PrefillOnly: libraries were compiled in decode steps alone.
type PrefillOnly struct {
	Libraries []string
	Step      int64 // the first with any
}

func (f PrefillOnly) Text() string {
	return fmt.Sprintf("build and prefill found everything in the cache, but library %s was compiled in decode step %d: whatever filled the cache decoded no token",
		strings.Join(f.Libraries, ", library "), f.Step)
}

var duplicateCompiles = Rule{
	Name: "duplicate compiles", Sure: Certain,
	Advice: "keep libraries and pipelines for the life of the process and share them between models and threads",
	Find: func(c *Case) (Facts, time.Duration) {
		for _, r := range c.Runs {
			f, cost := madeAgain(c.file.Run(r))
			if len(f.Made) > 0 {
				return f, cost
			}
		}
		return nil, 0
	},
}

// madeAgain is what a run made more than once, and what all but the first took.
func madeAgain(r *breakdown.Run) (f DuplicateCompiles, cost time.Duration) {
	count, order := map[string]int{}, []string{}
	for _, round := range r.Rounds {
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
	for _, name := range order {
		if n := count[name]; n > 1 {
			f.Made = append(f.Made, Times{name, n})
		}
	}
	return f, cost
}

// DuplicateCompiles: a process made libraries and pipelines more than once.
type DuplicateCompiles struct{ Made []Times }

// Times is how often something was made.
type Times struct {
	Name string
	N    int
}

func (f DuplicateCompiles) Text() string {
	const told = 4
	var some []string
	for _, m := range f.Made[:min(told, len(f.Made))] {
		some = append(some, fmt.Sprintf("%s %d times", m.Name, m.N))
	}
	return fmt.Sprintf("libraries and pipelines that were made more than once: %d in one process: %s", len(f.Made), strings.Join(some, ", "))
}

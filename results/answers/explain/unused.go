package explain

import (
	"fmt"
	"slices"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/answers/compare"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/recording"
)

var unusedPipelines = Rule{
	Name: "pipelines without use", Sure: Certain,
	Advice: "make a pipeline where it is first dispatched, or on another thread while something else goes on; what other inputs need may be among them",
	Find: func(c *Case) (Facts, time.Duration) {
		x, ok := compare.CostsOf(c.Arm)
		if !ok || !c.program() {
			return nil, 0 // introgen's engine makes what it dispatches
		}
		for _, s := range c.Arm.Samples {
			f, cost := unused(s.Rounds[0], s.Run.Run)
			if f.Unused >= someUnused && float64(cost) >= least*float64(x.Goal.Time) {
				f.Took = cost
				return f, cost
			}
		}
		return nil, 0
	},
}

// someUnused are as many as nobody forgot by chance.
const someUnused = 3

// unused counts the pipelines of which the run dispatched no function of the name, and
// what of the wall clock they took. Where it is not known what was dispatched, or what
// ran, there are none.
func unused(r breakdown.Round, run *recording.Run) (f UnusedPipelines, cost time.Duration) {
	unknown := slices.ContainsFunc(run.Kernels, func(k recording.Kernel) bool { return k.Name == "" || k.Name == "?" })
	if len(run.Kernels) == 0 || unknown || run.End == nil || run.End.Lost+run.End.LostSlots > 0 || r.Lost() {
		return f, 0
	}
	for _, p := range r.Phases {
		f.add(p.Compiles, run.Kernels, 1, &cost)
		f.add(p.Carried, run.Kernels, 0, &cost) // counted where they began
	}
	return f, cost
}

func (f *UnusedPipelines) add(made []breakdown.Compile, kernels []recording.Kernel, each int, cost *time.Duration) {
	for _, m := range made {
		if m.IsLibrary() {
			continue
		}
		f.Made += each
		if !slices.ContainsFunc(kernels, func(k recording.Kernel) bool { return k.Name == m.Function }) {
			f.Unused += each
			*cost += m.Wall()
		}
	}
}

// UnusedPipelines: a program made pipelines that it never dispatched.
type UnusedPipelines struct {
	Unused, Made int
	Took         time.Duration
}

func (f UnusedPipelines) Text() string {
	return fmt.Sprintf("of %s that it made it never dispatched %d, which took %s ms", figures.Number(f.Made, "pipeline"), f.Unused, ms(f.Took))
}

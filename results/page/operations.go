package page

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/answers/samples"
	"github.com/introgen/introgen/results/passes"
	"github.com/introgen/introgen/results/plot"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/roofline"
	"github.com/introgen/introgen/results/table"
)

// operations shows what the threads of the CPU engine did in the passes of a run that
// was traced, operation by operation, and how near each is to what the machine can do.
func (s subject) operations(run *recording.Run, r *roofline.Roofline) []block {
	p := passes.Of(s.file.Run(run))
	of := clean(runName(run, samples.Shown(run)))
	var out []block
	for i := range p.Phases {
		if phase := &p.Phases[i]; len(phase.Operations) > 0 {
			out = append(out, block{Figure: s.worked("operations-"+strconv.Itoa(i+1), of, p.Number, phase, r)})
		}
	}
	out = append(out, s.against(r, "operation")...)
	d := &table.Document{}
	roofline.AddPasses(d, p)
	return append(out, block{Details: &details{"All tables of the threads", blocksOf(d)}})
}

// worked draws the time of all threads in each operation of a kind of phase, the
// longest first.
func (s subject) worked(id, of string, number int, p *passes.Phase, r *roofline.Roofline) *figure {
	sorted := slices.Clone(p.Operations)
	slices.SortStableFunc(sorted, func(a, b passes.Operation) int { return cmp.Compare(b.Working, a.Working) })
	whole := p.Whole()
	var rows []plot.Row
	phase := clean(p.Name)
	bars := grid{Caption: fmt.Sprintf("%s of %s: operations over all layers and threads", phase, of), Head: append(words("operation", "kernel"), numbers("times", "ms", "part", "GB/s", "GFLOP/s")...)}
	for k := range sorted {
		o := &sorted[k]
		name := clean(o.Name)
		if slices.ContainsFunc(sorted, func(x passes.Operation) bool { return x.Name == o.Name && x.Kernel != o.Kernel }) {
			name = clean(o.Name + " (" + o.Kernel + ")")
		}
		part := figures.Percent(float64(o.Working) / float64(max(1, whole.Working)))
		kernel := r.Operation(p, o)
		gb, gflop := perBillion(kernel.BytesPerSecond()), perBillion(kernel.OpsPerSecond())
		bars.Rows = append(bars.Rows, []string{name, clean(o.Kernel), strconv.FormatInt(o.Times, 10), figures.Milliseconds(o.Working), part, gb, gflop})
		if k < mostCompiles {
			rows = append(rows, plot.Row{Label: name, Value: inMS(o.Working), Kind: plot.CPU,
				Tip: fmt.Sprintf("%s by %s: %s ms, %s, %s GB/s, %s GFLOP/s", name, clean(o.Kernel), figures.Milliseconds(o.Working), part, gb, gflop)})
		}
	}
	about := fmt.Sprintf("Each bar is the time of %s together in an operation, over all layers and %s of %s; milliseconds.", figures.Number(number, "thread"), each(p.Times), of)
	f := s.figure(id, "What the threads did in "+phase, about, func(o plot.Options) plot.Figure {
		o.X, o.Text = "ms", milliseconds
		return plot.Bars(o, rows)
	})
	f.Table = bars
	return f
}

func perBillion(v float64) string { return figures.Text(v/1e9, 1) }

// each is how many phases of a kind there were.
func each(n int) string {
	if n == 1 {
		return "1 such phase"
	}
	return fmt.Sprintf("%d such phases", n)
}

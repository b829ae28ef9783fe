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
	"github.com/introgen/introgen/trace/names"
)

// operations shows what the threads of the CPU engine did in the passes of the first
// run that was traced, operation by operation, and how near each is to what the
// machine can do.
func (s subject) operations() []block {
	run, t := s.observed()
	if t == nil {
		return nil
	}
	of := clean(runName(run, samples.Shown(run)))
	var out []block
	var points []plot.RoofPoint
	roof := grid{Caption: "Operations against the limits", Head: append(words("operation", "phase"), numbers("operations a byte", "GB/s", "GFLOP/s")...)}
	for i := range t.Phases {
		p := &t.Phases[i]
		if p.Name != names.SpanPrefill && p.Name != names.SpanStep || len(p.Operations) == 0 {
			continue
		}
		sorted := slices.Clone(p.Operations)
		slices.SortStableFunc(sorted, func(a, b passes.Operation) int { return cmp.Compare(b.Working, a.Working) })
		whole := p.Whole()
		var rows []plot.Row
		bars := grid{Caption: fmt.Sprintf("%s of %s: operations over all layers and threads", p.Name, of), Head: append(words("operation", "kernel"), numbers("times", "ms", "part", "GB/s", "GFLOP/s")...)}
		for k := range sorted {
			o := &sorted[k]
			name := clean(o.Name)
			if slices.ContainsFunc(sorted, func(x passes.Operation) bool { return x.Name == o.Name && x.Kernel != o.Kernel }) {
				name = clean(o.Name + " (" + o.Kernel + ")")
			}
			part := figures.Percent(float64(o.Working) / float64(max(1, whole.Working)))
			gb, gflop := perBillion(o.BytesPerSecond()), perBillion(o.OpsPerSecond())
			bars.Rows = append(bars.Rows, []string{name, clean(o.Kernel), strconv.FormatInt(o.Times, 10), figures.Milliseconds(o.Working), part, gb, gflop})
			tip := fmt.Sprintf("%s by %s: %s ms, %s, %s GB/s, %s GFLOP/s", name, clean(o.Kernel), figures.Milliseconds(o.Working), part, gb, gflop)
			if k < mostCompiles {
				rows = append(rows, plot.Row{Label: name, Value: inMS(o.Working), Kind: plot.CPU, Tip: tip})
			}
			if bytes := o.Read + o.Written; bytes > 0 && o.Ops > 0 && o.Elapsed > 0 {
				x := float64(o.Ops) / float64(bytes)
				points = append(points, plot.RoofPoint{Label: name + ", " + p.Name, Intensity: x, Ops: o.OpsPerSecond(), Share: float64(o.Working) / float64(max(1, whole.Working)), Tip: tip})
				roof.Rows = append(roof.Rows, []string{name, p.Name, figures.Text(x, 2), gb, gflop})
			}
		}
		f := s.figure("operations-"+strconv.Itoa(i+1), fmt.Sprintf("What the threads did in %s", each(p.Name)), fmt.Sprintf("Each bar is the time of %s together in an operation, over all layers and %s of %s; milliseconds.", figures.Number(t.Number, "thread"), manyPasses(p.Times), of),
			func(o plot.Options) plot.Figure {
				o.X, o.Text = "ms", milliseconds
				return plot.Bars(o, rows)
			})
		f.Table = bars
		out = append(out, block{Figure: f})
	}
	if len(points) > 0 {
		memory, arithmetic := 0.0, 0.0
		if t.Memory != nil {
			memory = t.Memory.Best
		}
		if t.Float32 != nil {
			arithmetic = t.Float32.Best
		}
		f := s.figure("operations-roofline", "Operations of the threads against the limits of the machine", "A disc is an operation, as large as its part of its phase: the further right, the more it computes for each byte. The lines are the most that this machine reads and computes; what its caches hold may be quicker than memory, and integers than floats.",
			func(o plot.Options) plot.Figure { return plot.Roofline(o, memory, arithmetic, points) })
		f.Table = roof
		out = append(out, block{Figure: f})
	}
	d := &table.Document{}
	roofline.AddPasses(d, t)
	return append(out, block{Details: &details{"All tables of the threads", blocksOf(d)}})
}

// observed is the first run of which threads tell what they did.
func (s subject) observed() (*recording.Run, *passes.Passes) {
	for _, run := range s.file.Runs {
		if run.Header.Command != "cpu" {
			continue
		}
		if t := passes.Of(s.file.Run(run)); t != nil {
			return run, t
		}
	}
	return nil, nil
}

func perBillion(v float64) string { return figures.Text(v/1e9, 1) }

func manyPasses(n int) string {
	if n == 1 {
		return "1 pass"
	}
	return fmt.Sprintf("%d passes", n)
}

func each(phase string) string {
	if phase == names.SpanPrefill {
		return "the prefill"
	}
	return "the decode steps"
}

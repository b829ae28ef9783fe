package page

import (
	"fmt"
	"strings"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/answers/samples"
	"github.com/introgen/introgen/results/passes"
	"github.com/introgen/introgen/results/plot"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/roofline"
)

// kernels shows where the device's time went, kernel by kernel, and how near each is
// to what the machine can do.
func (s subject) kernels() []block {
	run, r := s.roofed()
	switch {
	case r == nil:
		return nil
	case passes.Of(s.file.Run(run)) != nil:
		return s.operations(run, r)
	}
	var rows []plot.Row
	for i, k := range r.Kernels {
		if i == mostCompiles || k.Time <= 0 {
			break // the longest come first
		}
		rows = append(rows, plot.Row{Label: clean(k.Name), Value: inMS(k.Time), Kind: plot.GPU, Tip: kernelTip(k)})
	}
	of := clean(runName(run, samples.Shown(run)))
	table := gridOf(r.Table())
	if table.Caption += " of " + of; len(rows) == 0 {
		return []block{{Table: &table}}
	}
	f := s.figure("kernels", "Kernels by the time that the device ran them", "Each bar is the device's time in a kernel over all of "+of+"; milliseconds.", func(o plot.Options) plot.Figure {
		o.X, o.Text = "ms", milliseconds
		return plot.Bars(o, rows)
	})
	f.Table = table
	out := []block{{Figure: f}}
	if n := len(r.Kernels) - len(rows); n > 0 {
		out = append(out, block{Text: fmt.Sprintf("%s more are in the table alone.", figures.Number(n, "kernel"))})
	}
	return append(out, s.against(r, "kernel")...)
}

// roofed is the first run that told of kernels, or of what its threads did; where
// there is one of whose machine the limits are known that.
func (s subject) roofed() (*recording.Run, *roofline.Roofline) {
	var run *recording.Run
	var found *roofline.Roofline
	for _, x := range s.file.Runs {
		r := roofline.Of(s.file.Run(x))
		if len(r.Kernels) == 0 {
			continue
		}
		limited := r.Memory > 0 && r.Arithmetic > 0 && r.Known()
		if found == nil || limited {
			run, found = x, r
		}
		if limited {
			break
		}
	}
	return run, found
}

// against draws the kernels of which bytes and operations are known against the
// limits of the machine.
func (s subject) against(r *roofline.Roofline, what string) []block {
	if !r.Known() {
		return []block{{Text: "What its kernels read, write and compute is not recorded."}}
	}
	var sum time.Duration
	for _, k := range r.Kernels {
		sum += k.Time
	}
	var points []plot.RoofPoint
	for _, k := range r.Kernels {
		if k.Known && k.Time > 0 {
			points = append(points, plot.RoofPoint{Label: called(k, what), Intensity: k.Intensity(), Ops: k.OpsPerSecond(), Share: float64(k.Time) / float64(max(1, sum)), InCache: k.InCache, Tip: kernelTip(k)})
		}
	}
	if len(points) == 0 {
		return nil
	}
	disc := map[string]string{"kernel": "a kernel", "operation": "an operation of a kind of phase"}[what]
	about := "A disc is " + disc + ", as large as its part of the time: the further right, the more it computes for each byte. The lines are the most that this machine reads and computes."
	title := strings.ToUpper(what[:1]) + what[1:] + "s against the limits of the machine"
	if r.Memory == 0 || r.Arithmetic == 0 {
		title = "What " + what + "s compute for each byte, and a second"
		about = "A disc is " + disc + ", as large as its part of the time: the further right, the more it computes for each byte. What the machine can do at the most was not measured: that is done by runs with --trace."
	}
	f := s.figure("roofline", title, about, func(o plot.Options) plot.Figure {
		return plot.Roofline(o, r.Memory, r.Arithmetic, points)
	})
	f.Table = grid{Caption: title, Head: append(words(what), numbers("operations a byte", "GB/s", "GFLOP/s", "of memory", "of arithmetic")...)}
	f.Table.Head = append(f.Table.Head, words("fits the cache")...)
	for _, k := range r.Kernels {
		if !k.Known || k.Time <= 0 {
			continue
		}
		cached := "no"
		if k.InCache {
			cached = "yes"
		}
		if r.Cache == 0 {
			cached = "not known"
		}
		f.Table.Rows = append(f.Table.Rows, []string{called(k, what), figures.Text(k.Intensity(), 2), figures.Text(k.BytesPerSecond()/1e9, 1), figures.Text(k.OpsPerSecond()/1e9, 1),
			share(k.MemoryShare), share(k.ArithmeticShare), cached})
	}
	return []block{{Figure: f}}
}

// called is a kernel's name, and of the CPU engine the phase before it.
func called(k roofline.Kernel, what string) string {
	if what == "operation" {
		return clean(k.Library + ": " + k.Name)
	}
	return clean(k.Name)
}

// share is a part of a limit; "" where there is no limit.
func share(part float64) string {
	if part == 0 {
		return ""
	}
	return figures.Percent(part)
}

func dispatches(n int64) string {
	if n == 1 {
		return "1 dispatch"
	}
	return fmt.Sprintf("%d dispatches", n)
}

// kernelTip says of a kernel all that is known.
func kernelTip(k roofline.Kernel) string {
	text := fmt.Sprintf("%s: %s ms in %s", clean(k.Name), figures.Milliseconds(k.Time), dispatches(k.Dispatches))
	if k.Known && k.Time > 0 {
		text += fmt.Sprintf(", %s GB/s, %s GFLOP/s", figures.Text(k.BytesPerSecond()/1e9, 1), figures.Text(k.OpsPerSecond()/1e9, 1))
	}
	if k.MemoryShare > 0 && k.ArithmeticShare > 0 {
		text += fmt.Sprintf(", %s of memory's and %s of arithmetic's limit", figures.Percent(k.MemoryShare), figures.Percent(k.ArithmeticShare))
	}
	return text
}

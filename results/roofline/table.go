package roofline

import (
	"strconv"
	"strings"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/table"
)

// inCache is the bound of a kernel whose data fit into the last-level cache, where
// memory would bound it otherwise.
const inCache = "cache"

// How wide a terminal shows a kernel's name, beside limits and where there are none.
const (
	narrowName = 22
	wideName   = 28
)

// Table has a row for each kernel, of at most 80 columns: its dispatches, its time
// and the share of it, and where costs are known how fast it reads and writes and how
// fast it computes, each as a part of the machine's limit where the run measured that;
// how much of both where the device tells no times.
// A kernel of which something is not known has a dash there.
func (r *Roofline) Table() *table.Table {
	t := &table.Table{Title: "kernels", Columns: []table.Column{{Name: "kernel", Left: true, Narrow: wideName}, {Name: "dispatches"}}}
	all := r.All()
	timed, known := all.Time > 0, r.Known()
	limits := timed && known && r.limits()
	if limits {
		t.Columns[0].Narrow, t.Columns[1].Brief = narrowName, "disp."
	}
	if timed {
		t.Columns = append(t.Columns, table.Column{Name: "device ms"}, table.Column{Name: "share", Parts: table.InPercent})
		if limits {
			t.Columns[2].Brief = "ms"
		}
	}
	if timed && known {
		t.Columns = append(t.Columns, rates(limits)...)
	}
	if known && !timed {
		t.Columns = append(t.Columns, table.Column{Name: "GB"}, table.Column{Name: "GFLOP"})
	}
	row := func(k Kernel) []table.Cell {
		cells := table.Texts(k.Name, strconv.FormatInt(k.Dispatches, 10))
		switch {
		case !timed && known:
			return append(cells, amount(k, k.Read+k.Written), amount(k, k.Ops))
		case !timed:
			return cells
		}
		cells = append(cells, table.Text(figures.Milliseconds(k.Time)), share(float64(k.Time)/float64(all.Time)))
		if !known {
			return cells
		}
		return append(cells, k.rates(limits)...)
	}
	for _, k := range r.Kernels {
		t.Add(row(k)...)
	}
	if len(r.Kernels) > 1 && known {
		t.Footer = row(all)
	}
	return t
}

// limits says whether the run measured both.
func (r *Roofline) limits() bool { return r.Memory > 0 && r.Arithmetic > 0 }

// rates are the columns of how fast kernels read, write and compute, with limits as
// parts of those.
func rates(limits bool) (columns []table.Column) {
	for _, rate := range []struct{ name, limit string }{{"GB/s", "of memory"}, {"GFLOP/s", "of float32"}} {
		columns = append(columns, table.Column{Name: rate.name})
		if limits {
			columns = append(columns, table.Column{Name: rate.limit, Brief: "%", Joined: true, Parts: table.InPercent})
		}
	}
	if limits {
		columns = append(columns, table.Column{Name: "bound", Left: true})
	}
	return columns
}

// rates are the cells of those columns.
func (k Kernel) rates(limits bool) []table.Cell {
	if !limits {
		return []table.Cell{rate(k, k.BytesPerSecond()), rate(k, k.OpsPerSecond())}
	}
	return []table.Cell{rate(k, k.BytesPerSecond()), part(k, k.MemoryShare), rate(k, k.OpsPerSecond()), part(k, k.ArithmeticShare), table.Text(k.bound())}
}

// bound is what bounds the kernel in a word.
func (k Kernel) bound() string {
	switch {
	case k.Bound == "":
		return figures.None
	case k.Bound == Memory && k.InCache:
		return inCache
	case k.Bound == Memory:
		return Memory
	}
	return "floats"
}

// amount is a number of bytes or operations in thousands of millions.
func amount(k Kernel, n int64) table.Cell {
	if !k.Known {
		return table.Cell{Text: figures.None, Parts: []string{""}}
	}
	return table.Cell{Text: figures.Text(float64(n)/1e9, 1), Parts: []string{figures.Exact(float64(n) / 1e9)}}
}

func share(part float64) table.Cell {
	c := table.Cell{Text: figures.Percent(part), Parts: []string{figures.Exact(100 * part)}}
	if part > 0 && part < 0.001 {
		c.Text = "<0.1 %"
	}
	return c
}

// rate is a number a second in thousands of millions.
func rate(k Kernel, perSecond float64) table.Cell {
	switch {
	case !k.Known || k.Time <= 0:
		return table.Cell{Text: figures.None, Parts: []string{""}}
	case perSecond == 0:
		return table.Text("0")
	case perSecond < 1e7:
		return table.Cell{Text: "<0.01", Parts: []string{figures.Exact(perSecond / 1e9)}}
	}
	return table.Cell{Text: figures.Text(perSecond/1e9, 1), Parts: []string{figures.Exact(perSecond / 1e9)}}
}

// part is a part of a limit in percent.
func part(k Kernel, of float64) table.Cell {
	switch {
	case !k.Known || k.Time <= 0:
		return table.Cell{Text: figures.None, Parts: []string{""}}
	case of == 0:
		return table.Text("0")
	case of < 0.01:
		return table.Cell{Text: "<1", Parts: []string{figures.Exact(100 * of)}}
	}
	return table.Cell{Text: strconv.FormatFloat(100*of, 'f', 0, 64), Parts: []string{figures.Exact(100 * of)}}
}

// Add appends the table, and what is to be said of it.
func (r *Roofline) Add(d *table.Document) {
	d.Table(r.Table())
	r.Explain(d)
}

// Explain appends what the limits are, and whether a kernel is beyond them.
func (r *Roofline) Explain(d *table.Document) {
	switch untimed := r.All().Time <= 0; {
	case !r.Known():
		return
	case untimed:
		d.Say("The device does not tell how long single kernels took. With --commands-per-buffer 1 each runs in a command buffer of its own, whose time is its time.")
		return
	case r.memory == nil || r.arithmetic == nil:
		return
	}
	d.Say("The %% are of the %s GB/s that %s of memory (%s), and of the %s GFLOP/s that %s in registers (%s): the best of %d and %d rounds of this run.",
		figures.Text(r.Memory/1e9, 1), threads(r.memory.Threads, "reads", "read"), r.memory.Kernel,
		figures.Text(r.Arithmetic/1e9, 1), threads(r.arithmetic.Threads, "makes", "make"), r.arithmetic.Kernel, r.memory.Samples, r.arithmetic.Samples)
	if r.Cache > 0 {
		what := "what it touches in a pass fits into"
		if r.processor {
			what = "it reads weights and all that a pass touches, or none and what it touches in a pass itself, fits into"
		}
		d.Say("bound: what limits a kernel. It is memory below %s operations for each byte, and floats above; \"%s\" in place of memory where %s the last-level cache of %s, since it may be quicker than memory is.",
			figures.Text(r.Arithmetic/r.Memory, 1), inCache, what, figures.Size(r.Cache))
	}
	var beyond, integers []string
	for _, k := range r.Kernels {
		switch {
		case k.MemoryShare > 1 && !k.InCache || k.ArithmeticShare > 1 && !r.processor:
			beyond = append(beyond, k.Name)
		case k.ArithmeticShare > 1:
			integers = append(integers, k.Name)
		}
	}
	if len(beyond) > 0 {
		d.Say("Beyond a limit: %s. The machine was busier when that was measured.", strings.Join(beyond, ", "))
	}
	if len(integers) > 0 {
		d.Say("Beyond the limit of floats: %s. Quantized weights are multiplied as 16-bit integers, of which a register holds twice as many as of float32; or the machine was busier when that was measured.", strings.Join(integers, ", "))
	}
}

func threads(n int, one, several string) string {
	return figures.Number(n, "thread") + " " + figures.Verb(n, one, several)
}

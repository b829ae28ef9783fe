package roofline

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/passes"
	"github.com/introgen/introgen/results/table"
)

// ofPasses is the roofline of what the threads of the CPU engine did: a kernel is what
// one of them did for one operation in one kind of phase, which stands for its library.
func ofPasses(p *passes.Passes) *Roofline {
	r := &Roofline{processor: true}
	r.measured(p.Memory, p.Float32)
	for i := range p.Phases {
		phase := &p.Phases[i]
		for j := range phase.Operations {
			k := r.Operation(phase, &phase.Operations[j])
			k.Library, k.Name = phase.Name, fmt.Sprintf("%s %s", k.Name, phase.Operations[j].Kernel)
			r.Kernels = append(r.Kernels, k)
		}
	}
	slices.SortStableFunc(r.Kernels, func(a, b Kernel) int { return cmp.Compare(b.Time, a.Time) })
	return r
}

// Operation holds an operation of a phase to the limits, by the wall clock.
func (r *Roofline) Operation(p *passes.Phase, o *passes.Operation) Kernel {
	k := Kernel{Name: o.Name, Dispatches: o.Times, Time: o.Elapsed, Read: o.Read, Written: o.Written, Ops: o.Ops, Known: true}
	touched := p.Whole()
	if slices.Contains(weightless, o.Kernel) {
		touched = *o
	}
	r.limit(&k, max(1, (touched.Read+touched.Written)/int64(max(1, p.Passes))))
	return k
}

// weightless are the kernels of the CPU engine that read what passes have written. All
// others read weights, which are in the cache still when the next pass comes to them
// only where all that it reads before fits into that too.
var weightless = []string{"rms_norm", "attend", "quantize"}

// AddPasses appends what the threads of the CPU engine did: a table for each kind of
// phase, how much of the time each thread worked, and what is to be said of them.
func AddPasses(d *table.Document, p *passes.Passes) {
	r := ofPasses(p)
	for i := range p.Phases {
		d.Table(r.phase(p, &p.Phases[i]))
	}
	d.Table(busy(p))
	d.Say("ms are those of all threads; GB/s and GFLOP/s are by the wall clock, from when the first thread began with an operation until the last one had done its part; of all operations together, by that of the phases.")
	r.Explain(d)
	if each, share, ok := p.Cost(); ok {
		d.Say("tracing: %d observations of %s ns took %s of the threads' time in passes, and writing them between passes %s ms.",
			p.Observations, figures.Text(float64(each), 0), figures.Percent(share), figures.Milliseconds(p.Writing))
	}
}

// phase is the table of a kind of phase.
func (r *Roofline) phase(p *passes.Passes, of *passes.Phase) *table.Table {
	t := &table.Table{Title: fmt.Sprintf("%s, %s, operations over all layers and %s", of.Name, figures.Number(of.Times, "time"), figures.Number(p.Number, "thread")),
		Columns: []table.Column{{Name: "operation", Left: true, Narrow: 13}, {Name: "kernel", Left: true, Narrow: 14}, {Name: "thread ms", Brief: "ms"}, {Name: "share", Parts: table.InPercent}}}
	limits := r.limits()
	t.Columns = append(t.Columns, rates(limits)...)
	whole := of.Whole()
	row := func(k Kernel, kernel string, working time.Duration) {
		cells := append(table.Texts(k.Name, kernel, figures.Milliseconds(working)), share(float64(working)/float64(max(1, whole.Working))))
		t.Add(append(cells, k.rates(limits)...)...)
	}
	for i := range of.Operations {
		o := &of.Operations[i]
		row(r.Operation(of, o), o.Kernel, o.Working)
	}
	all := r.Operation(of, &whole)
	all.Name = "all"
	row(all, "", whole.Working)
	t.Footer, t.Rows = t.Rows[len(t.Rows)-1], t.Rows[:len(t.Rows)-1]
	return t
}

// mostThreads is how many threads are shown: the CPU engine has no more.
const mostThreads = 256

// busy is the table of the threads.
func busy(p *passes.Passes) *table.Table {
	t := &table.Table{Title: "how much of the time each thread worked", Columns: []table.Column{{Name: "thread"}}}
	for _, of := range p.Phases {
		t.Columns = append(t.Columns, table.Column{Name: of.Name + " ms"}, table.Column{Name: of.Name + " busy", Brief: "busy", Joined: true, Parts: table.InPercent})
	}
	for n := range min(p.Number, mostThreads) {
		cells := table.Texts(strconv.Itoa(n))
		for _, of := range p.Phases {
			cells = append(cells, table.Text(figures.Milliseconds(of.Busy[n])), share(float64(of.Busy[n])/float64(max(1, of.Wall))))
		}
		t.Add(cells...)
	}
	return t
}

package threads

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/table"
)

// InCache stands in place of a share of memory's limit that is more than all of it,
// where the data of the operation fit into the last cache.
const InCache = "cache"

// Add appends the tables, and what is to be said of them.
func (t *Threads) Add(d *table.Document) {
	computes, moves := false, false // more than the limit
	for i := range t.Phases {
		p := &t.Phases[i]
		d.Table(t.operations(p))
		for i := range p.Operations {
			o := &p.Operations[i]
			computes = computes || t.Float32 != nil && o.OpsPerSecond() > t.Float32.Best
			moves = moves || t.Memory != nil && o.BytesPerSecond() > t.Memory.Best && !t.fits(o)
		}
	}
	d.Table(t.busy())
	d.Say("ms are those of all threads; GB/s and GFLOP/s are by the wall clock, from when the first thread began with an operation until the last one had done its part; of all operations together, by that of the phases.")
	if t.Memory != nil {
		d.Say("memory is the share of %s GB/s that %s of memory (%s), \"%s\" what is quicker as its data fit into the last cache.",
			figures.Text(t.Memory.Best/1e9, 1), reads(t.Memory.Threads), t.Memory.Kernel, InCache)
	}
	if t.Float32 != nil {
		d.Say("float32 is the share of %s GFLOP/s that %s in registers (%s).", figures.Text(t.Float32.Best/1e9, 1), makes(t.Float32.Threads), t.Float32.Kernel)
	}
	if computes {
		d.Say("What computes at more than 100 %% of float32 multiplies quantized weights as 16-bit integers, of which a register holds twice as many; or the machine was busier when the limit was measured.")
	}
	if moves {
		d.Say("What is above 100 %% of memory does not fit into the cache: the machine was busier when the limit was measured.")
	}
	if each, share, ok := t.Cost(); ok {
		d.Say("tracing: %d observations of %s ns took %s of the threads' time in passes, and writing them between passes %s ms.",
			t.Observations, figures.Text(float64(each), 0), figures.Text(100*share, 2)+" %", figures.Milliseconds(t.Writing))
	}
}

func reads(threads int) string {
	return figures.Number(threads, "thread") + " " + figures.Verb(threads, "reads", "read")
}
func makes(threads int) string {
	return figures.Number(threads, "thread") + " " + figures.Verb(threads, "makes", "make")
}

// operations is the table of a phase.
func (t *Threads) operations(p *Phase) *table.Table {
	out := &table.Table{Title: fmt.Sprintf("%s, %s, operations over all layers and %s", p.Name, figures.Number(p.Times, "time"), figures.Number(t.Number, "thread")),
		Columns: []table.Column{{Name: "operation", Left: true, Narrow: 13}, {Name: "kernel", Left: true, Narrow: 14}, {Name: "ms"}, {Name: "share"}, {Name: "GB/s"}}}
	if t.Memory != nil {
		out.Columns = append(out.Columns, table.Column{Name: "memory"})
	}
	out.Columns = append(out.Columns, table.Column{Name: "GFLOP/s"})
	if t.Float32 != nil {
		out.Columns = append(out.Columns, table.Column{Name: "float32"})
	}
	whole := p.Whole()
	set := commonSet(p.Operations)
	cells := func(o *Operation) []string {
		c := []string{o.Name, strings.TrimSuffix(o.Kernel, set), figures.Milliseconds(o.Working), percent(ratio(o.Working, whole.Working)), rate(o.BytesPerSecond())}
		if t.Memory != nil {
			c = append(c, t.memoryShare(o))
		}
		c = append(c, rate(o.OpsPerSecond()))
		if t.Float32 != nil {
			c = append(c, percent(o.OpsPerSecond()/t.Float32.Best))
		}
		return c
	}
	for i := range p.Operations {
		out.Add(table.Texts(cells(&p.Operations[i])...)...)
	}
	whole.Name = "all"
	out.Footer = table.Texts(cells(&whole)...)
	return out
}

// memoryShare is the share of memory's limit.
func (t *Threads) memoryShare(o *Operation) string {
	share := o.BytesPerSecond() / t.Memory.Best
	if share > 1 && t.fits(o) {
		return InCache
	}
	return percent(share)
}

// fits says whether what an operation reads and writes at a time fits into the last
// cache.
func (t *Threads) fits(o *Operation) bool {
	return o.Times > 0 && (o.Read+o.Written)/o.Times <= t.Memory.Cache
}

// commonSet is what the names of all kernels end in, the instruction set, where
// they do: " avx512". Those without one are of plain Go.
func commonSet(all []Operation) string {
	set := ""
	for _, o := range all {
		_, s, found := strings.Cut(o.Kernel, " ")
		switch {
		case !found:
		case set == "":
			set = " " + s
		case set != " "+s:
			return ""
		}
	}
	return set
}

// percent and rate keep small numbers short: a row has many of them.
func percent(part float64) string {
	if part > 0 && part < 0.001 {
		return "<0.1 %"
	}
	return figures.Percent(part)
}

func rate(perSecond float64) string {
	if perSecond > 0 && perSecond < 1e7 {
		return "<0.01"
	}
	return figures.Text(perSecond/1e9, 1)
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(max(1, b)) }

// mostThreads is how many threads are shown: the CPU engine has no more.
const mostThreads = 256

// busy is the table of the threads.
func (t *Threads) busy() *table.Table {
	out := &table.Table{Title: "how much of the time each thread worked", Columns: []table.Column{{Name: "thread"}}}
	for _, p := range t.Phases {
		out.Columns = append(out.Columns, table.Column{Name: p.Name + " ms"}, table.Column{Name: "busy"})
	}
	for n := range min(t.Number, mostThreads) {
		cells := []string{strconv.Itoa(n)}
		for _, p := range t.Phases {
			cells = append(cells, figures.Milliseconds(p.Busy[n]), figures.Percent(ratio(p.Busy[n], p.Wall)))
		}
		out.Add(table.Texts(cells...)...)
	}
	return out
}

package console

import (
	"slices"
	"strconv"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/roofline"
	"github.com/introgen/introgen/results/table"
	"github.com/introgen/introgen/trace/names"
)

// metal prints the tables at the end of a traced run. Of one that came to no
// pass of the model those without rows are left out, and all of them where nothing
// was compiled either.
func (p *Printer) metal(m breakdown.Metal) {
	passed := slices.ContainsFunc(m.Phases, func(p breakdown.DevicePhase) bool { return p.Name != names.SpanBuild })
	if !passed && len(m.Libraries) == 0 && len(m.Pipelines) == 0 {
		return
	}
	write := func(t *table.Table) {
		if len(t.Rows) > 0 || passed {
			p.table(t)
		}
	}
	by := m.ByLibrary()
	used := map[string]int{} // kernels that pipelines were made of
	for _, l := range by {
		used[l.Name] = len(l.Pipelines)
	}
	libSum, pipeSum := breakdown.Compiling(m.Libraries), breakdown.Compiling(m.Pipelines)
	// What was made beside the thread that generates cost that the time in which it
	// waited.
	beside := slices.ContainsFunc(slices.Concat(m.Libraries, m.Pipelines), func(c breakdown.Compile) bool { return c.Beside })
	compiled := func(columns []string, took string) *table.Table {
		columns = append(columns, took)
		if beside {
			columns = append(columns, "of it lost")
		}
		return newTable(append(columns, "cache:")...)
	}
	cells := func(cells []string, took, wall time.Duration, cache ...string) []table.Cell {
		cells = append(cells, ms(took))
		if beside {
			cells = append(cells, ms(wall))
		}
		return table.Texts(append(cells, cache...)...)
	}
	libraries := compiled([]string{"library:", "source bytes", "kernels", "used"}, "compile ms")
	for _, l := range m.Libraries {
		libraries.Add(cells([]string{l.Library, strconv.Itoa(l.SourceBytes), strconv.Itoa(l.Kernels), strconv.Itoa(used[l.Library])}, l.Time, l.Wall(), l.Cache)...)
	}
	libraries.Footer = cells([]string{"sum", "", "", ""}, libSum, breakdown.Lost(m.Libraries))
	write(libraries)
	pipelines := compiled([]string{"library:", "pipeline:"}, "create ms")
	for _, c := range m.Pipelines {
		pipelines.Add(cells([]string{c.Library, c.Function}, c.Time, c.Wall(), c.Cache)...)
	}
	pipelines.Footer = cells([]string{"sum", ""}, pipeSum, breakdown.Lost(m.Pipelines))
	write(pipelines)
	if beside {
		lost := breakdown.Lost(m.Libraries) + breakdown.Lost(m.Pipelines)
		p.printf("made beside the thread that generates, which lost %s ms waiting for what took %s ms\n", ms(lost), ms(libSum+pipeSum))
	}
	if c := breakdown.LongestChain(by); c.Library != "" {
		p.printf("longest chain: %s and %s, %s of %s ms: what would remain if all the rest ran beside it\n", c.Library, c.Function, ms(c.Time), ms(libSum+pipeSum))
	}
	head := []string{"round:", "phase:", "wall ms", "compile"}
	rows := m.Folded()
	weighed := slices.ContainsFunc(rows, func(p breakdown.DevicePhase) bool { return p.Weights > 0 })
	if weighed {
		head = append(head, "weights")
	}
	phases := newTable(append(head, "encode", "commit", "wait", "unattr.", "GPU ms", "disp.", "enc.", "bufs")...)
	for _, p := range rows {
		count := func(n int64) string { return strconv.FormatInt(n, 10) }
		cells := []string{strconv.Itoa(p.Round), p.Title, ms(p.Time()), ms(p.Compiling())}
		if weighed {
			cells = append(cells, ms(p.Weights))
		}
		phases.Add(table.Texts(append(cells, ms(p.Encode), ms(p.Commit), ms(p.Wait),
			ms(p.Unattributed()), ms(p.GPU), count(p.Dispatches), count(p.Encoders), count(p.CommandBuffers))...)...)
	}
	write(phases)
	if m.Lost > 0 {
		p.printf("%d spans of the run are missing: sums and unattributed times are of what is there\n", m.Lost)
	}
	p.kernels(m)
}

// kernels prints where the device's time went. Recordings of older versions know
// nothing of what a kernel reads and computes, and keep the table that they had.
func (p *Printer) kernels(m breakdown.Metal) {
	kernels := m.Kernels
	if len(kernels) == 0 {
		return
	}
	if r := roofline.OfMetal(m); r.Known() {
		d, t := &table.Document{}, r.Table()
		t.Title = ""
		d.Table(t)
		r.Explain(d)
		p.document(d)
		return
	}
	var sum int64
	for _, k := range kernels {
		sum += k.Time
	}
	rows := newTable("kernel:", "dispatches", "device ms", "share")
	for _, k := range kernels {
		rows.Add(table.Texts(k.Name, strconv.FormatInt(k.Dispatches, 10), ms(time.Duration(k.Time)), figures.Percent(float64(k.Time)/float64(max(1, sum))))...)
	}
	p.table(rows)
}

// newTable returns a table with these columns; a colon behind its name makes
// one of words, to the left.
func newTable(names ...string) *table.Table {
	t := &table.Table{}
	for _, n := range names {
		name, left := n, false
		if k := len(n) - 1; n[k] == ':' {
			name, left = n[:k], true
		}
		t.Columns = append(t.Columns, table.Column{Name: name, Left: left})
	}
	return t
}

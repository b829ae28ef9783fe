package console

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/sanitize"
	"github.com/introgen/introgen/results/table"
	"github.com/introgen/introgen/trace/names"
)

// writeMetal writes the tables at the end of a traced run. Of one that came to no
// pass of the model those without rows are left out, and all of them where nothing
// was compiled either.
func writeMetal(w io.Writer, m breakdown.Metal) error {
	passed := slices.ContainsFunc(m.Phases, func(p breakdown.DevicePhase) bool { return p.Name != names.SpanBuild })
	if !passed && len(m.Libraries) == 0 && len(m.Pipelines) == 0 {
		return nil
	}
	write := func(t *table.Table) error {
		if len(t.Rows) == 0 && !passed {
			return nil
		}
		return t.Write(w, table.Plain)
	}
	by := m.ByLibrary()
	used := map[string]int{} // kernels that pipelines were made of
	for _, l := range by {
		used[l.Name] = len(l.Pipelines)
	}
	libSum, pipeSum := breakdown.Compiling(m.Libraries), breakdown.Compiling(m.Pipelines)
	libraries := newTable("library:", "source bytes", "kernels", "used", "compile ms", "cache:")
	for _, l := range m.Libraries {
		libraries.Add(table.Texts(l.Library, strconv.Itoa(l.SourceBytes), strconv.Itoa(l.Kernels), strconv.Itoa(used[l.Library]), ms(l.Time), l.Cache)...)
	}
	libraries.Footer = table.Texts("sum", "", "", "", ms(libSum))
	if err := write(libraries); err != nil {
		return err
	}
	pipelines := newTable("library:", "pipeline:", "create ms", "cache:")
	for _, p := range m.Pipelines {
		pipelines.Add(table.Texts(p.Library, p.Function, ms(p.Time), p.Cache)...)
	}
	pipelines.Footer = table.Texts("sum", "", ms(pipeSum))
	if err := write(pipelines); err != nil {
		return err
	}
	if c := breakdown.LongestChain(by); c.Library != "" {
		if _, err := fmt.Fprintf(w, "longest chain: %s and %s, %s of %s ms: what would remain if all the rest ran beside it\n",
			sanitize.Line(c.Library), sanitize.Line(c.Function), ms(c.Time), ms(libSum+pipeSum)); err != nil {
			return err
		}
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
	if err := write(phases); err != nil {
		return err
	}
	if m.Lost > 0 {
		if _, err := fmt.Fprintf(w, "%d spans of the run are missing: sums and unattributed times are of what is there\n", m.Lost); err != nil {
			return err
		}
	}
	return writeKernels(w, m.Kernels)
}

func writeKernels(w io.Writer, kernels []recording.Kernel) error {
	if len(kernels) == 0 {
		return nil
	}
	var sum int64
	for _, k := range kernels {
		sum += k.Time
	}
	rows := newTable("kernel:", "dispatches", "device ms", "share")
	for _, k := range kernels {
		rows.Add(table.Texts(k.Name, strconv.FormatInt(k.Dispatches, 10), ms(time.Duration(k.Time)), figures.Percent(float64(k.Time)/float64(max(1, sum))))...)
	}
	return rows.Write(w, table.Plain)
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

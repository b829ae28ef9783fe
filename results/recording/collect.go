package recording

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/introgen/introgen/trace"
)

// Collector builds a File from events as they come. In a file of one run after
// another all events belong to the header before them; in a plan, to the child between Start and
// Exit, and outside of these to the plan's own process.
type Collector struct {
	file *File
	run  *gathering // whom the next event belongs to; nil before the first header
	plan *gathering // the plan's own process, or nil
	// parent is the run of a plan whose program started what events come of; nil
	// where they are of a run's own.
	parent *gathering
	all    []*gathering
	stray  int // events that belong to nobody
	late   int // events behind the end of their run
	done   bool
	// doubts are told of once a kind, when all has been read.
	doubts doubts
	// unsaid counts the warnings beyond maxWarnings.
	unsaid int
}

// gathering is a run being collected.
type gathering struct {
	*Run
	headed bool
	at     map[trace.ID]int          // where in Spans, for those written while open
	torn   map[trace.ID]trace.Record // told once more as something else
	last   trace.ID
	sorted bool
	// operations are those that were told, and untold how many Executed named
	// others.
	operations map[int]bool
	untold     int
}

// NewCollector returns a collector of nothing yet.
func NewCollector() *Collector { return &Collector{file: &File{}} }

func (c *Collector) warn(format string, a ...any) {
	if len(c.file.Warnings) == maxWarnings {
		c.unsaid++
		return
	}
	c.file.Warnings = append(c.file.Warnings, fmt.Sprintf(format, a...))
}

func (c *Collector) begin() *gathering {
	g := &gathering{Run: &Run{}, at: map[trace.ID]int{}, torn: map[trace.ID]trace.Record{}, sorted: true, operations: map[int]bool{}}
	c.all = append(c.all, g)
	c.file.Runs = append(c.file.Runs, g.Run)
	return g
}

// child begins the run of a process that the program of the plan's run started,
// if that is what the header is of.
func (c *Collector) child(h *Header) bool {
	of := c.run
	if c.parent != nil {
		of = c.parent
	}
	if of.Start == nil || h.Program == nil || h.Program.Parent == 0 || of.Header.Program == nil {
		return false
	}
	c.parent = of
	c.run = c.begin()
	c.run.Header, c.run.headed = *h, true
	c.file.Runs = c.file.Runs[:len(c.file.Runs)-1]
	of.Children = append(of.Children, c.run.Run)
	return true
}

// Add takes the next event.
func (c *Collector) Add(e Event) {
	switch e := e.(type) {
	case *Header:
		if c.run != nil && c.run.headed && c.child(e) {
			return
		}
		if c.run == nil || c.run.headed {
			c.run = c.begin()
			if c.plan != nil {
				c.warn("a run of %q stands between the runs of the plan without its start", e.Command)
			}
		}
		c.run.Header, c.run.headed = *e, true
		return
	case *Plan:
		if c.run == nil || c.plan != nil || c.run.Start != nil {
			c.warn("a plan stands where none is expected: skipped")
			return
		}
		c.plan = c.run
		c.file.Plan, c.file.Header, c.file.Parent = e, &c.plan.Run.Header, c.plan.Run
		c.file.Runs = slices.DeleteFunc(c.file.Runs, func(r *Run) bool { return r == c.plan.Run })
		return
	case *Start:
		c.run = c.begin()
		c.run.Start = e
		return
	case *Exit:
		if c.parent != nil {
			c.run, c.parent = c.parent, nil
		}
		if c.run == nil || c.run.Start == nil || c.run.Start.Run != e.Run {
			c.warn("run %d has an exit and no start: skipped", e.Run)
			return
		}
		c.run.Exit = e
		c.run = c.plan
		return
	}
	_, unknown := e.(*Unknown)
	switch {
	case c.run == nil:
		c.stray++
	case c.run.End != nil && !unknown:
		c.late++
	default:
		c.run.add(e)
	}
}

func (g *gathering) add(e Event) {
	r := g.Run
	switch e := e.(type) {
	case *Span:
		g.span(e.Record)
	case *Count:
		r.Samples = append(r.Samples, e.Sample)
	case *Subject:
		r.Subject = e
	case *Device:
		r.Device = e
	case *Library:
		r.Libraries = append(r.Libraries, *e)
	case *Pipeline:
		r.Pipelines = append(r.Pipelines, *e)
	case *Dispatch:
		r.Dispatches = append(r.Dispatches, *e)
	case *Barrier:
		r.Barriers = append(r.Barriers, *e)
	case *Output:
		r.Outputs = append(r.Outputs, *e)
	case *Kernel:
		r.Kernels = append(r.Kernels, *e)
	case *Operation:
		g.operations[e.ID] = true
		r.Operations = append(r.Operations, e)
	case *Executed:
		if !g.knows(e) {
			g.untold++
			return
		}
		r.Executed = append(r.Executed, e)
	case *Limit:
		r.Limits = append(r.Limits, e)
	case *Round:
		r.Rounds = append(r.Rounds, *e)
	case *Evidence:
		r.Evidence = append(r.Evidence, *e)
	case *Machine:
		r.Machine = append(r.Machine, *e)
	case *Note:
		r.Notes = append(r.Notes, *e)
	case *End:
		r.End = e
		if r.Header.Model.Digest == "" {
			r.Header.Model.Digest = e.ModelDigest
		}
	case *Unknown:
		r.Unknown = append(r.Unknown, *e)
	}
}

// span takes a span; one that was written while it was open is replaced.
func (g *gathering) span(s trace.Record) {
	if i, ok := g.at[s.ID]; ok {
		open := g.Spans[i]
		if open.End = s.End; open != s {
			g.torn[s.ID] = s
		}
		g.Spans[i] = s
		if s.End >= 0 {
			delete(g.at, s.ID)
		}
		return
	}
	if s.End < 0 {
		g.at[s.ID] = len(g.Spans)
	}
	g.sorted = g.sorted && s.ID > g.last
	g.last = s.ID
	g.Spans = append(g.Spans, s)
}

// single leaves one span of each number. Two that say the same are one; of two
// that do not none can be believed.
func (g *gathering) single(tell func(kind, text string)) {
	if !g.sorted {
		slices.SortStableFunc(g.Spans, func(a, b trace.Record) int { return cmp.Compare(a.ID, b.ID) })
		for i, s := range g.Spans[min(1, len(g.Spans)):] {
			if before := g.Spans[i]; before.ID == s.ID && before != s {
				g.torn[s.ID] = s
			}
		}
		n := len(g.Spans)
		g.Spans = slices.CompactFunc(g.Spans, func(a, b trace.Record) bool { return a.ID == b.ID })
		if n -= len(g.Spans); n > len(g.torn) {
			tell("repeated", fmt.Sprintf("%d spans stand there more than once: each counts once", n-len(g.torn)))
		}
	}
	if len(g.torn) == 0 {
		return
	}
	g.Spans = slices.DeleteFunc(g.Spans, func(s trace.Record) bool {
		other, ok := g.torn[s.ID]
		if ok {
			tell("torn", fmt.Sprintf("%s stands there once more as something else: neither counts", called(other)))
		}
		return ok
	})
}

// name tells a run of several apart in what is said of it.
func (c *Collector) name(i int, r *Run) string {
	if r.Start == nil && c.file.Plan == nil && len(c.file.Runs) > 1 {
		return fmt.Sprintf("run %d: ", i)
	}
	return r.Start.said()
}

// File is what has been collected; nothing is added afterwards.
func (c *Collector) File() *File {
	if c.done {
		return c.file
	}
	c.done = true
	if c.plan != nil {
		c.file.PlanEnd = c.plan.End
	}
	headless := map[*Run]bool{}
	for i, g := range c.all {
		headless[g.Run] = !g.headed
		name := c.name(i+1, g.Run)
		g.addCodes()
		g.single(func(kind, text string) { c.doubts.tell(kind, name+text) })
		if g.untold > 0 {
			c.doubts.tell("untold operations", fmt.Sprintf("%s%d times operations ran that had not been told before: they do not count", name, g.untold))
		}
		j := &judge{Run: g.Run, name: name, doubts: &c.doubts}
		j.all()
	}
	c.file.judge(&c.doubts, headless)
	for _, text := range c.doubts.texts() {
		c.warn("%s", text)
	}
	if c.stray > 0 {
		c.warn("%d events stand before any header: skipped", c.stray)
	}
	if c.late > 0 {
		c.warn("%d events stand behind the end of their run: skipped", c.late)
	}
	if c.unsaid > 0 {
		c.file.Warnings = append(c.file.Warnings, fmt.Sprintf("%d more warnings like these", c.unsaid))
		c.unsaid = 0
	}
	return c.file
}

package compileplan

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/recording"
)

// Of makes a plan of what a run compiled, or took from a cache. It is an error where
// that is nothing, or where the recording lacks spans which may have been more.
func Of(run *breakdown.Run) (*Plan, error) {
	if n := run.LostSpans(); n > 0 {
		return nil, fmt.Errorf("of the run %d spans are missing from the recording, which may have been libraries or pipelines, so that a plan of it would not be whole", n)
	}
	p := &Plan{Format: Format, Version: Version, From: from(run), Libraries: []Library{}}
	if d := run.Device; d != nil {
		p.Driver, p.Device, p.Kernels, p.Digest = d.Driver, d.Name, d.Kernels, d.Digest
	}
	m := run.Metal()
	made := slices.Concat(m.Libraries, m.Pipelines)
	slices.SortStableFunc(made, func(x, y breakdown.Compile) int { return cmp.Compare(x.Start, y.Start) })
	b := builder{plan: p, at: map[string]int{}, unclear: map[string]string{}, planned: map[string]bool{}, lacks: map[Left]bool{}, phase: phases(run)}
	for _, c := range made {
		if c.IsLibrary() {
			b.library(c)
		}
	}
	for _, c := range made {
		if !c.IsLibrary() {
			b.pipeline(c)
		}
	}
	p.Libraries = slices.DeleteFunc(p.Libraries, func(l Library) bool { return b.unclear[l.Name] != "" })
	if len(p.Libraries) == 0 && len(p.Left) == 0 {
		return nil, errors.New("it made no library and no pipeline, so that there is nothing to plan")
	}
	if len(p.Libraries) == 0 {
		return nil, fmt.Errorf("nothing that it made can be said exactly: %s", p.Left[0].Why)
	}
	return p, p.check()
}

// from says which run it was.
func from(run *breakdown.Run) string {
	text := "introgen " + run.Header.Command
	if p := run.Header.Program; p != nil {
		text = p.Path
	} else if run.Header.Model.File != "" {
		text += " of " + run.Header.Model.File
	}
	if !run.Header.Started.IsZero() {
		text += ", recorded " + run.Header.Started.UTC().Format(time.DateTime)
	}
	return shortened(text)
}

// builder collects a plan.
type builder struct {
	plan    *Plan
	at      map[string]int    // of a library in the plan
	unclear map[string]string // libraries that cannot be told apart, and why
	planned map[string]bool   // pipelines that are in the plan
	lacks   map[Left]bool
	phase   func(time.Duration) string
}

// left notes what is not in the plan, once.
func (b *builder) left(c breakdown.Compile, why string) {
	l := Left{shortened(c.Library), shortened(c.Function), shortened(c.Constants), why}
	if !b.lacks[l] && len(b.plan.Left) < mostPipelines {
		b.lacks[l] = true
		b.plan.Left = append(b.plan.Left, l)
	}
}

// unnamed is what a recording calls the library of a pipeline that it knows nothing
// of.
const unnamed = "?"

func (b *builder) library(c breakdown.Compile) {
	if i, there := b.at[c.Library]; there {
		// Made again of the same source, as after a release, it is needed once.
		if l := b.plan.Libraries[i]; l.SourceBytes != c.SourceBytes {
			b.unclear[c.Library] = fmt.Sprintf("libraries of %d and %d bytes of source are both called so: give each a label of its own (MTLLibrary.label)", l.SourceBytes, c.SourceBytes)
			b.left(c, b.unclear[c.Library])
		}
		return
	}
	if why := nameless("library", c.Library); why != "" {
		b.left(c, why)
		return
	}
	l := Library{Name: c.Library, SourceBytes: c.SourceBytes, Phase: b.phase(c.Start), Pipelines: []Pipeline{}}
	if measured(c.Cache) {
		l.Nanoseconds = int64(c.Time)
	}
	b.at[c.Library] = len(b.plan.Libraries)
	b.plan.Libraries = append(b.plan.Libraries, l)
}

// nameless says why nobody could find what is called so; "" of a name.
func nameless(what, name string) string {
	if name == "" || name == unnamed {
		return "the recording does not know the name of its " + what
	}
	if err := checkName(what, name); err != nil {
		return err.Error()
	}
	return ""
}

func (b *builder) pipeline(c breakdown.Compile) {
	why := cmp.Or(b.unclear[c.Library], nameless("library", c.Library), nameless("function", c.Function))
	constants, err := ParseConstants(c.Constants)
	if err == nil && len(constants) > mostConstants {
		err = fmt.Errorf("it has %d constants: at most %d are taken", len(constants), mostConstants)
	}
	if err != nil {
		why = cmp.Or(why, err.Error())
	}
	if why != "" {
		b.left(c, why)
		return
	}
	key := fmt.Sprintf("%q %q %s", c.Library, c.Function, c.Constants)
	if b.planned[key] {
		return
	}
	b.planned[key] = true
	i, there := b.at[c.Library]
	if !there { // made before the recording began, or by other means than from source
		i = len(b.plan.Libraries)
		b.at[c.Library] = i
		b.plan.Libraries = append(b.plan.Libraries, Library{Name: c.Library, Phase: b.phase(c.Start), Pipelines: []Pipeline{}})
	}
	x := Pipeline{Function: c.Function, Constants: constants, Phase: b.phase(c.Start), Need: len(b.planned)}
	if measured(c.Cache) {
		x.Nanoseconds = int64(c.Time)
	}
	b.plan.Libraries[i].Pipelines = append(b.plan.Libraries[i].Pipelines, x)
}

// phases returns a function that says in which phase a moment lies.
func phases(run *breakdown.Run) func(time.Duration) string {
	type phase struct {
		start, end time.Duration
		title      string
	}
	var all []phase
	add := func(p breakdown.Phase) { all = append(all, phase{p.Start, p.End, shortened(p.Title())}) }
	for _, r := range run.Rounds {
		for _, p := range r.Phases {
			add(p)
		}
	}
	for _, p := range run.Top() { // rounds too, behind their phases, which are more exact
		add(p)
	}
	return func(at time.Duration) string {
		i := slices.IndexFunc(all, func(p phase) bool { return at >= p.start && at < p.end })
		if i < 0 {
			return ""
		}
		return all[i].title
	}
}

// Run is the run of a recording that a plan is made of: of those that count the one
// that made the most, the first of several.
func Run(f *breakdown.File) (*breakdown.Run, error) {
	var most *breakdown.Run
	made := 0
	consider := func(r *recording.Run) {
		if n := len(r.Libraries) + len(r.Pipelines); n > made {
			most, made = f.Run(r), n
		}
	}
	for _, r := range f.Runs {
		if !r.Counts() {
			continue
		}
		consider(r)
		for _, child := range r.Children {
			consider(child)
		}
	}
	if most == nil {
		return nil, errors.New("no run of it that counts made a library or a pipeline: record one on Metal, such as `introgen metal 1 --nonce` or `introgen record -- PROGRAM`")
	}
	return most, nil
}

// shortened cuts a text that is only to be read.
func shortened(s string) string {
	if r := []rune(s); len(r) > longestText {
		return string(r[:longestText-1]) + "…"
	}
	return s
}

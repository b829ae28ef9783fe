package coverage

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/answers/samples"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/foreign"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/table"
	"github.com/introgen/introgen/trace/names"
)

// Of a program nobody can compute what it will need. What its recording says is in
// which phase it made what for the first time, and so how far a warm-up has to come.

// Stage is a phase of a program, or all its later steps, with what was first made
// in it.
type Stage struct {
	Name                 string
	Libraries, Pipelines []Use
	Time                 time.Duration // of the wall clock that made them
}

// Program is what a recorded program made, stage by stage.
type Program struct {
	Name   string // of the program
	Stages []Stage
	All    Count
	Cover  int  // the stage by whose end all was made; −1 where nothing was
	Lost   bool // spans are missing, which may have made more
}

// OfProgram takes a run of a program apart.
func OfProgram(run *breakdown.Run) *Program {
	p := &Program{Name: foreign.Name(run.Header.Program), Cover: -1}
	seen := map[Use]bool{}
	for _, r := range run.Rounds {
		p.Lost = p.Lost || r.Lost()
		for _, phase := range r.Phases {
			name := stageName(r, phase)
			i := slices.IndexFunc(p.Stages, func(s Stage) bool { return s.Name == name })
			if i < 0 {
				i = len(p.Stages)
				p.Stages = append(p.Stages, Stage{Name: name})
			}
			s := &p.Stages[i]
			for _, c := range phase.Compiles {
				u := Use{c.Library, c.Function, c.Constants}
				if seen[u] {
					continue
				}
				seen[u], p.Cover = true, max(p.Cover, i)
				s.Time += c.Wall()
				if c.IsLibrary() {
					s.Libraries, p.All.Libraries = append(s.Libraries, u), p.All.Libraries+1
				} else {
					s.Pipelines, p.All.Pipelines = append(s.Pipelines, u), p.All.Pipelines+1
				}
			}
		}
	}
	return p
}

// stageName puts later steps together, and tells generations apart.
func stageName(r breakdown.Round, p breakdown.Phase) string {
	name := p.Title()
	switch {
	case p.Name == names.SpanStep && p.N > 1:
		name = breakdown.LaterSteps
	case p.Name == names.SpanRepeat && p.N > 1:
		name = breakdown.LaterRepeats
	}
	if r.Number > 1 {
		name += fmt.Sprintf(", generation %d", r.Number)
	}
	return name
}

// Programs is the document of the programs of a recording.
func Programs(f *recording.File) (*table.Document, error) {
	d := &table.Document{}
	taken := breakdown.Of(f)
	n := 0
	for _, run := range f.Runs {
		if !foreign.Is(run) {
			continue
		}
		if n++; !run.Counts() {
			d.Say("%s does not count: it %s.", foreign.Name(run.Header.Program), run.Uncounted())
			continue
		}
		OfProgram(taken.Run(run)).add(d)
		if f.Plan != nil {
			break // one of each arm would say the same
		}
	}
	if n == 0 {
		return nil, errors.New("it holds no recorded program: of introgen's own engine coverage is computed, without a recording")
	}
	return d, nil
}

// add puts the program into a table and sentences.
func (p *Program) add(d *table.Document) {
	if p.Cover < 0 {
		d.Say("%s makes no library and no pipeline, so that there is nothing to warm up.", p.Name)
		return
	}
	t := &table.Table{Title: p.Name + ": what each phase makes for the first time", Columns: []table.Column{{Name: "phase", Left: true}, {Name: "libraries"}, {Name: "pipelines"},
		{Name: "ms", Parts: []string{""}}, {Name: "LIB so far"}, {Name: "PIPE so far"}}}
	var so Count
	for _, s := range p.Stages {
		so.Libraries, so.Pipelines = so.Libraries+len(s.Libraries), so.Pipelines+len(s.Pipelines)
		t.Add(table.Text(s.Name), number(len(s.Libraries)), number(len(s.Pipelines)), table.Cell{Text: figures.Milliseconds(s.Time), Parts: []string{samples.Exact(float64(s.Time))}},
			table.Text(fmt.Sprintf("%d of %d", so.Libraries, p.All.Libraries)), table.Text(fmt.Sprintf("%d of %d", so.Pipelines, p.All.Pipelines)))
	}
	d.Table(t)
	last := p.Stages[p.Cover]
	d.Say("The smallest warm-up that covers all that was recorded ends with %q; `introgen remedy` says what it would save.", last.Name)
	if p.Cover > 0 {
		if len(last.Libraries)+len(last.Pipelines) < p.All.Libraries+p.All.Pipelines { // else nothing is covered before
			d.Say("One that ends with %q leaves %s to it.", p.Stages[p.Cover-1].Name, listed(last))
		}
	}
	if p.Lost {
		d.Say("Spans of the recording are missing, which may have made more.")
	}
}

func number(n int) table.Cell { return table.Text(fmt.Sprint(n)) }

// listed is what a stage makes, in words.
func listed(s Stage) string {
	var all []string
	for _, l := range s.Libraries {
		all = append(all, "library "+l.Library)
	}
	const told = 4
	for i, p := range s.Pipelines {
		if i == told {
			all = append(all, figures.Number(len(s.Pipelines)-told, "more pipeline"))
			break
		}
		all = append(all, "pipeline "+strings.TrimSpace(p.Library+" "+p.String()))
	}
	return strings.Join(all, ", ")
}

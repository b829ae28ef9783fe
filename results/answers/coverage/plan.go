package coverage

import (
	"slices"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/table"
)

// Planned is what a compile plan covers of a run.
type Planned struct {
	Name         string // of the plan
	Full         Run
	All, Covered Count
	Missing      []Missing // in the order in which the run needs it
	Unneeded     []Use     // what the plan has and the run does not need
}

// OfPlan says what a plan covers of what a run needs.
func OfPlan(name string, full recording.Foretold, plan []Use) *Planned {
	var has []recording.Need
	for _, u := range plan {
		has = append(has, recording.Need{Library: u.Library, Function: u.Function, Constants: u.Constants})
	}
	p := &Planned{Name: name, Full: runOf(full), All: count(full.Needs), Missing: without(full.Needs, has)}
	p.Covered = p.All.less(p.Missing)
	for _, u := range plan {
		if !slices.ContainsFunc(full.Needs, func(n recording.Need) bool { return useOf(n) == u }) {
			p.Unneeded = append(p.Unneeded, u)
		}
	}
	return p
}

// Document is the answer as a table and sentences.
func (p *Planned) Document() *table.Document {
	var d table.Document
	d.Say("The plan %s has %d of the %d libraries and %d of the %d pipelines of a run of %s and %s.", p.Name, p.Covered.Libraries, p.All.Libraries,
		p.Covered.Pipelines, p.All.Pipelines, figures.Number(p.Full.Prompt, "prompt token"), figures.Number(p.Full.Steps, "decode step"))
	if len(p.Missing) > 0 {
		d.Table(missing(p.Missing))
	} else {
		d.Say("After a warm-up with it the run compiles nothing.")
	}
	if n := len(p.Unneeded); n > 0 {
		d.Say("The run does not need %s of it.", figures.Number(n, "pipeline"))
	}
	return &d
}

package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/introgen/introgen/bench/plan"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/table"
	"github.com/introgen/introgen/system/machine"
	"github.com/urfave/cli/v2"
)

// runPlan makes the runs as the flags say, records them, and prints the answer,
// also of what there is after an interrupt.
func runPlan(c *cli.Context, p planned) error {
	o, err := planOptions(c)
	if err != nil {
		return err
	}
	style, err := readStyle(c)
	if err != nil {
		return err
	}
	o.Plan.Arms, o.Plan.Factors, o.Plan.Coverage, o.Metric = p.arms, p.factors, p.foretold, p.metric
	if p.once && !c.IsSet("runs") && !c.IsSet("until") {
		o.Max = 0
	}
	o.Max = max(o.Max, p.blocks)
	if o.Plan.Factors == nil {
		o.Plan.Factors = []string{}
	}
	s := sessionOf(c)
	header := newHeader(c, s.args, map[string]recording.Knob{"seed": origin(c, "seed", "", strconv.FormatUint(o.Plan.Seed, 10), false)})
	header.Clock = machine.Clock() - int64(s.rec.Now())
	if err := s.open(c); err != nil {
		return err
	}
	if s.profile != nil {
		s.note("--" + profileName + " profiles the process that makes the runs; a run is profiled by the same flag in its own command line")
	}
	status := newStatus(c.App.ErrWriter)
	o.Header, o.Out = *header, planSink{s}
	told := newTeller(status, p.lasts)
	o.Progress = told.tell
	s.waitsFor(told.text)
	var doc *table.Document
	o.Judge = func(f *recording.File) (err error) {
		if doc, err = reportOf(f); err != nil {
			return err
		}
		return lost(f)
	}
	f, err := plan.Run(c.Context, o)
	told.end()
	var usage *plan.UsageError
	if errors.As(err, &usage) || f == nil {
		s.out.discard()
		return misuse(err)
	}
	s.out.close(s.stderr)
	s.out.writeViews(f)
	if doc == nil { // the plan has failed: that there is nothing to say is not worth another error
		doc, _ = reportOf(f)
	}
	if doc != nil {
		err = errors.Join(err, doc.Write(c.App.Writer, style))
	}
	return s.ending(c.Context, err)
}

// lost is the error that arms are of which no run counts: the answer is of the
// others, and what was asked for is not there.
func lost(f *recording.File) error {
	var arms []string
	for _, a := range f.Plan.Arms {
		if len(f.Counted(a.Name)) > 0 {
			continue
		}
		why := ""
		for _, r := range f.Runs {
			if r.Start.Arm == a.Name && r.Exit.Refused != "" {
				why = ", the last because it " + r.Exit.Refused
			}
		}
		arms = append(arms, a.Name+why)
	}
	if len(arms) == 0 {
		return nil
	}
	return fmt.Errorf("%d of %d kinds of run have no run that counts: %s", len(arms), len(f.Plan.Arms), strings.Join(arms, "; "))
}

// planSink hands a plan's events on to the session's outputs. A recording that
// fails is given up, as that of a single run.
type planSink struct{ s *session }

func (p planSink) Put(e recording.Event) error {
	return p.locked(func(o *outputs) { o.put(e) })
}

func (p planSink) PutLine(line []byte) error {
	return p.locked(func(o *outputs) { o.putLine(line) })
}

func (p planSink) Flush() error { return p.locked((*outputs).flush) }

func (p planSink) locked(do func(*outputs)) error {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	do(&p.s.out)
	return nil
}

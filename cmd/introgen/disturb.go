package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/introgen/introgen/bench"
	"github.com/introgen/introgen/bench/phasefault"
	"github.com/introgen/introgen/metalshim/callfault"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
	"github.com/urfave/cli/v2"
)

// What --detail can be.
const (
	detailFull   = "full"
	detailPhases = "phases"
)

// disturbFlags are flags of the generating commands that no user needs.
func disturbFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "fault", Hidden: true, Usage: "delay, slow down or fail phases and Metal's calls: read,delay=50ms;step,slow=5%;lib=Gemm,delay=2s"},
		&cli.StringFlag{Name: "detail", Hidden: true, Value: detailFull, Usage: "what is recorded: full, or phases without decode steps and what is below them"},
		&cli.StringFlag{Name: "pauses", Hidden: true, Usage: "pause for these `LENGTHS` between decode steps, in random order"},
		&cli.Uint64Flag{Name: "pause-seed", Hidden: true, Usage: "of that order"},
	}
}

// disturbance is what a run is told to do besides generating: by commands that
// measure what comes of it, and by tests.
type disturbance struct {
	untraced bool
	phases   *phasefault.Injector // nil where none is wanted
	calls    *callfault.Injector  // of Metal; nil where none is wanted
	schedule bench.Pauses
}

func readDisturbance(c *cli.Context) (d disturbance, err error) {
	switch detail := c.String("detail"); detail {
	case detailFull:
	case detailPhases:
		d.untraced = true
	default:
		return d, usagef("--detail %q: %s or %s is wanted", detail, detailFull, detailPhases)
	}
	if text := c.String("pauses"); text != "" {
		d.schedule.Seed = c.Uint64("pause-seed")
		if d.schedule.Lengths, err = bench.ParsePauses(text); err != nil {
			return d, usagef("--pauses: %w", err)
		}
	}
	if !c.IsSet("fault") {
		return d, nil
	}
	phases, calls := c.String("fault"), ""
	if c.Command.Name == "metal" {
		phases, calls = phasefault.Split(phases)
	}
	if phases != "" || c.Command.Name != "metal" {
		plan, err := phasefault.Parse(phases)
		if err != nil {
			return d, usagef("--fault: %w", err)
		}
		d.phases = phasefault.New(plan)
	}
	if calls != "" || d.phases == nil {
		plan, err := callfault.Parse(calls)
		if err != nil {
			return d, usagef("--fault: %w", err)
		}
		d.calls = callfault.New(plan)
	}
	return d, nil
}

// around is what stands around the phases of a run; nil where nothing does.
func (d *disturbance) around(ctx context.Context) func(string, func() error) error {
	if d.phases == nil {
		return nil
	}
	return d.phases.Around(ctx)
}

// pause pauses before a decode step, where one is to be made there. It ends
// early with the context, which whoever makes the steps looks at.
func (d *disturbance) pause(ctx context.Context, rec *trace.Recorder, step int) {
	length, ok := d.schedule.Before(step)
	if !ok {
		return
	}
	sp := rec.Begin(names.SpanPause, "", int64(length))
	defer sp.End()
	if length == 0 {
		return
	}
	select {
	case <-time.After(length):
	case <-ctx.Done():
	}
}

// unused is an error that names the planted faults that never happened: what
// was measured without them would be taken for something else.
func (d *disturbance) unused() error {
	var rules []string
	if d.phases != nil {
		for _, r := range d.phases.Unused() {
			rules = append(rules, r.String())
		}
	}
	if d.calls != nil {
		for _, r := range d.calls.Unused() {
			rules = append(rules, r.String())
		}
	}
	if len(rules) == 0 {
		return nil
	}
	return fmt.Errorf("--fault: nothing in this run matched %s; names are those of libraries and functions, n counts from 1 over all rounds", strings.Join(rules, " nor "))
}

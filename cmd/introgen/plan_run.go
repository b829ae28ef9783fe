package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/introgen/introgen/bench/machine"
	"github.com/introgen/introgen/bench/plan"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/shellwords"
	"github.com/introgen/introgen/results/table"
	"github.com/urfave/cli/v2"
)

// planFlags are those of every command that makes many runs.
func planFlags() []cli.Flag {
	return append([]cli.Flag{
		&cli.IntFlag{Name: "runs", Value: plan.DefaultRuns, Usage: "runs `N` of each kind, interleaved; with --until the least. An interval needs 6"},
		&cli.StringFlag{Name: "until", Usage: "go on until the widest interval is this `PART` of its middle, such as 2%"},
		&cli.StringFlag{Name: "order", Value: plan.OrderRandom, Usage: "of the kinds within a block of runs: random or abba"},
		&cli.Uint64Flag{Name: "seed", Usage: "of the random order `N`, to repeat it", DefaultText: "another each time"},
		&cli.StringFlag{Name: "prepare", Usage: "run `CMD` with sh before every run"},
	}, waitFlags()...)
}

// waitFlags are those of planFlags that say how long, and where to.
func waitFlags() []cli.Flag {
	return append([]cli.Flag{
		&cli.DurationFlag{Name: "max-time", Usage: "begin no block of runs that would end later than after `T`, such as 5m"},
		&cli.DurationFlag{Name: "cooldown", Usage: "wait for `T` before every run but the first"},
		&cli.DurationFlag{Name: "timeout", Value: plan.DefaultTimeout, Usage: "end a run that lasts longer than `T`; it is kept as hung and does not count"},
		styleFlag(),
	}, outputFlags()...)
}

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
	o.Plan.Arms, o.Plan.Factors, o.Metric = p.arms, p.factors, p.metric
	o.Max = max(o.Max, p.blocks)
	if o.Plan.Factors == nil {
		o.Plan.Factors = []string{}
	}
	s := sessionOf(c)
	header := newHeader(c, s.args, map[string]recording.Knob{"seed": {Value: strconv.FormatUint(o.Plan.Seed, 10), Origin: seedOrigin(c)}})
	header.Clock = machine.Clock() - int64(s.rec.Now())
	if err := s.open(c); err != nil {
		return err
	}
	status := newStatus(c.App.ErrWriter)
	o.Header, o.Out = *header, planSink{s}
	told := newTeller(status, p.lasts)
	o.Progress = told.tell
	s.waitsFor(told.text)
	f, err := plan.Run(c.Context, o)
	told.end()
	var usage *plan.UsageError
	if errors.As(err, &usage) || f == nil {
		s.out.discard()
		return usageError{err}
	}
	s.out.close(s.stderr)
	s.out.writeViews(f)
	err = errors.Join(err, printReport(c, f, style, err != nil))
	if err == nil {
		err = lost(f)
	}
	return s.ending(c.Context, err)
}

// lost is the error that arms are of which no run counts: the answer is of the
// others, and what was asked for is not there. The plan itself has ended well.
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

// printReport prints what the runs say. Where the plan has failed, that there is
// nothing to say is not worth another error.
func printReport(c *cli.Context, f *recording.File, style table.Style, failed bool) error {
	doc, err := reportOf(f)
	if err != nil {
		if failed {
			return nil
		}
		return err
	}
	return doc.Write(c.App.Writer, style)
}

// planOptions reads the flags that the command has of planFlags.
func planOptions(c *cli.Context) (o plan.Options, err error) {
	o.Max = c.Int("runs")
	if has(c, "runs") && (o.Max < 1 || o.Max > plan.MostBlocks) {
		return o, usagef("--runs %d: 1 to %d are allowed; an interval needs %d", o.Max, plan.MostBlocks, plan.DefaultRuns)
	}
	if text := c.String("until"); text != "" {
		if o.Plan.Until, err = parsePart(text); err != nil {
			return o, usagef("--until %q: %w", text, err)
		}
		o.Min, o.Max = o.Max, plan.MostBlocks
	}
	for name, to := range map[string]*time.Duration{"max-time": &o.MaxTime, "cooldown": &o.Cooldown, "timeout": &o.Timeout} {
		if *to = c.Duration(name); *to < 0 || name == "timeout" && *to == 0 && has(c, name) {
			return o, usagef("--%s %v: a time above 0 is wanted, such as 30s", name, *to)
		}
	}
	o.Prepare, o.Plan.Order = c.String("prepare"), c.String("order")
	if o.Plan.Order != "" && o.Plan.Order != plan.OrderRandom && o.Plan.Order != plan.OrderABBA {
		return o, usagef("--order %q is not known: %s or %s", o.Plan.Order, plan.OrderRandom, plan.OrderABBA)
	}
	o.Plan.Seed = readSeed(c)
	return o, nil
}

// readSeed is --seed, or a number short enough to be typed again.
func readSeed(c *cli.Context) uint64 {
	if c.IsSet("seed") {
		return c.Uint64("seed")
	}
	return rand.Uint64N(1_000_000)
}

func has(c *cli.Context, flag string) bool {
	return slices.ContainsFunc(c.Command.Flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), flag) })
}

func seedOrigin(c *cli.Context) string {
	if c.IsSet("seed") {
		return recording.FromFlag
	}
	return recording.FromDefault
}

// parsePart reads 2% or 0.02.
func parsePart(text string) (float64, error) {
	number, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		v /= 100
	}
	if err != nil || !(v > 0 && v <= 1) {
		return 0, errors.New("a part from 0% to 100% is wanted, such as 2%")
	}
	return v, nil
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

// childCommand reads a command line of introgen that is to be run many times.
// taken are flags that the plan gives itself.
func childCommand(line string, taken ...string) ([]string, error) {
	args, err := shellwords.Split(line)
	if err != nil {
		return nil, usagef("%q: %w", line, err)
	}
	if len(args) > 0 && args[0] == "introgen" {
		args = args[1:]
	}
	if len(args) == 0 || args[0] != "cpu" && args[0] != "metal" {
		return nil, usagef("%q is no command that generates: cpu or metal with its flags is wanted, such as 'cpu --threads 1'", line)
	}
	for _, a := range args[1:] {
		name, _, _ := strings.Cut(strings.TrimLeft(a, "-"), "=")
		if !strings.HasPrefix(a, "-") {
			continue
		}
		if name == "o" || name == "output" {
			return nil, usagef("%q: %s belongs to the command that makes the runs, whose recording holds all of them", line, a)
		}
		if slices.Contains(taken, name) {
			return nil, usagef("%q: --%s is set by this command", line, name)
		}
	}
	return args, nil
}

func readStyle(c *cli.Context) (table.Style, error) {
	style, err := table.ParseStyle(c.String("style"))
	if err != nil {
		return "", usageError{fmt.Errorf("--style: %w", err)}
	}
	return style, nil
}

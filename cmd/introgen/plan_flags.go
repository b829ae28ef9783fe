package main

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/introgen/introgen/bench/plan"
	"github.com/introgen/introgen/cmd/introgen/commandline"
	"github.com/introgen/introgen/results/shellwords"
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

// planOptions reads the flags that the command has of planFlags.
func planOptions(c *cli.Context) (o plan.Options, err error) {
	has := func(flag string) bool { return commandline.Lookup(flag, c.Command.Flags) != nil }
	o.Max = c.Int("runs")
	if has("runs") && (o.Max < 1 || o.Max > plan.MostBlocks) {
		return o, usagef("--runs %d: 1 to %d are allowed; an interval needs %d", o.Max, plan.MostBlocks, plan.DefaultRuns)
	}
	if text := c.String("until"); text != "" {
		if o.Plan.Until, err = readPart(text); err != nil {
			return o, usagef("--until %q: %w", text, err)
		}
		o.Min, o.Max = o.Max, plan.MostBlocks
	}
	for name, to := range map[string]*time.Duration{"max-time": &o.MaxTime, "cooldown": &o.Cooldown, "timeout": &o.Timeout} {
		if *to = c.Duration(name); *to < 0 || name == "timeout" && *to == 0 && has(name) {
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

// modelOfAll is what --model takes of a command that makes many runs.
const modelOfAll = "the model of all runs: a GGUF `FILE`, or a name that `introgen model list` shows"

// childFlags adds the flags that every run of a plan gets.
func childFlags(flags []cli.Flag) []cli.Flag {
	return append(flags,
		modelFlag(modelOfAll),
		tokensFlag("decode steps `N` a round"),
		&cli.StringFlag{Name: "with", Usage: "more `FLAGS` for every run: --with '--io file --prompt Hello'"},
	)
}

// given are the arguments that those flags make.
func given(c *cli.Context) ([]string, error) {
	var args []string
	if c.IsSet("model") {
		args = append(args, "--model", c.String("model"))
	}
	tokens, err := readTokens(c)
	if err != nil {
		return nil, err
	}
	if c.IsSet("tokens") {
		args = append(args, "--tokens", strconv.Itoa(tokens))
	}
	more, err := moreFlags("--with", c.String("with"))
	return append(args, more...), err
}

// moreFlags reads flags that are added to the runs' command lines.
func moreFlags(what, text string) ([]string, error) {
	args, err := shellwords.Split(text)
	if err != nil {
		return nil, usagef("%s %q: %w", what, text, err)
	}
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		return nil, usagef("%s %q: flags are wanted, such as '--threads 1'", what, text)
	}
	if len(args) > 0 {
		if _, err := childCommand(shellwords.Join(append([]string{"cpu"}, args...))); err != nil {
			return nil, err
		}
	}
	return args, nil
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

// oneChild is the command line that a command takes as its one argument.
func oneChild(c *cli.Context, otherwise string, taken ...string) ([]string, error) {
	if c.NArg() > 1 {
		return nil, usagef("%s takes one command line; %q is too many", c.Command.Name, c.Args().Get(1))
	}
	if c.NArg() == 0 {
		return childCommand(otherwise, taken...)
	}
	return childCommand(c.Args().First(), taken...)
}

package main

import (
	"slices"
	"strconv"

	"github.com/introgen/introgen/bench"
	"github.com/introgen/introgen/bench/plan"
	"github.com/introgen/introgen/results/answers/idlegap"
	"github.com/introgen/introgen/results/recording"
	"github.com/urfave/cli/v2"
)

// mostSamples keeps a run within the model's context.
const mostSamples = 100

func idleGapPlan() planCommand {
	return planCommand{
		Command: &cli.Command{
			Name:      "idle-gap",
			Usage:     "show what a pause does to the decode step that follows it",
			ArgsUsage: "['COMMAND LINE']",
			Description: "Makes one run with pauses between its decode steps, in random order, each as often as the others.\n" +
				"Processors and devices leave their highest clock when nothing is asked of them: a program that waits\n" +
				"for its user pays for that with the first token.\n\n" +
				"Examples:\n" +
				"   introgen idle-gap                               of cpu, which takes over a minute\n" +
				"   introgen idle-gap --pauses 0,0.1,1 'cpu --threads 1'\n" +
				"   introgen idle-gap metal",
			Flags: append([]cli.Flag{
				&cli.StringFlag{Name: "pauses", Value: "0,0.1,1,10", Usage: "`LENGTHS` in seconds, or with a unit"},
				&cli.IntFlag{Name: "samples", Value: plan.DefaultRuns, Usage: "how often `N` each pause is made; an interval needs 6"},
				&cli.Uint64Flag{Name: "seed", Usage: "of the random order `N`, to repeat it", DefaultText: "another each time"},
			}, waitFlags()...),
		},
		plan:   planIdleGap,
		answer: always(documentOf(idlegap.Of)),
	}
}

func planIdleGap(c *cli.Context) (p planned, err error) {
	args, err := oneChild(c, "cpu", "pauses", "pause-seed", "tokens")
	if err != nil {
		return p, err
	}
	lengths, err := bench.ParsePauses(c.String("pauses"))
	if err != nil {
		return p, misuse(err)
	}
	n := c.Int("samples")
	if n < 1 || n > mostSamples {
		return p, usagef("--samples %d: 1 to %d are allowed; an interval needs %d", n, mostSamples, plan.DefaultRuns)
	}
	s := bench.Pauses{Lengths: lengths}
	if total := s.Total(n); c.Duration("timeout") <= total {
		return p, usagef("--timeout %v: the pauses alone are %v; give it more time, or fewer --samples", c.Duration("timeout"), total)
	}
	return planned{blocks: 1, lasts: s.Total(n), arms: []recording.Arm{{Name: "pauses", Args: slices.Concat(args, []string{"1",
		"--tokens", strconv.Itoa(s.Steps(n)), "--pauses", bench.PausesText(lengths), "--pause-seed", strconv.FormatUint(readSeed(c), 10)})}}}, nil
}

package main

import (
	"slices"

	"github.com/introgen/introgen/results/answers/overhead"
	"github.com/introgen/introgen/results/metrics"
	"github.com/introgen/introgen/results/recording"
	"github.com/urfave/cli/v2"
)

// overheadLine is what runs where no command line is given: long enough for the
// decode steps to be most of it.
const overheadLine = "cpu 1 --tokens 64"

// overheadRuns tell a ratio to about a percent on a calm machine.
const overheadRuns = 12

func overheadPlan() planCommand {
	return planCommand{
		Command: &cli.Command{
			Name:      "overhead",
			Usage:     "show what introgen's own instruments cost",
			ArgsUsage: "['COMMAND LINE']",
			Description: "Runs a command line with all of its spans and recording, and with those of the phases alone, interleaved,\n" +
				"and says beside it what one span costs times the spans of a decode step.\n\n" +
				"Examples:\n" +
				"   introgen overhead                          of " + overheadLine + "\n" +
				"   introgen overhead 'metal 1 --tokens 20'\n" +
				"   introgen overhead --runs 30 -o overhead.introgen",
			Flags: overheadFlags(),
		},
		plan:   planOverhead,
		answer: always(withNotes(documentOf(overhead.Of))),
	}
}

func overheadFlags() []cli.Flag {
	flags := planFlags()
	for _, f := range flags {
		if runs, ok := f.(*cli.IntFlag); ok && runs.Name == "runs" {
			runs.Value = overheadRuns
		}
	}
	return flags
}

func planOverhead(c *cli.Context) (planned, error) {
	args, err := oneChild(c, overheadLine, "detail")
	arm := func(name, detail string) recording.Arm {
		return recording.Arm{Name: name, Args: slices.Concat(args, []string{"--detail", detail}), Levels: map[string]string{"detail": detail}}
	}
	return planned{
		arms:    []recording.Arm{arm(overhead.Untraced, detailPhases), arm(overhead.Traced, detailFull)},
		factors: []string{"detail"},
		metric:  metrics.PerStep.Alone,
	}, err
}

package main

import (
	"slices"

	"github.com/introgen/introgen/results/answers/overhead"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/metrics"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/table"
	"github.com/urfave/cli/v2"
)

// overheadLine is what runs where no command line is given: long enough for the
// decode steps to be most of it.
const overheadLine = "cpu 1 --tokens 64"

// overheadRuns tell a ratio to about a percent on a calm machine.
const overheadRuns = 12

func overheadCommand() *cli.Command {
	return &cli.Command{
		Name:      "overhead",
		Usage:     "show what introgen's own instruments cost",
		ArgsUsage: "['COMMAND LINE']",
		Description: "Runs a command line with all of its spans and recording, and with those of the phases alone, interleaved,\n" +
			"and says beside it what one span costs times the spans of a decode step.\n\n" +
			"Examples:\n" +
			"   introgen overhead                          of " + overheadLine + "\n" +
			"   introgen overhead 'metal 1 --tokens 20'\n" +
			"   introgen overhead --runs 30 -o overhead.introgen",
		Flags:  overheadFlags(),
		Action: runOverhead,
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

func runOverhead(c *cli.Context) error {
	args, err := oneChild(c, overheadLine, "detail")
	if err != nil {
		return err
	}
	p := planned{
		arms: []recording.Arm{
			{Name: overhead.Untraced, Args: slices.Concat(args, []string{"--detail", detailPhases}), Levels: map[string]string{"detail": detailPhases}},
			{Name: overhead.Traced, Args: slices.Concat(args, []string{"--detail", detailFull}), Levels: map[string]string{"detail": detailFull}},
		},
		factors: []string{"detail"},
		metric:  metrics.PerStep.Alone,
	}
	p.answer = overheadDocument
	return runPlan(c, p)
}

func overheadDocument(f *recording.File) (*table.Document, error) {
	a, err := overhead.Of(breakdown.Of(f))
	if err != nil {
		return nil, err
	}
	return withNotes(a.Document(), f), nil
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

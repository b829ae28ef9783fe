package main

import (
	"slices"
	"strconv"

	"github.com/introgen/introgen/bench/plan"
	"github.com/introgen/introgen/results/answers/remedy"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/start"
	"github.com/introgen/introgen/results/table"
	"github.com/urfave/cli/v2"
)

func remedyPlan() planCommand {
	return planCommand{
		Command: &cli.Command{
			Name:      "remedy",
			Usage:     "what would make a start quicker: each remedy with what it saves, costs and needs",
			ArgsUsage: "[FILE…]",
			Description: "Replays a recorded start under the rules of each remedy: compiled side by side, earlier, trimmed,\n" +
				"from an archive, at install time. Says what each saves of the time to the first and the second\n" +
				"token, between which bounds, what it costs and needs, how sure that is, and what measures it; then\n" +
				"the best together. What saves less than 1 % is only named. Without a FILE it makes a start with an\n" +
				"empty cache of compiled code. FILE is a recording, or its number in `introgen list`; of a recorded\n" +
				"program it says the same, as far as that can be known from outside.\n" +
				"docs/remedies.md derives the numbers by hand.\n\n" +
				"Examples:\n" +
				"   introgen remedy\n" +
				"   introgen remedy 1\n" +
				"   introgen remedy cold.introgen --threads 8    as if 8 compiles went on at once\n" +
				"   introgen remedy --measure --kernels candle   makes the runs that show whether the predictions hold\n" +
				"   introgen remedy 1 --plan warm-up.json --code rust",
			Flags: append([]cli.Flag{
				&cli.StringFlag{Name: "threads", Usage: "predict for `P` compiles at once", DefaultText: "as many as the recording says, else the cores"},
				mixedFlag(),
			}, slices.Concat(compilePlanFlags(), measureFlags(), childFlags(planFlags()))...),
		},
		instead:    compilePlanInstead,
		plan:       planRemedy,
		recordings: anyNumber,
		check: func(c *cli.Context) error {
			if c.Bool("measure") {
				return usagef("--measure makes runs of its own, and %q is a recording: give one of them; the recording of such runs is shown without --measure", c.Args().First())
			}
			_, err := readCompileThreads(c.String("threads"))
			return err
		},
		answer: func(flag func(string) string, factors []string) (answering, error) {
			threads, err := readCompileThreads(flag("threads"))
			if err != nil {
				return nil, err
			}
			if slices.Contains(factors, remedy.Factor) {
				return withNotes(func(f *recording.File) (*table.Document, error) {
					a, err := remedy.Measure(f, remedy.Options{Threads: threads})
					if err != nil {
						return nil, err
					}
					return a.Document(), nil
				}), nil
			}
			return withNotes(func(f *recording.File) (*table.Document, error) {
				a, err := remedy.Of(f, remedy.Options{Threads: threads})
				if err != nil {
					return nil, err
				}
				return a.Document(), nil
			}), nil
		},
	}
}

// planRemedy is one start with nothing compiled.
func planRemedy(c *cli.Context) (planned, error) {
	if _, err := readCompileThreads(c.String("threads")); err != nil {
		return planned{}, err
	}
	if c.Bool("measure") {
		return planMeasure(c)
	}
	args, err := startArguments(c)
	if err != nil {
		return planned{}, err
	}
	return planned{blocks: 1, once: true, arms: []recording.Arm{{Name: "serial", State: recording.StateColdNatural, Cache: plan.CacheEmpty, Args: append([]string{"metal", "1"}, args...)}}}, nil
}

// startArguments are those of a start, as the user has given them: of introgen metal.
func startArguments(c *cli.Context) ([]string, error) {
	args, err := given(c)
	if set := c.String("kernels"); set != "" {
		args = append(args, "--kernels", set)
	}
	return args, err
}

// readCompileThreads reads --threads; 0 is what the recording says.
func readCompileThreads(text string) (int, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > start.MostThreads {
		return 0, usagef("--threads %q: 1 to %d compiles at once are allowed", text, start.MostThreads)
	}
	return n, nil
}

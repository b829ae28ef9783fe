package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/introgen/introgen/results/answers/bench"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/metrics"
	"github.com/introgen/introgen/results/recording"
	"github.com/urfave/cli/v2"
)

func benchPlan() planCommand {
	return planCommand{
		Command: &cli.Command{
			Name:      "bench",
			Usage:     "compare command lines of introgen by runs that are interleaved",
			ArgsUsage: "'COMMAND LINE' ['COMMAND LINE' …]",
			Description: "Each argument is a command line of introgen (cpu or metal with its flags, or record with a program\n" +
				"behind --, which is compared by what both have); the same one twice shows what the machine's noise alone does. Every run is a process of its own. A block has one run of each;\n" +
				"ratios are taken within blocks, so that a machine that drifts does not show as a difference.\n\n" +
				"Examples:\n" +
				"   introgen bench 'cpu --threads 1' 'cpu --threads 2'\n" +
				"   introgen bench --runs 12 'cpu 1 --tokens 64' 'cpu 1 --tokens 64'        A against A\n" +
				"   introgen bench --until 2% --max-time 5m 'cpu --pack' 'cpu --pack=off'\n" +
				"   introgen bench --metric ttft 'metal 1 --nonce' 'metal 1'\n" +
				"   introgen bench 'metal 1 --tokens 20' 'record -- ./chat model.gguf'",
			Flags: append(planFlags(),
				&cli.StringSliceFlag{Name: "metric", Usage: "show only this `NAME`: " + strings.Join(bench.Keys(), ", ") + "; may be given several times. --until watches the first", DefaultText: "all, and decode"},
			),
		},
		plan: planBench,
		answer: func(flag func(string) string, _ []string) (answering, error) {
			shown, err := benchMetrics(strings.Fields(flag("metric")))
			return documentOf(func(f *breakdown.File) (*bench.Answer, error) { return bench.Of(f, shown) }), err
		},
	}
}

// mostArms are those that a letter names.
const mostArms = 26

func planBench(c *cli.Context) (planned, error) {
	p := planned{metric: metrics.Decode.Alone}
	if c.NArg() == 0 {
		return p, usagef("bench needs at least one command line, such as 'cpu --threads 1'; see `introgen bench --help`")
	}
	if c.NArg() > mostArms {
		return p, usagef("bench takes at most %d command lines, not %d", mostArms, c.NArg())
	}
	for i, line := range c.Args().Slice() {
		args, err := benchCommand(line)
		if err != nil {
			return p, err
		}
		p.arms = append(p.arms, recording.Arm{Name: string(rune('A' + i)), Args: args})
	}
	keys := c.StringSlice("metric")
	shown, err := benchMetrics(keys)
	if err != nil {
		return p, misuse(err)
	}
	if len(keys) > 0 {
		p.metric = shown[0].Alone
	}
	return p, nil
}

// benchMetrics are those of the keys, each once; none are all that fit.
func benchMetrics(keys []string) ([]metrics.Metric, error) {
	var shown []metrics.Metric
	for _, key := range keys {
		m, err := bench.Find(key)
		if err != nil {
			return nil, fmt.Errorf("%w, for slow steps %s, and those of recorded programs that `introgen bench --help` lists", err, strings.Join(bench.TailKeys(), ", "))
		}
		if !slices.ContainsFunc(shown, func(s metrics.Metric) bool { return s.Key == m.Key }) {
			shown = append(shown, m)
		}
	}
	return shown, nil
}

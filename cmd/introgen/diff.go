package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/introgen/introgen/results/diff"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/stats"
	"github.com/introgen/introgen/results/store"
	"github.com/introgen/introgen/results/table"
	"github.com/urfave/cli/v2"
)

func diffCommand() *cli.Command {
	return &cli.Command{
		Name:      "diff",
		Usage:     "say whether two recordings, or the arms of one plan, differ, as benchstat does",
		ArgsUsage: "A [B…]",
		Description: "A, B are recordings (files, or numbers that `introgen list` shows) or texts in the Go benchmark\n" +
			"format. Files are compared with the first one; a single file is compared along what its plan varies.\n" +
			"Rows, medians, intervals and p-values are those that benchstat prints for the same files. Runs that\n" +
			"a plan made in blocks are also compared by pairs, which see through a machine that drifts.\n\n" +
			"Examples:\n" +
			"   introgen diff cpu.txt metal.introgen\n" +
			"   introgen diff 2 1                      the last run with the one before\n" +
			"   introgen diff compare.introgen --base warm-cache\n" +
			"   introgen diff old.introgen new.introgen --fail-above 5%",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "by", Usage: "what to compare along: `KEY` is .file, or a part of the names such as /cache (default: .file, of a single plan what it varies)"},
			&cli.StringFlag{Name: "base", Usage: "compare with this `COLUMN` (default: the first)"},
			&cli.StringFlag{Name: "filter", Usage: "compare only what matches benchstat's `EXPRESSION`: .name:Decode, .unit:ns/op"},
			&cli.BoolFlag{Name: "mixed", Usage: "compare also samples of different models, machines or workloads"},
			&cli.StringFlag{Name: "fail-above", Usage: "exit with 1 where something became worse by more than `PERCENT`, and not by chance: 5%"},
			styleFlag(),
		},
		Before: endAtOnce,
		Action: runDiff,
	}
}

func styleFlag() cli.Flag {
	names := make([]string, len(table.Styles))
	for i, s := range table.Styles {
		names[i] = string(s)
	}
	return &cli.StringFlag{Name: "style", Usage: "how tables look: " + strings.Join(names, ", "), Value: names[0]}
}

func runDiff(c *cli.Context) error {
	if !c.Args().Present() {
		return usagef("diff needs a recording, or two; see `introgen diff --help`")
	}
	style, err := readStyle(c)
	if err != nil {
		return err
	}
	above, err := readPercent(c.String("fail-above"))
	if err != nil {
		return usageError{fmt.Errorf("--fail-above: %w", err)}
	}
	var sources []diff.Source
	for i, arg := range c.Args().Slice() {
		label := arg
		if slices.Contains(c.Args().Slice()[:i], arg) {
			label = fmt.Sprintf("%s#%d", arg, i)
		}
		s, err := openSource(c.App.ErrWriter, label, arg)
		if err != nil {
			return err
		}
		sources = append(sources, s)
	}
	o := diff.Options{By: c.String("by"), Base: c.String("base"), Filter: c.String("filter"), Mixed: c.Bool("mixed")}
	if o.By == "" && len(sources) == 1 {
		o.By = sources[0].Varies()
	}
	report, err := diff.Judge(sources, o)
	var wrong *diff.OptionError
	if errors.As(err, &wrong) {
		return usageError{err}
	}
	if err != nil {
		return err
	}
	if err := report.Document().Write(c.App.Writer, style); err != nil {
		return err
	}
	if !c.IsSet("fail-above") {
		return nil
	}
	return gate(c.App.ErrWriter, report, c.String("fail-above"), above)
}

// gate is the error that a regression is. Where there could have been one that
// nobody would have seen, it says so; where none could have been seen, that is
// an error too.
func gate(stderr io.Writer, report *diff.Report, limit string, above float64) error {
	if worse := report.Regressions(above); len(worse) > 0 {
		return fmt.Errorf("%d became worse by more than %s: %s", len(worse), limit, strings.Join(worse, ", "))
	}
	rows, coarse, blind := report.Sight(above)
	switch {
	case rows == blind:
		return fmt.Errorf("--fail-above %s: nothing was compared that has enough samples, at least %d a side: a regression could not have been seen", limit, stats.LeastForCompare)
	case coarse+blind > 0:
		noteTo(stderr, "--fail-above %s: of %d comparisons %d see only larger changes, and %d have too few samples to see any", limit, rows, coarse, blind)
	}
	return nil
}

// openSource reads a recording, or else a text in the Go benchmark format.
func openSource(stderr io.Writer, label, arg string) (diff.Source, error) {
	path, err := store.Find(arg)
	if err != nil {
		return diff.Source{}, err
	}
	f, err := recording.Open(path)
	if err == nil {
		noteDamage(stderr, f)
		return diff.Recording(label, f), nil
	}
	if !errors.Is(err, recording.ErrNotRecording) {
		return diff.Source{}, err
	}
	in, err := os.Open(path)
	if err != nil {
		return diff.Source{}, err
	}
	defer in.Close()
	return diff.Text(label, in)
}

// readPercent reads 5% or 0.05; nothing is 0.
func readPercent(s string) (float64, error) {
	if s == "" {
		return 0, nil
	}
	number, percent := strings.CutSuffix(s, "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || !(v >= 0 && v <= 1e6) {
		return 0, fmt.Errorf("%q is no share: 5%% or 0.05 is wanted", s)
	}
	if percent {
		v /= 100
	}
	return v, nil
}

package main

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/introgen/introgen/results/answers/bill"
	"github.com/introgen/introgen/results/answers/compare"
	"github.com/introgen/introgen/results/answers/explain"
	"github.com/introgen/introgen/results/answers/samples"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/metrics"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/store"
	"github.com/introgen/introgen/results/table"
	"github.com/urfave/cli/v2"
)

// showAnswer prints what an answer says about the recordings that the arguments
// name.
func showAnswer(c *cli.Context, answer answering) error {
	style, err := readStyle(c)
	if err != nil {
		return err
	}
	if err := nothingToRecord(c, "a recording that is shown makes no run"); err != nil {
		return err
	}
	f, err := openRecordings(c)
	if err != nil {
		return err
	}
	doc, err := answer(f)
	if err != nil {
		return err
	}
	return doc.Write(c.App.Writer, style)
}

// nothingToRecord refuses --output where no run is made.
func nothingToRecord(c *cli.Context, why string) error {
	if !c.IsSet("output") {
		return nil
	}
	return usagef("--output %q: %s, so there is nothing to write; --style markdown or csv, and > FILE, keep what is printed", c.StringSlice("output")[0], why)
}

// openRecordings opens one recording, or several of single runs as if they were
// one. Runs of different machines or models are refused unless asked for.
func openRecordings(c *cli.Context) (*recording.File, error) {
	if err := endAtOnce(c); err != nil {
		return nil, err
	}
	var all *recording.File
	var files []os.FileInfo
	for i, arg := range c.Args().Slice() {
		path, err := store.Find(arg)
		if err != nil {
			return nil, err
		}
		file, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if k := slices.IndexFunc(files, func(f os.FileInfo) bool { return os.SameFile(f, file) }); k >= 0 {
			return nil, usagef("%s is the file %s: its runs would count twice", c.Args().Get(i), c.Args().Get(k))
		}
		files = append(files, file)
		f, err := recording.Open(path)
		if err != nil {
			return nil, err
		}
		if len(f.Runs) == 0 && f.Plan == nil {
			return nil, fmt.Errorf("%s holds no run: %s", path, cmp.Or(f.Broken, "nothing follows its header"))
		}
		noteDamage(c.App.ErrWriter, f)
		switch {
		case all == nil:
			all = f
		case all.Plan != nil || f.Plan != nil:
			return nil, usagef("%s takes the recording of one plan, or several of single runs; see `introgen diff` for two plans", c.Command.Name)
		default:
			all.Runs = append(all.Runs, f.Runs...)
			all.Broken = strings.TrimPrefix(all.Broken+"; "+f.Broken, "; ")
		}
	}
	if mixed := samples.Mixed(all.Runs); len(mixed) > 0 {
		text := "the runs are not of one kind: " + strings.Join(mixed, "; ")
		if !c.Bool("mixed") {
			return nil, fmt.Errorf("%s; --mixed shows them beside each other all the same", text)
		}
		noteTo(c.App.ErrWriter, "%s: what differs may be that", text)
	}
	return all, nil
}

func billCommand() *cli.Command {
	return &cli.Command{
		Name:      "bill",
		Usage:     "what a start is made of: every library, pipeline and phase of the process's wall clock",
		ArgsUsage: "[FILE…]",
		Description: "Lists where the wall clock of a run went, as its parent process takes it, from before the process\n" +
			"began until after its end; what no line explains is unattributed. Without a FILE it makes cold runs\n" +
			"and shows the one with the median wall clock. Parts that exceed the whole are an error.\n\n" +
			"Examples:\n" +
			"   introgen bill\n" +
			"   introgen bill --states cold,warm-cache,cpu --runs 3\n" +
			"   introgen bill compare.introgen",
		Flags: append(childFlags(planFlags()),
			&cli.StringFlag{Name: "states", Usage: "`LIST` of the states to make runs in, as for compare", Value: recording.StateCold},
			mixedFlag(),
		),
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return showAnswer(c, billDocument)
			}
			arms, factors, err := compareArms(c)
			if err != nil {
				return err
			}
			return runPlan(c, planned{arms: arms, factors: factors, metric: metrics.Token2.Alone, answer: billDocument})
		},
	}
}

func billDocument(f *recording.File) (*table.Document, error) {
	taken := breakdown.Of(f)
	bills, err := bill.Of(taken)
	if err != nil {
		return nil, err
	}
	doc := bill.Document(bills)
	// Of arms that are in one state and differ otherwise, by what their bills do.
	if a, err := compare.Of(taken); err == nil {
		for _, p := range a.Pairs {
			doc.Table(p.Table())
			doc.Say("%s.", p.Sentence())
		}
	}
	return withNotes(doc, f), nil
}

func explainCommand() *cli.Command {
	return &cli.Command{
		Name:      "explain",
		Usage:     "say what dominated a recording's runs, why, how sure that is, and what to do next",
		ArgsUsage: "FILE…",
		Description: "Looks for what is known to make generation slow, arm by arm, and for what differs between arms of\n" +
			"one state. FILE is a recording, or its number in `introgen list`: 1 is the last run.\n\n" +
			"Examples:\n" +
			"   introgen explain 1\n" +
			"   introgen explain compare.introgen",
		Flags: []cli.Flag{styleFlag(), mixedFlag()},
		Action: func(c *cli.Context) error {
			if !c.Args().Present() {
				return usagef("explain wants a recording, or its number in `introgen list`: `introgen explain 1` explains the last run")
			}
			return showAnswer(c, explainDocument)
		},
	}
}

func explainDocument(f *recording.File) (*table.Document, error) {
	doc := &table.Document{}
	if len(f.Counted("")) == 0 {
		doc.Say("No run counts: %s.", strings.Join(samples.Uncounted(f), "; "))
	}
	doc.Append(explain.Of(breakdown.Of(f)).Document())
	return doc, nil
}

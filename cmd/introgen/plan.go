package main

import (
	"fmt"
	"time"

	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/table"
	"github.com/urfave/cli/v2"
)

// planCommands are the commands that answer a question about many runs, in the
// order of --help. What registers, completes, runs or shows them again reads
// this table: a new one is an entry here and a file of its own.
func planCommands() []planCommand {
	return []planCommand{
		benchPlan(),
		overheadPlan(),
		idleGapPlan(),
		comparePlan(),
		sweepPlan(),
		billPlan(),
		explainPlan(),
		remedyPlan(),
		coveragePlan(),
	}
}

// planCommand is one of them.
type planCommand struct {
	*cli.Command // whose Action is made of what follows

	// programs says that what stands behind "--" is a program, and no recording.
	programs bool
	// instead does something else than answer, where the flags ask for that.
	instead func(*cli.Context) (done bool, err error)
	// plan reads from the command line what is to be run.
	plan func(*cli.Context) (planned, error)
	// recordings is how many recordings the command takes instead, at most;
	// check, where it is not nil, refuses flags also then.
	recordings int
	check      func(*cli.Context) error
	// answer makes what the command prints, by its flags and by what the plan
	// varies. Both are also in a recording, so that it can be printed again.
	answer func(flag func(name string) string, factors []string) (answering, error)
}

// answering makes of a recording what a command prints of it.
type answering = func(*recording.File) (*table.Document, error)

// always is the answer of a command whose flags do not change it.
func always(answer answering) func(func(string) string, []string) (answering, error) {
	return func(func(string) string, []string) (answering, error) { return answer, nil }
}

// anyNumber is how many recordings a command takes that has no limit.
const anyNumber = 1 << 30

// planned is what a plan command wants to be run.
type planned struct {
	arms    []recording.Arm
	blocks  int  // instead of what --runs says, where the command has no such flag
	once    bool // one block, unless --runs says another number
	factors []string
	metric  func(*recording.Run) (float64, bool) // what --until watches
	lasts   time.Duration                        // what is known beforehand of how long a run takes; 0: nothing
	known   *table.Document                      // the answer, where no run is needed for it
	// foretold is what the runs of coverage are to need, for the recording.
	foretold *recording.Coverage
}

// command is the command for package cli.
func (p planCommand) command() *cli.Command {
	p.Action = p.run
	if p.recordings > 0 {
		p.BashComplete = completeRecordings
	}
	return p.Command
}

// run makes the command's runs and prints its answer, or that about recordings.
func (p planCommand) run(c *cli.Context) error {
	if p.instead != nil {
		if done, err := p.instead(c); done || err != nil {
			return err
		}
	}
	if p.recordings > 0 && c.Args().Present() {
		if _, given, err := programOf(c); err != nil {
			return err
		} else if !given || !p.programs {
			return p.show(c)
		}
	}
	wanted, err := p.plan(c)
	switch {
	case err != nil:
		return err
	case wanted.known == nil:
		return runPlan(c, wanted)
	}
	style, err := readStyle(c)
	if err != nil {
		return err
	}
	return wanted.known.Write(c.App.Writer, style)
}

// show prints the answer about the recordings that the arguments name.
func (p planCommand) show(c *cli.Context) error {
	if p.check != nil {
		if err := p.check(c); err != nil {
			return err
		}
	}
	if c.NArg() > p.recordings {
		return usagef("%s shows one recording; %q is too many", p.Name, c.Args().Get(p.recordings))
	}
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
	var factors []string
	if f.Plan != nil {
		factors = f.Plan.Factors
	}
	answer, err := p.answer(c.String, factors)
	if err != nil {
		return err
	}
	doc, err := answer(f)
	if err != nil {
		return err
	}
	return doc.Write(c.App.Writer, style)
}

// reportOf is what the command that made a plan prints of it with the flags that
// it was given: a recording is all that is needed to print that, again too.
func reportOf(f *recording.File) (*table.Document, error) {
	if f.Plan == nil || f.Header == nil {
		return nil, fmt.Errorf("it holds no plan")
	}
	for _, p := range planCommands() {
		if p.Name != f.Header.Command {
			continue
		}
		answer, err := p.answer(func(name string) string { return knob(f.Header, name) }, f.Plan.Factors)
		if err != nil {
			return nil, err
		}
		return answer(f)
	}
	return nil, fmt.Errorf("%q is no command that makes plans", f.Header.Command)
}

// documentOf is the document of what a package of answers makes of a recording.
func documentOf[A interface{ Document() *table.Document }](of func(*breakdown.File) (A, error)) answering {
	return func(f *recording.File) (*table.Document, error) {
		a, err := of(breakdown.Of(f))
		if err != nil {
			return nil, err
		}
		return a.Document(), nil
	}
}

// withNotes adds what the plan itself had to say: which limit ended it, which arm
// it gave up.
func withNotes(answer answering) answering {
	return func(f *recording.File) (*table.Document, error) {
		doc, err := answer(f)
		if err == nil && f.Parent != nil {
			for _, n := range f.Parent.Notes {
				doc.Say("%s.", n.Text)
			}
		}
		return doc, err
	}
}

// knob is the value that a flag had, "" where the recording does not say.
func knob(h *recording.Header, name string) string {
	value, _ := h.Knob(name)
	return value
}

// printedStyle is the style that a plan's report was printed in.
func printedStyle(h *recording.Header) table.Style {
	style, err := table.ParseStyle(knob(h, "style"))
	if err != nil {
		return table.Plain
	}
	return style
}

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"

	"github.com/introgen/introgen/results/diff"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/sanitize"
	"github.com/introgen/introgen/results/store"
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
			"--fail-above makes a gate of it, which passes only what it could judge: it ends with 1 where something\n" +
			"became worse by more, where the first file has a benchmark or a unit that another one lacks, or has\n" +
			"enough samples of it and the other one has not, and where nothing could be judged. What may be\n" +
			"missing is allowed by name. A file without samples is an error in any case.\n\n" +
			"Examples:\n" +
			"   introgen diff cpu.txt metal.introgen\n" +
			"   introgen diff 2 1                      the last run with the one before\n" +
			"   introgen diff compare.introgen --base warm-cache\n" +
			"   introgen diff old.introgen new.introgen --fail-above 5%\n" +
			"   introgen diff old.txt new.txt --fail-above 5% --allow-missing '^Parse/|^Decode allocs/op$'",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "by", Usage: "what to compare along: `KEY` is .file, or a part of the names such as /cache", DefaultText: ".file, of a single plan what it varies"},
			&cli.StringFlag{Name: "base", Usage: "compare with this `COLUMN`", DefaultText: "the first"},
			&cli.StringFlag{Name: "filter", Usage: "compare only what matches benchstat's `EXPRESSION`: .name:Decode, .unit:ns/op"},
			&cli.BoolFlag{Name: "mixed", Usage: "compare also samples of different models, machines or workloads"},
			&cli.StringFlag{Name: "fail-above", Usage: "exit with 1 where something became worse by more than `PERCENT`, and not by chance, or is missing: 5%"},
			&cli.StringFlag{Name: "allow-missing", Usage: "with --fail-above: let be missing what `REGEXP` matches somewhere: a benchmark by NAME, or by NAME and UNIT, or an arm by its name"},
			styleFlag(),
		},
		Before:       endAtOnce,
		BashComplete: completeRecordings,
		Action:       runDiff,
	}
}

func runDiff(c *cli.Context) error {
	if !c.Args().Present() {
		return usagef("diff needs a recording, or two; see `introgen diff --help`")
	}
	style, err := readStyle(c)
	if err != nil {
		return err
	}
	gate, err := readGate(c)
	if err != nil {
		return err
	}
	var sources []diff.Source
	var files []os.FileInfo
	for i, arg := range c.Args().Slice() {
		s, file, err := openSource(c.App.ErrWriter, label(sources, arg), arg)
		if err != nil {
			return err
		}
		if k := slices.IndexFunc(files, func(f os.FileInfo) bool { return os.SameFile(f, file) }); k >= 0 && gate != nil {
			return usagef("--fail-above: %s is the file %s: nothing can become worse in a file that is compared with itself", c.Args().Get(i), c.Args().Get(k))
		}
		sources, files = append(sources, s), append(files, file)
	}
	o := diff.Options{By: c.String("by"), Base: c.String("base"), Filter: c.String("filter"), Mixed: c.Bool("mixed")}
	if o.By == "" && len(sources) == 1 {
		o.By = sources[0].Varies()
	}
	report, err := diff.Judge(sources, o)
	var wrong *diff.OptionError
	if errors.As(err, &wrong) {
		return misuse(err)
	}
	if err != nil {
		return err
	}
	if err := report.Document().Write(c.App.Writer, style); err != nil {
		return err
	}
	if gate == nil {
		return nil
	}
	notes, err := report.Check(*gate)
	for _, n := range notes {
		noteTo(c.App.ErrWriter, "%s", n)
	}
	return err
}

// readGate reads the flags of the gate; it is nil where none is asked for.
func readGate(c *cli.Context) (*diff.Gate, error) {
	if !c.IsSet("fail-above") {
		if c.IsSet("allow-missing") {
			return nil, usagef("--allow-missing says what --fail-above lets be missing: without that it means nothing")
		}
		return nil, nil
	}
	g := diff.Gate{Limit: c.String("fail-above")}
	var err error
	if g.Above, err = readShare(g.Limit); err != nil {
		return nil, usagef("--fail-above: %w", err)
	}
	if !c.IsSet("allow-missing") {
		return &g, nil
	}
	text := c.String("allow-missing")
	if text == "" {
		return nil, usagef("--allow-missing is empty, which would match everything: a regular expression is wanted, and . is one that lets everything be missing")
	}
	if g.Allow, err = regexp.Compile(text); err != nil {
		return nil, usagef("--allow-missing %q: %w", text, err)
	}
	return &g, nil
}

// label is what a file is called: as it was given, and so that no two look
// alike.
func label(before []diff.Source, arg string) string {
	name := arg
	for n := 1; slices.ContainsFunc(before, func(s diff.Source) bool { return sanitize.Line(s.Label) == sanitize.Line(name) }); n++ {
		name = fmt.Sprintf("%s#%d", arg, n)
	}
	return name
}

// openSource reads a recording, or else a text in the Go benchmark format, in
// one go: a pipe cannot be read twice.
func openSource(stderr io.Writer, label, arg string) (diff.Source, os.FileInfo, error) {
	path, err := store.Find(arg)
	if err != nil {
		return diff.Source{}, nil, err
	}
	in, err := os.Open(path)
	if err != nil {
		return diff.Source{}, nil, err
	}
	defer in.Close()
	file, err := in.Stat()
	if err != nil {
		return diff.Source{}, nil, err
	}
	var kept firstPart
	f, err := recording.Read(io.TeeReader(in, &kept), path)
	switch {
	case kept.Len() == 0, errors.Is(err, recording.ErrNotRecording):
		s, err := diff.Text(label, io.MultiReader(&kept, in))
		return s, file, err
	case err != nil:
		return diff.Source{}, nil, err
	}
	noteDamage(stderr, f)
	return diff.Recording(label, f), file, nil
}

// firstPart keeps the begin of what is read, so that it can be read once more: what
// is no recording shows in its first line.
type firstPart struct{ bytes.Buffer }

// mostKept is the longest first line that is taken for that of a recording, and
// what is read ahead of it.
const mostKept = recording.MaxLine + 1<<20

// Write takes what was read, until it is more than can be needed again.
func (b *firstPart) Write(p []byte) (int, error) {
	if b.Len() > mostKept {
		return len(p), nil
	}
	return b.Buffer.Write(p)
}

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/introgen/introgen/results/console"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/sanitize"
	"github.com/introgen/introgen/results/store"
	"github.com/introgen/introgen/system/files"
	"github.com/introgen/introgen/system/terminal"
	"github.com/urfave/cli/v2"
)

func showCommand() *cli.Command {
	return &cli.Command{
		Name:      "show",
		Usage:     "show recordings again: as the run printed them, as tables, for benchstat or for programs",
		ArgsUsage: "FILE…",
		Description: "FILE is a recording, or its number in `introgen list`: 1 is the last run.\n" +
			"text gives what the command printed, byte for byte; table also draws where the\n" +
			"start went and says which steps stalled, and why; bench is what benchstat\n" +
			"reads. " + plansUsage() + "\n\n" +
			"Examples:\n" +
			"   introgen show 1\n" +
			"   introgen show 1 --steps\n" +
			"   introgen show 1 --as table\n" +
			"   introgen show cpu.introgen metal.introgen --as md -o runs.md\n" +
			"   introgen show 1 --as json | jq '.runs[0].rounds[0].steps_ns'\n" +
			"   introgen show 1 --as perfetto -o run.trace.json.gz\n" +
			"      open it at ui.perfetto.dev, which keeps it in the browser\n" +
			"   introgen show 1 --as pprof -o run.pb.gz && go tool pprof -top run.pb.gz\n" +
			"   introgen show *.introgen --as parquet -o tables",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "as", Usage: asUsage(), Value: asText},
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write it to `FILE`, whose ending says the form where --as does not; tables go to a folder"},
			&cli.BoolFlag{Name: "steps", Usage: "with --as text, print the percentiles of decode steps also of a run that did not"},
		},
		Before:       endAtOnce,
		BashComplete: completeRecordings,
		Action:       runShow,
	}
}

func runShow(c *cli.Context) error {
	as, err := shownAs(c)
	if err != nil {
		return err
	}
	if !c.Args().Present() {
		return usagef("show wants a recording, or its number in `introgen list`: `introgen show 1` shows the last run")
	}
	steps := c.Bool("steps")
	if steps && as.as != asText {
		return usagef("--steps goes with --as %s, and not with --as %s", asText, as.as)
	}
	var paths []string
	for _, arg := range c.Args().Slice() {
		path, err := store.Find(arg)
		if err != nil {
			return err
		}
		paths = append(paths, path)
	}
	output := c.String("output")
	if as.tables != nil {
		return showTables(c, as, paths)
	}
	if output == "" {
		if as.binary && onTerminal(c.App.Writer) {
			return usagef("--as %s is for programs, and a terminal would show it as noise: write it to a file with -o FILE", as.as)
		}
		return showAll(c.App.Writer, c.App.ErrWriter, paths, as, steps)
	}
	if as.binary && as.together == nil && len(paths) > 1 {
		return usagef("--as %s -o %q takes one recording; %d are too many", as.as, output, len(paths))
	}
	if err := apart(output, paths); err != nil {
		return err
	}
	f, err := files.Create(output, files.Options{Unsynced: true})
	if err != nil {
		return fmt.Errorf("--output: %w", err)
	}
	defer f.Discard()
	w, end := as.file(output, f)
	if err := errors.Join(showAll(w, c.App.ErrWriter, paths, as, steps), end()); err != nil {
		return err
	}
	return f.Commit()
}

// shownAs is the format that show writes: that of --as, else that of the file.
func shownAs(c *cli.Context) (format, error) {
	output := c.String("output")
	if !c.IsSet("as") && output != "" {
		as, ok := formatOfFile(output)
		if !ok || as.view == nil {
			return format{}, usagef("--output %q: the name must end in %s, or --as say what to write", output, listed("or", func(x format) string { return when(x.view != nil, x.ending) }))
		}
		return as, nil
	}
	as, ok := formatOf(format.asName, c.String("as"))
	if !ok {
		return format{}, usagef("--as %q is not known: %s", c.String("as"), strings.Join(formatNames(format.asName), ", "))
	}
	return as, nil
}

// apart refuses to write a view in the place of a recording.
func apart(output string, paths []string) error {
	there, err := os.Stat(output)
	if err != nil || !there.Mode().IsRegular() {
		return nil // Create says what is wrong, if anything is; and of a pipe nobody may read here
	}
	for _, path := range paths {
		if one, err := os.Stat(path); err == nil && os.SameFile(there, one) {
			return usagef("--output %q is the recording itself, which it would replace; give another name", output)
		}
	}
	if f, err := recording.Open(output); err == nil && (len(f.Runs) > 0 || f.Plan != nil) {
		return usagef("--output %q is a recording, which it would replace; give another name", output)
	}
	return nil
}

// showAll writes the recordings in one format; steps is as for showText.
func showAll(w, stderr io.Writer, paths []string, as format, steps bool) error {
	if as.together != nil {
		var all []*recording.File
		for _, path := range paths {
			f, err := recording.Open(path)
			if err != nil {
				return err
			}
			noteDamage(stderr, f)
			all = append(all, f)
		}
		return as.together(w, all)
	}
	for i, path := range paths {
		if len(paths) > 1 && as.named {
			blank := ""
			if i > 0 {
				blank = "\n"
			}
			if _, err := fmt.Fprintf(w, "%s# %s\n", blank, sanitize.Line(path)); err != nil {
				return err
			}
		}
		show := func() error { return showView(w, stderr, path, as) }
		if as.view == nil {
			show = func() error { return showText(w, stderr, path, steps) }
		}
		if err := show(); err != nil {
			return err
		}
	}
	return nil
}

func showView(w, stderr io.Writer, path string, as format) error {
	f, err := recording.Open(path)
	if err != nil {
		return err
	}
	noteDamage(stderr, f)
	return as.write(w, f)
}

// showText feeds a recording's events to what prints them while a run goes on, and with
// steps has it print the percentiles of decode steps whether the run did or not.
func showText(w, stderr io.Writer, path string, steps bool) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() { // a pipe can be read only once
		if holdsPlan(f) {
			if shown, err := showReport(w, stderr, path); shown {
				return err
			}
		}
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return err
		}
	}
	notes := newNotes(func(text string) { noteTo(stderr, "%s", text) })
	defer notes.end()
	out := bufio.NewWriter(w)
	printed := &sink{w: out}
	printer := console.New(printed)
	printer.Unicode = terminal.Unicode()
	all := recording.NewCollector()
	for e, err := range recording.Events(f) {
		if err == nil {
			all.Add(e)
		}
		var line *recording.LineError
		var cut *recording.CutError
		switch {
		case err == nil:
			if h, ok := e.(*recording.Header); ok && steps {
				h.View.Steps = true
			}
			err = printer.Event(e)
		case errors.As(err, &line), errors.As(err, &cut):
			kind := path + ": lines are skipped"
			notes.add(kind, fmt.Sprintf("%s: %v", kind, err))
			err = nil
		default:
			err = fmt.Errorf("%s: %w", path, err)
		}
		if err != nil {
			return errors.Join(err, out.Flush())
		}
	}
	if err := errors.Join(printer.Close(), out.Flush()); err != nil {
		return err
	}
	for _, warning := range all.File().Warnings {
		noteTo(stderr, "%s: %s", path, warning)
	}
	if !printed.printed {
		noteTo(stderr, "%s: the run had printed nothing when its recording ended", path)
	}
	return nil
}

// showReport prints what a plan's command printed of its runs, unless there was
// nothing.
func showReport(w, stderr io.Writer, path string) (shown bool, err error) {
	f, err := recording.Open(path)
	if err != nil {
		return true, err
	}
	doc, err := reportOf(f)
	if err != nil {
		noteTo(stderr, "%s: there is no report of its runs, which follow one by one: %v", path, err)
		return false, nil
	}
	noteDamage(stderr, f)
	return true, doc.Write(w, printedStyle(f.Header))
}

// holdsPlan says whether a recording begins as that of a plan, without reading
// more of it.
func holdsPlan(r io.Reader) bool {
	n := 0
	for e, err := range recording.Events(r) {
		if _, ok := e.(*recording.Plan); ok || err != nil || n == 1 {
			return ok
		}
		n++
	}
	return false
}

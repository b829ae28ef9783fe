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
	"github.com/urfave/cli/v2"
)

func showCommand() *cli.Command {
	return &cli.Command{
		Name:      "show",
		Usage:     "show recordings again: as the run printed them, as tables, for benchstat or for programs",
		ArgsUsage: "FILE…",
		Description: "FILE is a recording, or its number in `introgen list`: 1 is the last run.\n" +
			"text gives what the command printed, byte for byte; bench is what benchstat\n" +
			"reads. " + plansUsage() + "\n\n" +
			"Examples:\n" +
			"   introgen show 1\n" +
			"   introgen show 1 --as table\n" +
			"   introgen show cpu.introgen metal.introgen --as md\n" +
			"   introgen show 1 --as json | jq '.runs[0].rounds[0].steps_ns'",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "as", Usage: asUsage(), Value: asText},
		},
		Before:       endAtOnce,
		BashComplete: completeRecordings,
		Action:       runShow,
	}
}

func runShow(c *cli.Context) error {
	as, ok := formatOf(format.asName, c.String("as"))
	if !ok {
		return usagef("--as %q is not known: %s", c.String("as"), strings.Join(formatNames(format.asName), ", "))
	}
	if !c.Args().Present() {
		return usagef("show wants a recording, or its number in `introgen list`: `introgen show 1` shows the last run")
	}
	for i, arg := range c.Args().Slice() {
		path, err := store.Find(arg)
		if err != nil {
			return err
		}
		if c.NArg() > 1 && as.named {
			apart := ""
			if i > 0 {
				apart = "\n"
			}
			if _, err := fmt.Fprintf(c.App.Writer, "%s# %s\n", apart, sanitize.Line(path)); err != nil {
				return err
			}
		}
		if as.view == nil {
			err = showText(c.App.Writer, c.App.ErrWriter, path)
		} else {
			err = showView(c.App.Writer, c.App.ErrWriter, path, as)
		}
		if err != nil {
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

// showText feeds a recording's events to what prints them while a run goes on.
func showText(w, stderr io.Writer, path string) error {
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
	all := recording.NewCollector()
	for e, err := range recording.Events(f) {
		if err == nil {
			all.Add(e)
		}
		var line *recording.LineError
		var cut *recording.CutError
		switch {
		case err == nil:
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

package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/introgen/introgen/results/answers/samples"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/store"
	"github.com/urfave/cli/v2"
)

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
		if err != nil && file.Mode().Perm()&0o111 != 0 && slices.ContainsFunc(c.Command.Flags, func(f cli.Flag) bool { return f.Names()[0] == "mark" }) {
			// Only who runs programs has marks.
			return nil, fmt.Errorf("%w; if it is a program to be run, put -- in front: `introgen %s -- %s`", err, c.Command.Name, arg)
		}
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
			all.Broken = joined(all.Broken, f.Broken)
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

// noteDamage says on stderr what of a recording could not be read.
func noteDamage(stderr io.Writer, f *recording.File) {
	for _, warning := range f.Warnings {
		noteTo(stderr, "%s: %s", f.Path, warning)
	}
	if f.Broken != "" {
		noteTo(stderr, "%s: %s", f.Path, f.Broken)
	}
}

// joined are two remarks as one, of which either may be none.
func joined(a, b string) string {
	return strings.Join(slices.DeleteFunc([]string{a, b}, func(s string) bool { return s == "" }), "; ")
}

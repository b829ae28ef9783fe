package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/introgen/introgen/results/page"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/store"
	"github.com/introgen/introgen/system/files"
	"github.com/urfave/cli/v2"
)

func reportCommand() *cli.Command {
	return &cli.Command{
		Name:      "report",
		Usage:     "make one HTML page of recordings, to send around",
		ArgsUsage: "FILE…",
		Description: "The page holds all that it shows: any browser opens it, without introgen and without a\n" +
			"network. It begins with the verdict, and has the cold start, every stage and decode step, the\n" +
			"sweep, compiles, kernels, what all of it rests on, and the raw samples. Several recordings stand\n" +
			"side by side, with what differs. FILE is a recording, or its number in `introgen list`.\n\n" +
			"Examples:\n" +
			"   introgen report 1 -o report.html\n" +
			"   introgen report old.introgen new.introgen -o both.html\n" +
			"   introgen compare --runs 6 -o compare.html",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write the page to `FILE.html`; without it to stdout, where that is no terminal"},
			&cli.StringFlag{Name: "title", Usage: "call the page `TEXT`", DefaultText: "the names of the recordings"},
		},
		Before:       endAtOnce,
		BashComplete: completeRecordings,
		Action:       runReport,
	}
}

func runReport(c *cli.Context) error {
	if !c.Args().Present() {
		return usagef("report wants a recording, or its number in `introgen list`: `introgen report 1 -o report.html` is about the last run")
	}
	path := c.String("output")
	switch {
	case c.IsSet("output") && !strings.EqualFold(filepath.Ext(path), pageEnding):
		return usagef("--output %q: the name must end in %s", path, pageEnding)
	case path == "" && onTerminal(c.App.Writer):
		return usagef("report writes a page of HTML, which a terminal does not show: `-o report.html` writes it to a file")
	}
	all, paths, err := openPage(c)
	if err != nil {
		return err
	}
	o := page.Options{Title: c.String("title"), Answer: reportOf}
	if path == "" {
		return page.Write(c.App.Writer, all, o)
	}
	if err := apart(path, paths); err != nil {
		return err
	}
	f, err := files.Create(path, files.Options{Unsynced: true})
	if err != nil {
		return fmt.Errorf("--output: %w", err)
	}
	defer f.Discard()
	if err := page.Write(f, all, o); err != nil {
		return err
	}
	return f.Commit()
}

// openPage opens the recordings that a page is to be made of.
func openPage(c *cli.Context) (all []page.Recording, paths []string, err error) {
	var files []os.FileInfo
	for i, arg := range c.Args().Slice() {
		path, err := store.Find(arg)
		if err != nil {
			return nil, nil, err
		}
		file, err := os.Stat(path)
		if err != nil {
			return nil, nil, err
		}
		if k := slices.IndexFunc(files, func(f os.FileInfo) bool { return os.SameFile(f, file) }); k >= 0 {
			return nil, nil, usagef("%s is the file %s: a recording does not differ from itself", c.Args().Get(i), c.Args().Get(k))
		}
		f, err := recording.Open(path)
		if err != nil {
			return nil, nil, err
		}
		noteDamage(c.App.ErrWriter, f)
		all, paths, files = append(all, page.Recording{File: f}), append(paths, path), append(files, file)
	}
	for i, name := range pageNames(paths...) {
		all[i].Name = name
	}
	return all, paths, nil
}

// pageNames are what recordings are called on a page: their files, without what is the
// same for all.
func pageNames(paths ...string) []string {
	var short []string
	for _, path := range paths {
		if filepath.Base(path) != recording.Ending {
			path = strings.TrimSuffix(path, recording.Ending)
		}
		short = append(short, path)
	}
	return recording.NamesBeside(short...)
}

// pageEnding is what the name of a page ends in.
const pageEnding = ".html"

// writeReport is the page of one recording, as -o of a run or a plan writes it.
func writeReport(w io.Writer, f *recording.File) error {
	name := "recording"
	if f.Path != "" {
		name = pageNames(f.Path)[0]
	} else if h := headerOf(f); h != nil {
		name = h.Command
	}
	return page.Write(w, []page.Recording{{Name: name, File: f}}, page.Options{Answer: reportOf})
}

// headerOf is the header of the process that made the recording; nil where nothing of
// one is there.
func headerOf(f *recording.File) *recording.Header {
	if f.Header == nil && len(f.Runs) > 0 {
		return &f.Runs[0].Header
	}
	return f.Header
}

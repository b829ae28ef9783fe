package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/foreign"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/store"
	"github.com/introgen/introgen/results/table"
	"github.com/introgen/introgen/results/view"
	"github.com/urfave/cli/v2"
)

func listCommand() *cli.Command {
	return &cli.Command{
		Name:  "list",
		Usage: "list the recordings of the last runs, which are kept by themselves",
		Description: fmt.Sprintf("The last %d are kept, at most %d MB, in $%s, or in introgen below $XDG_STATE_HOME or ~/.local/state\n", store.Kept, store.KeptBytes>>20, store.DirEnv) +
			"(on macOS below ~/Library/Application Support). Every command that takes a recording takes its\n" +
			"number too, the newest is 1. " + store.DirEnv + "= (nothing) keeps none, nor the digests of models;\n" +
			store.KeepEnv + "=0 keeps no recordings.\n\n" +
			"Examples:\n" +
			"   introgen list\n" +
			"   introgen show 1 --as table",
		Before: endAtOnce,
		Action: runList,
	}
}

func runList(c *cli.Context) error {
	if c.Args().Present() {
		return usagef("list takes no argument, got %q", c.Args().First())
	}
	state, err := store.Dir()
	if err != nil {
		return err
	}
	if state == "" {
		return fmt.Errorf("no recordings are kept: %s is set to nothing", store.DirEnv)
	}
	entries, err := store.List(state)
	if err != nil {
		return err
	}
	if len(entries) == 0 {
		_, err := fmt.Fprintf(c.App.Writer, "# none in %s: the next run leaves one\n", state)
		return err
	}
	t := &table.Table{Columns: []table.Column{{Name: "no."}, {Name: "when", Left: true}, {Name: "command", Left: true}, {Name: "ended", Left: true},
		{Name: "model", Left: true, Narrow: longestModel, End: longestTypes}, {Name: "token 1"}, {Name: "decode"}, {Name: "MB"}}}
	for _, e := range entries {
		t.Add(table.Texts(append(append([]string{strconv.Itoa(e.Number)}, about(e.Path)...), figures.Text(float64(e.Bytes)/1e6, 2))...)...)
	}
	d := &table.Document{}
	d.Table(t)
	d.Say("token 1: until the first new token was known, decode: the median decode step, in ms; of a program that marks neither, until its first output, and what it repeats; MB: the file's size; a plan of many runs has them in its report, `introgen show NO`.")
	return d.Write(c.App.Writer, table.Plain)
}

// longestModel keeps a line of the list within 80 columns; the end of a model's
// name tells the types of its tensors.
const (
	longestModel = 12
	longestTypes = 4
)

// about says what a recording holds, in the columns of the list between its
// number and its size.
func about(path string) []string {
	f, err := recording.Open(path)
	if err != nil {
		return []string{"", "", "unreadable", "", "", ""}
	}
	h := f.Header
	if h == nil {
		if len(f.Runs) == 0 {
			return []string{"", "", ended(path, nil), "", "", ""}
		}
		h = &f.Runs[0].Header
	}
	command, model, end, first, decode := h.Command, h.Model.File, f.PlanEnd, "", ""
	if model == "" && len(f.Runs) > 0 {
		model = f.Runs[0].Header.Model.File
		if p := f.Runs[0].Header.Program; p != nil {
			model = foreign.Name(p)
		}
	}
	if f.Plan != nil {
		command += fmt.Sprintf(" %d", len(f.Runs))
	} else {
		end = f.Runs[len(f.Runs)-1].End
		if h.Program != nil {
			end = f.Runs[0].End // the others are those that it started
		}
		first, decode = view.Listed(breakdown.Of(f))
	}
	return []string{h.Started.Local().Format("01-02 15:04"), command, ended(path, end), strings.TrimSuffix(model, ".gguf"), first, decode}
}

// ended is how a run, or a plan, came to its end, of which there may be none.
func ended(path string, end *recording.End) string {
	switch {
	case end == nil && recording.Busy(path):
		return "not yet"
	case end == nil:
		return "cut off"
	case end.Code == exitOK:
		return "ok"
	case end.Code == exitInterrupted:
		return "interrupted"
	}
	return "failed"
}

package main

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/introgen/introgen/results"
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
		Description: fmt.Sprintf("The last %d are kept, in $%s, or in introgen below $XDG_STATE_HOME or ~/.local/state\n", store.Kept, store.DirEnv) +
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
	t := &table.Table{Columns: []table.Column{{Name: "no."}, {Name: "when", Left: true}, {Name: "command", Left: true}, {Name: "model", Left: true},
		{Name: "token 1 ms"}, {Name: "decode ms"}, {Name: "bytes"}}}
	for _, e := range entries {
		t.Add(table.Texts(append([]string{strconv.Itoa(e.Number)}, about(e.Path)...)...)...)
	}
	return t.Write(c.App.Writer, table.Plain)
}

// longestModel keeps a line of the list within 80 columns.
const longestModel = 27

// about says what a recording holds, in the columns of the list.
func about(path string) []string {
	size := ""
	if is, err := os.Stat(path); err == nil {
		size = strconv.FormatInt(is.Size(), 10)
	}
	f, err := recording.Open(path)
	if err != nil {
		return []string{"", "not readable", "", "", "", size}
	}
	h := f.Header
	if h == nil {
		if len(f.Runs) == 0 {
			return []string{"", "cut off", "", "", "", size}
		}
		h = &f.Runs[0].Header
	}
	first, steps := view.FirstToken(f.Runs), []time.Duration(nil)
	for _, r := range f.Runs {
		for _, p := range results.PhasesOf(r) {
			steps = append(steps, p.Steps...)
		}
	}
	command := h.Command
	if f.Plan != nil {
		command += fmt.Sprintf(" %d", len(f.Runs))
	}
	if last := f.Runs; len(last) > 0 && (f.Plan == nil && last[0].End == nil || f.Plan != nil && f.PlanEnd == nil) {
		command += " …" // still running, or cut off
		if !recording.Busy(path) {
			command = h.Command + " cut"
		}
	}
	model := h.Model.File
	if model == "" && len(f.Runs) > 0 {
		model = f.Runs[0].Header.Model.File
	}
	if r := []rune(model); len(r) > longestModel {
		model = string(slices.Concat(r[:longestModel-1], []rune("…")))
	}
	return []string{h.Started.Local().Format("01-02 15:04:05"), command, model, duration(first), duration(results.Median(steps)), size}
}

func duration(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return results.Milliseconds(d)
}

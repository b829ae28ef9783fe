package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/introgen/introgen/bench/plan"
	"github.com/introgen/introgen/engine/gguf"
	"github.com/introgen/introgen/engine/tokenizer"
	"github.com/introgen/introgen/results/store"
	"github.com/urfave/cli/v2"
)

// completionFlag is what a shell's completion script adds as the last argument.
// Package cli would answer it too, and panics where the flag before it is only
// half written.
const completionFlag = "--generate-bash-completion"

// flagChoices are the values of flags that have few. What is no word of them, a
// file or a number, is left to the shell and the user.
func flagChoices(name string) []string {
	switch name {
	case "as":
		return formatNames(format.asName)
	case "style":
		return styles()
	case "io":
		return []string{string(gguf.MMap), string(gguf.Buffered), string(gguf.FileIO)}
	case "tokenizer":
		return tokenizer.Kinds
	case "order":
		return []string{plan.OrderRandom, plan.OrderABBA}
	}
	return nil
}

// complete prints what may follow the arguments args, one a line. The last of
// them is what the user has begun where it begins with -; else the shell keeps
// what is begun, and chooses.
func complete(w io.Writer, app *cli.App, args []string) error {
	flags, cmds, command := app.Flags, app.Commands, &cli.Command{}
	begun, pending := "", cli.Flag(nil)
	for i, a := range args {
		switch {
		case pending != nil:
			pending = nil
		case len(a) > 0 && a[0] == '-' && i == len(args)-1 && (a == "-" || a == "--" || lookup(a, flags) == nil):
			begun = a
		case len(a) > 1 && a[0] == '-':
			if takesValue(a, flags) {
				pending = lookup(a, flags)
			}
		default:
			if c := find(cmds, a); c != nil {
				flags, cmds, command = c.Flags, c.Subcommands, c
			}
		}
	}
	var found []string
	switch {
	case pending != nil:
		found = flagChoices(pending.Names()[0])
	case begun != "":
		found = flagNames(flags)
	case len(cmds) > 0:
		for _, c := range cmds {
			found = append(found, c.Name)
		}
	case command.BashComplete != nil:
		command.BashComplete(cli.NewContext(app, nil, nil))
	}
	for _, f := range found {
		if !strings.HasPrefix(f, begun) {
			continue
		}
		if _, err := fmt.Fprintln(w, f); err != nil {
			return err
		}
	}
	return nil
}

func flagNames(flags []cli.Flag) []string {
	var out []string
	for _, f := range flags {
		if v, ok := f.(cli.VisibleFlag); ok && !v.IsVisible() {
			continue
		}
		for _, n := range f.Names() {
			out = append(out, dashed(n))
		}
	}
	return append(out, "--help")
}

// completeRecordings, the BashComplete of every command that takes recordings,
// prints the numbers of those that are kept. A shell that completes has no place
// for an error; one of the writer is kept by it.
func completeRecordings(c *cli.Context) {
	state, err := store.Dir()
	if err != nil {
		return
	}
	entries, err := store.List(state)
	if err != nil {
		return
	}
	for _, e := range entries {
		fmt.Fprintln(c.App.Writer, e.Number)
	}
}

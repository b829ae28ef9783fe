package main

import (
	"slices"
	"strings"

	"github.com/introgen/introgen/system/terminal"
	"github.com/urfave/cli/v2"
)

// helpWidth is how wide the flags of --help become.
const helpWidth = terminal.Columns

// Package cli knows one writer of flags for all commands, and sets it the same
// way: by a variable.
func init() { cli.FlagStringer = flagHelp }

// flagHelp is one flag in --help: its names on a line, what it does below. In
// package cli's own form, a table, one long name pushes every text off a
// terminal.
func flagHelp(f cli.Flag) string {
	d, ok := f.(cli.DocGenerationFlag)
	if !ok {
		return strings.Join(f.Names(), ", ")
	}
	names := slices.Clone(f.Names())
	slices.SortStableFunc(names, func(a, b string) int { return min(len(a), 2) - min(len(b), 2) }) // -o before --output
	for i, n := range names {
		names[i] = dashed(n)
	}
	head := strings.Join(names, ", ")
	what, usage := placeholder(d.GetUsage())
	if d.TakesValue() {
		head += " " + what
	}
	if s := d.GetDefaultText(); s != "" && s != "false" {
		usage += " (default: " + s + ")"
	}
	return head + "\n   " + strings.Join(terminal.Fold(usage, "", "", helpWidth-9), "\n   ")
}

// placeholder takes what stands between backquotes in a usage for the name of
// the value, as package flag does.
func placeholder(usage string) (name, text string) {
	before, rest, ok := strings.Cut(usage, "`")
	if !ok {
		return "VALUE", usage
	}
	name, after, ok := strings.Cut(rest, "`")
	if !ok {
		return "VALUE", usage
	}
	return name, before + name + after
}

package commandline

import (
	"bytes"
	"io"
	"slices"
	"strings"

	"github.com/introgen/introgen/system/terminal"
	"github.com/urfave/cli/v2"
)

// HelpWidth is how wide the flags of --help become.
const HelpWidth = terminal.Columns

// Package cli knows one writer of flags for all commands, and one printer, which
// prints texts as wide as they are; it sets both the same way, by variables.
func init() {
	cli.FlagStringer = flagHelp
	printer := cli.HelpPrinterCustom
	cli.HelpPrinterCustom = func(w io.Writer, text string, data any, funcs map[string]any) {
		var b bytes.Buffer
		printer(&b, text, data, funcs)
		for line := range strings.Lines(b.String()) {
			line = strings.TrimRight(line, "\n")
			if _, err := io.WriteString(w, strings.Join(fitted(line, HelpWidth), "\n")+"\n"); err != nil {
				return // the app's writer keeps the error
			}
		}
	}
}

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
	return head + "\n   " + strings.Join(terminal.Fold(usage, "", "", HelpWidth-9), "\n   ")
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

// paragraphs puts the lines of each paragraph of a description together, so that
// they can be broken where the terminal ends. Indented lines, examples and lists,
// stay as they are.
func paragraphs(text string) string {
	var out []string
	flows := false // whether the last line can be gone on with
	for _, line := range strings.Split(text, "\n") {
		plain := line != "" && line[0] != ' '
		if plain && flows {
			out[len(out)-1] += " " + line
		} else {
			out = append(out, line)
		}
		flows = plain
	}
	return strings.Join(out, "\n")
}

// widestName is up to which column what a line names pushes its explanation; one
// that is longer has it below.
const widestName = 40

// fitted breaks a line of help. What follows a gap of two blanks explains what
// stands before it, and is broken below itself; a command line is broken as a
// shell takes it, where no quotes are in it.
func fitted(line string, width int) []string {
	if terminal.Width(line) <= width {
		return []string{line}
	}
	text := strings.TrimLeft(line, " ")
	indent := line[:len(line)-len(text)]
	if name, explanation, ok := strings.Cut(text, "  "); ok {
		explanation = strings.TrimLeft(explanation, " ")
		at := terminal.Width(line) - terminal.Width(explanation)
		first := line[:len(line)-len(explanation)]
		if at > widestName {
			below := indent + "   "
			return append(fitted(indent+name, width), hanging(below, below, explanation, width)...)
		}
		return hanging(first, strings.Repeat(" ", at), explanation, width)
	}
	if len(indent) > 3 && !strings.ContainsAny(text, `'"`) {
		lines := hanging(indent, indent+"   ", text, width-len(` \`))
		for i := range lines[:len(lines)-1] {
			lines[i] += ` \`
		}
		return lines
	}
	return hanging(indent, indent, text, width)
}

// hanging breaks text behind first; the lines below begin with next, and the
// first is as long as they are.
func hanging(first, next, text string, width int) []string {
	lines := terminal.Fold(text, next, next, width)
	lines[0] = first + strings.TrimPrefix(lines[0], next)
	return lines
}

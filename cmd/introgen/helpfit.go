package main

import (
	"bytes"
	"io"
	"strings"

	"github.com/introgen/introgen/system/terminal"
	"github.com/urfave/cli/v2"
)

// Package cli prints texts as wide as they are; its printer is a variable, too.
func init() {
	printer := cli.HelpPrinterCustom
	cli.HelpPrinterCustom = func(w io.Writer, text string, data any, funcs map[string]any) {
		var b bytes.Buffer
		printer(&b, text, data, funcs)
		for line := range strings.Lines(b.String()) {
			line = strings.TrimRight(line, "\n")
			if _, err := io.WriteString(w, strings.Join(fitted(line, helpWidth), "\n")+"\n"); err != nil {
				return // the app's writer keeps the error
			}
		}
	}
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

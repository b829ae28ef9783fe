package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/introgen/introgen/results/table"
	"github.com/urfave/cli/v2"
)

func doctorCommand() *cli.Command {
	return &cli.Command{
		Name:      "doctor",
		Usage:     "say what this machine and this build have, and what brings the rest",
		ArgsUsage: "[CHECK...]",
		Description: "Checks: " + strings.Join(checkNames(), ", ") + ".\n" +
			"Without a CHECK it looks at all and succeeds; a named one that is missing is an error.\n\n" +
			"Examples:\n" +
			"   introgen doctor\n" +
			"   introgen doctor pip cargo",
		Action: runDoctor,
	}
}

func runDoctor(c *cli.Context) error {
	named := c.Args().Slice()
	found, err := makeChecks(c.Context, named...)
	if err != nil {
		return err
	}
	if err := writeFindings(c.App.Writer, found); err != nil {
		return err
	}
	var missing []string
	for _, f := range found {
		if f.state == stateMissing {
			missing = append(missing, f.name)
		}
	}
	if len(named) > 0 && len(missing) > 0 {
		return fmt.Errorf("missing: %s", strings.Join(missing, ", "))
	}
	return nil
}

// The states of what a check looks at. Only stateMissing has something that could
// be done about it.
const (
	stateOK      = "ok"
	stateMissing = "missing"
	stateNone    = "none" // not on this machine, and nothing brings it
)

// check is one thing to look at.
type check struct {
	name string
	look func(ctx context.Context) (state, detail string)
}

// finding is what a check found.
type finding struct {
	name, state string
	detail      string // what is there, or what is lost without it and what brings it
}

// checkNames are those of all checks, in the order in which they are printed.
func checkNames() []string {
	var out []string
	for _, c := range checks {
		out = append(out, c.name)
	}
	return out
}

// makeChecks makes the named checks, or all where none is named.
func makeChecks(ctx context.Context, names ...string) ([]finding, error) {
	for _, name := range names {
		if all := checkNames(); !slices.Contains(all, name) {
			return nil, usagef("doctor does not know %q; it looks at %s", name, strings.Join(all, ", "))
		}
	}
	var out []finding
	for _, c := range checks {
		if len(names) > 0 && !slices.Contains(names, c.name) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		state, detail := c.look(ctx)
		out = append(out, finding{c.name, state, detail})
	}
	return out, nil
}

// writeFindings prints findings as a table, within the width of a terminal: a
// detail goes on below itself.
func writeFindings(w io.Writer, findings []finding) error {
	name, state := 0, 0
	for _, f := range findings {
		name, state = max(name, len(f.name)), max(state, len(f.state))
	}
	at := name + 2 + state + 2
	for _, f := range findings {
		// The blanks before the text make Wrap break as if it stood there.
		text := strings.TrimLeft(table.Wrap(strings.Repeat(" ", at)+f.detail, table.Width), " ")
		if _, err := fmt.Fprintf(w, "%-*s  %-*s  %s", name, f.name, state, f.state, text); err != nil {
			return err
		}
	}
	return nil
}

// Package doctor says what this machine and this build have of what introgen
// uses, and which one command brings each thing that is missing.
package doctor

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/introgen/introgen/results/table"
)

// State is how a thing is.
type State string

// The states. Only Missing has something that could be done about it.
const (
	OK      State = "ok"
	Missing State = "missing"
	None    State = "none" // not on this machine, and nothing brings it
)

// Finding is what a check found.
type Finding struct {
	Name   string
	State  State
	Detail string // what is there, or what is lost without it and what brings it
}

// check is one thing to look at.
type check struct {
	name string
	look func(ctx context.Context) (State, string)
}

// Names returns what can be looked at, in the order in which it is printed.
func Names() []string {
	var out []string
	for _, c := range checks {
		out = append(out, c.name)
	}
	return out
}

// Known says whether name can be looked at.
func Known(name string) bool { return slices.Contains(Names(), name) }

// Look makes the named checks, or all where none is named.
func Look(ctx context.Context, names ...string) ([]Finding, error) {
	for _, name := range names {
		if !Known(name) {
			return nil, fmt.Errorf("doctor does not know %q; it looks at %s", name, strings.Join(Names(), ", "))
		}
	}
	var out []Finding
	for _, c := range checks {
		if len(names) > 0 && !slices.Contains(names, c.name) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		state, detail := c.look(ctx)
		out = append(out, Finding{c.name, state, detail})
	}
	return out, nil
}

// Write prints findings as a table, within the width of a terminal: a detail goes
// on below itself.
func Write(w io.Writer, findings []Finding) error {
	name, state := 0, 0
	for _, f := range findings {
		name, state = max(name, len(f.Name)), max(state, len(f.State))
	}
	at := name + 2 + state + 2
	for _, f := range findings {
		// The blanks before the text make Wrap break as if it stood there.
		text := strings.TrimLeft(table.Wrap(strings.Repeat(" ", at)+f.Detail, table.Width), " ")
		if _, err := fmt.Fprintf(w, "%-*s  %-*s  %s", name, f.Name, state, f.State, text); err != nil {
			return err
		}
	}
	return nil
}

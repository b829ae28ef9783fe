package commandline

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"
)

// CompletionFlag is what a shell's completion script adds as the last argument.
// Package cli would answer it too, and panics where the flag before it is only
// half written.
const CompletionFlag = "--generate-bash-completion"

// complete prints what may follow the arguments args, one a line. The last of
// them is what the user has begun where it begins with -; else the shell keeps
// what is begun, and chooses.
func complete(app *cli.App, args []string, choices func(flag string) []string) error {
	flags, cmds, command := app.Flags, app.Commands, &cli.Command{}
	begun, pending := "", cli.Flag(nil)
	for i, a := range args {
		switch {
		case pending != nil:
			pending = nil
		case len(a) > 0 && a[0] == '-' && i == len(args)-1 && (a == "-" || a == "--" || Lookup(a, flags) == nil):
			begun = a
		case len(a) > 1 && a[0] == '-':
			if takesValue(a, flags) {
				pending = Lookup(a, flags)
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
		found = choices(pending.Names()[0])
	case begun != "":
		found = flagNames(flags)
	case len(cmds) > 0:
		for _, c := range cmds {
			if !c.Hidden {
				found = append(found, c.Name)
			}
		}
	case command.BashComplete != nil:
		command.BashComplete(cli.NewContext(app, nil, nil))
	}
	for _, f := range found {
		if !strings.HasPrefix(f, begun) {
			continue
		}
		if _, err := fmt.Fprintln(app.Writer, f); err != nil {
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

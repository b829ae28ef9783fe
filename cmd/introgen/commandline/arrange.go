package commandline

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// flagsFirst moves the flags of every command in front of its arguments, since
// package cli stops reading flags at the first argument, and users write
// `introgen metal 2 --trace`; those of every command stand in front of all. What
// follows "--" stays an argument.
func flagsFirst(app *cli.App, args []string) ([]string, error) {
	if len(args) == 0 {
		return args, nil
	}
	out := []string{args[0]}
	flags, cmds := app.Flags, app.Commands
	var all, front, back []string
	rest := args[1:]
	if len(rest) > 0 && rest[0] == "help" { // as in other programs: introgen help cpu
		rest = append(slices.Clone(rest[1:]), "--help")
	}
	for i := 0; i < len(rest); i++ {
		a := rest[i]
		switch {
		case a == "--":
			back = append(back, rest[i+1:]...)
			i = len(rest)
		case len(a) > 1 && a[0] == '-' && !isNegativeNumber(a, flags):
			to, known := &front, flags
			if Lookup(a, flags) == nil && Lookup(a, app.Flags) != nil {
				to, known = &all, app.Flags
			}
			*to = append(*to, a)
			if takesValue(a, known) {
				if i+1 == len(rest) {
					return nil, Usagef("flag %s needs a value", a)
				}
				i++
				*to = append(*to, rest[i])
			}
		default:
			if cmd := find(cmds, a); cmd != nil && len(back) == 0 {
				out = append(append(out, front...), a)
				front, flags, cmds = nil, cmd.Flags, cmd.Subcommands
				continue
			}
			back = append(back, a)
		}
	}
	if len(back) > 0 && slices.ContainsFunc(front, isHelp) {
		// Package cli would take the argument for a topic of its help. Where a
		// command is wanted it is a wrong one, and else it has no meaning.
		if len(cmds) > 0 {
			front = slices.DeleteFunc(front, isHelp)
		} else {
			back = nil
		}
	}
	out = append(slices.Insert(out, 1, all...), front...)
	if slices.ContainsFunc(back, func(a string) bool { return len(a) > 1 && a[0] == '-' }) {
		out = append(out, "--") // keep what looks like a flag an argument
	}
	return append(out, back...), nil
}

func isHelp(a string) bool { return a == "--help" || a == "-help" || a == "-h" || a == "--h" }

func find(cmds []*cli.Command, name string) *cli.Command {
	for _, c := range cmds {
		if c.HasName(name) {
			return c
		}
	}
	return nil
}

// isNegativeNumber tells -3 from a flag, so that a negative count is refused
// as a count and not as an unknown flag.
func isNegativeNumber(a string, flags []cli.Flag) bool {
	return a[1] >= '0' && a[1] <= '9' && Lookup(a, flags) == nil
}

// takesValue says whether the flag written as a takes the next argument as its
// value. A flag that is not known takes none; package cli reports it.
func takesValue(a string, flags []cli.Flag) bool {
	if strings.Contains(a, "=") {
		return false
	}
	switch f := Lookup(a, flags).(type) {
	case nil, *cli.BoolFlag:
		return false
	case *cli.GenericFlag:
		b, ok := f.Value.(interface{ IsBoolFlag() bool })
		return !ok || !b.IsBoolFlag()
	}
	return true
}

// Lookup finds the flag that is written as a, with or without its dashes and its
// value; nil where there is none.
func Lookup(a string, flags []cli.Flag) cli.Flag {
	name, _, _ := strings.Cut(strings.TrimLeft(a, "-"), "=")
	for _, f := range flags {
		if slices.Contains(f.Names(), name) {
			return f
		}
	}
	return nil
}

package commandline

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/urfave/cli/v2"
)

func unknownCommand(c *cli.Context) error {
	name, within, cmds := c.Args().First(), c.App.Name, c.App.Commands
	if c.Command != nil && c.Command.Name != c.App.Name {
		within, cmds = within+" "+c.Command.Name, c.Command.Subcommands
	}
	hint := ""
	var names []string
	for _, cmd := range cmds {
		names = append(names, cmd.Names()...)
	}
	if s := nearest(name, names); s != "" {
		hint = fmt.Sprintf(": did you mean %q", s)
	} else if Lookup(name, c.App.Flags) != nil {
		hint = fmt.Sprintf(": did you mean %q", dashed(name))
	}
	return Usagef("%s has no command %q%s; see `%s --help`", within, name, hint, within)
}

// wrongFlag says what package flag found wrong, which is terse and calls every
// flag -name.
func wrongFlag(c *cli.Context, err error) error {
	within, flags := c.App.Name, c.App.Flags
	if c.Command != nil && c.Command.Name != c.App.Name {
		within, flags = c.Command.HelpName, c.Command.Flags
	}
	if name, ok := strings.CutPrefix(err.Error(), "flag provided but not defined: -"); ok {
		hint := ""
		var names []string
		for _, f := range flags {
			names = append(names, f.Names()...)
		}
		if s := nearest(strings.TrimLeft(name, "-"), names); s != "" {
			hint = fmt.Sprintf(": did you mean %q", dashed(s))
		}
		return Usagef("%s has no flag %q%s; see `%s --help`", within, dashed(name), hint, within)
	}
	if m := wrongValue.FindStringSubmatch(err.Error()); m != nil {
		return Usagef("%s %s: %s; see `%s --help`", dashed(m[2]), m[1], wantedOf(m[3], Lookup(m[2], flags)), within)
	}
	return Usagef("%w; see `%s --help`", err, within)
}

// wrongValue is how package flag refuses a value.
var wrongValue = regexp.MustCompile(`^invalid (?:boolean )?value (".*") for (?:flag )?-(\S+?): (.*)$`)

// wantedOf makes an instruction of package flag's reason not to take a value of
// the flag.
func wantedOf(reason string, f cli.Flag) string {
	switch reason {
	case "parse error":
		switch f.(type) {
		case *cli.DurationFlag:
			return "a time with its unit is wanted, such as 5m or 90s"
		case *cli.IntFlag, *cli.Uint64Flag:
			return "a whole number is wanted, such as 2"
		}
		return "cannot be read as a value of this flag"
	case "value out of range":
		return "is beyond any number that is allowed"
	}
	return reason
}

func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + strings.TrimLeft(name, "-")
}

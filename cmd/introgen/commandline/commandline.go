// Package commandline gives package cli the manners that users know of other
// programs: flags anywhere among the arguments, completion of what is half
// written, help that fits a terminal, and errors that say what is wanted.
package commandline

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"
)

// UsageError is a command line that cannot be understood, told apart from a run
// that failed.
type UsageError struct{ Err error }

func (e UsageError) Error() string { return e.Err.Error() }
func (e UsageError) Unwrap() error { return e.Err }

// Usagef is a UsageError of that text.
func Usagef(format string, a ...any) error { return UsageError{fmt.Errorf(format, a...)} }

// Prepare sets what an app and all of its commands have in common.
func Prepare(app *cli.App) {
	app.HideHelpCommand = true
	app.UseShortOptionHandling = true
	app.Suggest = true
	app.DisableSliceFlagSeparator = true // a file's name may have a comma
	app.OnUsageError = func(c *cli.Context, err error, _ bool) error { return wrongFlag(c, err) }
	app.ExitErrHandler = func(*cli.Context, error) {} // who calls Run reports, once
	app.Action = orHelp(cli.ShowAppHelp)
	forEach(app.Commands, func(cmd *cli.Command) {
		cmd.OnUsageError = app.OnUsageError
		cmd.HideHelpCommand = true
		cmd.Description = paragraphs(cmd.Description)
		if len(cmd.Subcommands) > 0 && cmd.Action == nil {
			cmd.Action = orHelp(cli.ShowSubcommandHelp)
		}
	})
}

func forEach(cmds []*cli.Command, f func(*cli.Command)) {
	for _, c := range cmds {
		f(c)
		forEach(c.Subcommands, f)
	}
}

// orHelp refuses a command that there is not, and shows help where none is named.
func orHelp(help cli.ActionFunc) cli.ActionFunc {
	return func(c *cli.Context) error {
		if c.Args().Present() {
			return unknownCommand(c)
		}
		return help(c)
	}
}

// Run runs an app that is prepared with a program's arguments, or completes them
// for a shell; choices are the values that a flag has few of.
func Run(ctx context.Context, app *cli.App, args []string, choices func(flag string) []string) error {
	if n := len(args) - 1; n > 0 && args[n] == CompletionFlag {
		return complete(app, args[1:n], choices)
	}
	args, err := flagsFirst(app, args)
	if err != nil {
		return err
	}
	return app.RunContext(ctx, args)
}

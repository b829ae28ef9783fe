package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"syscall"

	"github.com/introgen/introgen/results/sanitize"
	"github.com/introgen/introgen/trace"
	"github.com/urfave/cli/v2"
)

// Exit codes, as --help states them.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitCrashed     = 2   // of a Go program that panics
	exitInterrupted = 130 // 128 + SIGINT, as shells count
)

// usageError is a command line that cannot be understood, told apart from a
// run that failed.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

func usagef(format string, a ...any) error { return usageError{fmt.Errorf(format, a...)} }

// run is the whole program as a function of its arguments and writers. It
// returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return record(ctx, newSession(trace.New(), args, stderr), args, stdout)
}

// record is run with a session that began before.
func record(ctx context.Context, s *session, args []string, stdout io.Writer) int {
	defer s.crashed()
	over := s.awaited(ctx)
	out := &sink{w: stdout}
	app := newApp(out, s.stderr)
	app.Metadata = map[string]any{sessionKey: s}
	var err error
	if n := len(args) - 1; n > 0 && args[n] == completionFlag {
		err = complete(out, app, args[1:n])
	} else if args, err = flagsFirst(app, args); err == nil {
		err = app.RunContext(ctx, args)
	}
	if err == nil {
		err = out.err
	}
	err = s.finish(ctx, err)
	over()
	err = errors.Join(err, s.profile.end(s.note))
	code := exitCode(ctx, err)
	report(code, err, s.stderr, out.printed)
	return code
}

// sink is standard output. It keeps the first error, which package cli ignores
// where it prints help or the version.
type sink struct {
	w       io.Writer
	err     error
	printed bool // whether anything was
}

func (s *sink) Write(p []byte) (int, error) {
	n, err := s.w.Write(p)
	s.printed = s.printed || n > 0
	if s.err == nil {
		s.err = err
	}
	return n, err
}

// exitCode is what the program returns after err.
func exitCode(ctx context.Context, err error) int {
	var usage usageError
	switch {
	case err == nil, errors.Is(err, syscall.EPIPE):
		return exitOK // also where whoever read the output has seen enough
	case errors.As(err, &usage):
		return exitUsage
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		return exitInterrupted
	}
	return exitFailed
}

// report prints what ended the program, in one line. printed says that there is
// output.
func report(code int, err error, stderr io.Writer, printed bool) {
	holds := ""
	if printed {
		holds = "what stands above holds, and "
	}
	switch code {
	case exitOK:
	case exitInterrupted:
		fmt.Fprintf(stderr, "introgen: interrupted; %sthe same command can be given again\n", holds)
	default:
		fmt.Fprintf(stderr, "introgen: %s\n", oneLine(err))
	}
}

// oneLine joins the lines of errors.Join, so that an error is always one line,
// whatever the names in it.
func oneLine(err error) string {
	return sanitize.Line(strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' }), "; "))
}

func newApp(stdout, stderr io.Writer) *cli.App {
	app := &cli.App{
		Name:      "introgen",
		Usage:     "where does the time to the first token, and to every token after it, go?",
		Version:   built().String(),
		Writer:    stdout,
		ErrWriter: stderr,
		Description: "introgen runs a small real language model and times every phase of it.\n\n" +
			"Exit codes: 0 done, 1 the run failed, 2 the command line is wrong, 130 interrupted (what was measured is kept).",
		CustomAppHelpTemplate:     appHelp,
		HideHelpCommand:           true,
		UseShortOptionHandling:    true,
		Suggest:                   true,
		DisableSliceFlagSeparator: true, // a file's name may have a comma
		Commands:                  commands(),
		Flags:                     []cli.Flag{profileFlag()},
		Before:                    startProfile,
		OnUsageError:              func(c *cli.Context, err error, _ bool) error { return wrongFlag(c, err) },
		ExitErrHandler:            func(*cli.Context, error) {}, // run reports, once
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return unknownCommand(c)
			}
			return cli.ShowAppHelp(c)
		},
	}
	forEachCommand(app.Commands, func(cmd *cli.Command) {
		cmd.OnUsageError = app.OnUsageError
		cmd.HideHelpCommand = true
		cmd.Description = paragraphs(cmd.Description)
		if len(cmd.Subcommands) > 0 && cmd.Action == nil {
			cmd.Action = func(c *cli.Context) error {
				if c.Args().Present() {
					return unknownCommand(c)
				}
				return cli.ShowSubcommandHelp(c)
			}
		}
	})
	return app
}

// commands are those of the program, in the order of --help.
func commands() []*cli.Command {
	all := []*cli.Command{cpuCommand(), metalCommand()}
	for _, p := range planCommands() {
		all = append(all, p.command())
	}
	return append(all,
		diffCommand(),
		showCommand(),
		listCommand(),
		metaCommand(),
		tokenizeCommand(),
		bandwidthCommand(),
		cacheCommand(),
		kernelsCommand(),
		modelCommand(),
		doctorCommand(),
		completionCommand(),
	)
}

func forEachCommand(cmds []*cli.Command, f func(*cli.Command)) {
	for _, c := range cmds {
		f(c)
		forEachCommand(c.Subcommands, f)
	}
}

func unknownCommand(c *cli.Context) error {
	name, within, cmds := c.Args().First(), "introgen", c.App.Commands
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
	} else if lookup(name, c.App.Flags) != nil {
		hint = fmt.Sprintf(": did you mean %q", dashed(name))
	}
	return usagef("%s has no command %q%s; see `%s --help`", within, name, hint, within)
}

// wrongFlag says what package flag found wrong, which is terse and calls every
// flag -name.
func wrongFlag(c *cli.Context, err error) error {
	within, flags := "introgen", c.App.Flags
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
		return usagef("%s has no flag %q%s; see `%s --help`", within, dashed(name), hint, within)
	}
	if m := wrongValue.FindStringSubmatch(err.Error()); m != nil {
		return usagef("%s %s: %s; see `%s --help`", dashed(m[2]), m[1], wantedOf(m[3], lookup(m[2], flags)), within)
	}
	return usagef("%w; see `%s --help`", err, within)
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

const appHelp = `{{.Name}} - {{.Usage}}

Usage:
   introgen COMMAND [flags and arguments in any order]

Commands:{{range .VisibleCommands}}
   {{join .Names ", "}}{{"\t"}}{{.Usage}}{{end}}

{{.Description}}

Of every command, --profile-self DIR writes where introgen's own time and memory
go to cpu.pprof and heap.pprof in DIR. What is measured meanwhile is slower.

Examples:
   introgen cpu 3                    three generations on the CPU, phase by phase
   introgen metal 2 --trace --nonce  a cold run on Metal, with everything that it compiles
   introgen compare                  cold, warm and on the CPU: where the time goes, and why
   introgen explain 1                what dominated the last run, and what to do about it
   introgen meta MODEL --tensors     what a model file holds
   introgen compare 1 --profile-self prof && go tool pprof -top prof/cpu.pprof

"introgen COMMAND --help" says more of each.
`

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	"github.com/introgen/introgen/cmd/introgen/commandline"
	"github.com/introgen/introgen/results/sanitize"
	"github.com/introgen/introgen/system/terminal"
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

// usagef and misuse make errors of a command line that cannot be understood.
func usagef(format string, a ...any) error { return commandline.Usagef(format, a...) }

func misuse(err error) error { return commandline.UsageError{Err: err} }

// record is the whole program as a function of its session, arguments and output. It
// returns the exit code.
func record(ctx context.Context, s *session, args []string, stdout io.Writer) int {
	defer s.crashed()
	over := s.awaited(ctx)
	out := &sink{w: stdout}
	app := newApp(out, s.stderr)
	app.Metadata = map[string]any{sessionKey: s}
	err := commandline.Run(ctx, app, args, flagChoices)
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

// sink is where output goes. It keeps the first error, which package cli ignores
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

// onTerminal says whether what is written to w goes to a terminal.
func onTerminal(w io.Writer) bool {
	if s, ok := w.(*sink); ok {
		w = s.w
	}
	return terminal.Is(w)
}

// exitCode is what the program returns after err.
func exitCode(ctx context.Context, err error) int {
	var usage commandline.UsageError
	var ended programEnded
	switch {
	case err == nil, errors.Is(err, syscall.EPIPE):
		return exitOK // also where whoever read the output has seen enough
	case errors.As(err, &ended):
		return ended.status
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
	if errors.As(err, &programEnded{}) {
		return // it has said itself what there is to say
	}
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
		CustomAppHelpTemplate: appHelp,
		Commands:              commands(),
		Flags:                 []cli.Flag{profileFlag()},
		Before:                startProfile,
	}
	commandline.Prepare(app)
	return app
}

// commands are those of the program, in the order of --help.
func commands() []*cli.Command {
	all := []*cli.Command{cpuCommand(), metalCommand(), recordCommand()}
	for _, p := range planCommands() {
		all = append(all, p.command())
	}
	return append(all,
		diffCommand(),
		showCommand(),
		reportCommand(),
		watchCommand(),
		listCommand(),
		metaCommand(),
		tokenizeCommand(),
		bandwidthCommand(),
		cacheCommand(),
		kernelsCommand(),
		kernelCommand(),
		modelCommand(),
		sdkCommand(),
		doctorCommand(),
		completionCommand(),
		metalBesideCommand(),
	)
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
   introgen record -- ./chat MODEL   what any program does with Metal, unmodified
   introgen compare                  cold, warm and on the CPU: where the time goes, and why
   introgen explain 1                what dominated the last run, and what to do about it
   introgen meta MODEL --tensors     what a model file holds
   introgen compare 1 --profile-self prof && go tool pprof -top prof/cpu.pprof

"introgen COMMAND --help" says more of each.
`

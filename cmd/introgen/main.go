// Command introgen shows where the time to the first token, and to every token
// after it, goes. See `introgen --help`.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/introgen/introgen/trace"
	"github.com/urfave/cli/v2"
)

func main() {
	s := newSession(trace.New(), os.Args, os.Stderr) // first, so that nothing of what follows is missed
	ctx, stop := signal.NotifyContext(context.Background(), stopSignals()...)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the process at once
	// Who writes to a pipe that nobody reads gets an error, not a signal that
	// would end the recording too. It is taken, not ignored: what is ignored
	// stays so in the compilers that are run.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	os.Exit(record(ctx, s, os.Args, os.Stdout))
}

// stopSignals are the signals upon which a run ends, keeping what was measured:
// also that of a terminal which is closed, unless nohup has it ignored.
func stopSignals() []os.Signal {
	all := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		all = append(all, syscall.SIGHUP)
	}
	return all
}

// endAtOnce gives those signals their effect back, in commands that only read
// and print: they have nothing to keep, and may wait for a pipe or read for long.
func endAtOnce(*cli.Context) error {
	signal.Reset(stopSignals()...)
	return nil
}

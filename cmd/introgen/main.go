// Command introgen shows where the time to the first token, and to every token
// after it, goes. See `introgen --help`.
package main

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/introgen/introgen/trace"
)

func main() {
	s := newSession(trace.New(), os.Args, os.Stderr) // first, so that nothing of what follows is missed
	s.typed, s.out.watched = true, takeWatched()
	ctx := stopContext()
	// Who writes to a pipe that nobody reads gets an error, not a signal that
	// would end the recording too. It is taken, not ignored: what is ignored
	// stays so in the compilers that are run.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	os.Exit(record(ctx, s, os.Args, os.Stdout))
}

package main

import (
	"context"
	"io"

	"github.com/introgen/introgen/trace"
)

// run is the whole program as a function of its arguments and writers. It
// returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return record(ctx, newSession(trace.New(), args, stderr), args, stdout)
}

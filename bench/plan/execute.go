package plan

import (
	"context"
	"time"

	"github.com/introgen/introgen/results/recording"
)

// Child is one run of introgen to be made.
type Child struct {
	Run, Block int // both from 1; 0 where Fill
	Arm        recording.Arm
	// Fill asks for a run that counts for nothing: it fills the cache of
	// compiled code that the arm's runs are to find.
	Fill    bool
	Timeout time.Duration
}

// Outcome is what came of a run.
type Outcome struct {
	Recording []byte // what the child wrote, perhaps not whole
	// Spawned and Reaped are the machine's monotonic clock right before the
	// process was started and right after it had ended.
	Spawned, Reaped int64
	Code            int     // exit code; −1 where a signal ended it, or it was never started
	Signal          string  // its name, where one ended it
	Error           string  // what else went wrong, and the last that the child said on stderr
	Hung            bool    // ended because Timeout had passed
	MaxRSS          int64   // bytes; 0 where unknown
	Prepared        []int64 // nanoseconds that each of the arm's Prepare took
}

// Executor does what a plan decides: everything outside of it.
type Executor interface {
	// Run makes a run and waits for its end. A cancelled context ends it.
	Run(ctx context.Context, c Child) Outcome
	// Prepare runs a command of the shell.
	Prepare(ctx context.Context, command string) error
	// Pause waits. A cancelled context ends that with its error.
	Pause(ctx context.Context, d time.Duration) error
	// Machine reads the machine's state since the reading before.
	Machine() recording.Machine
	// Now is the time since the executor was made.
	Now() time.Duration
	// Close removes what the runs needed.
	Close() error
}

// Progress says how far a plan is.
type Progress struct {
	Doing   string // "fill", "cooldown", "prepare", "run"; "end" is the last one
	Arm     string
	Block   int           // from 1
	Blocks  int           // the most
	Run     int           // runs begun, also those that do not count
	Refused int           // runs that do not count
	Elapsed time.Duration // since the plan began
	Left    time.Duration // about, until the most blocks are done; negative while nobody can tell
}

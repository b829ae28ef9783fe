// Package plan decides which runs are made, in which order, and until when:
// fresh processes of introgen, one for every arm in every block, interleaved so
// that a machine that drifts does so under all arms alike. It holds each run's
// evidence against the state that the run was meant to be in, flags what was
// disturbed, and keeps what went wrong. It computes no results: those are
// views of the recording that it makes.
//
// What happens outside (processes, waiting, the clock) is an Executor's; the
// package plantest has one that only writes down what it was asked.
package plan

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/introgen/introgen/results/recording"
)

// Orders of the arms within blocks.
const (
	OrderRandom = "random" // shuffled anew for every block, by the plan's seed
	OrderABBA   = "abba"   // forwards in odd blocks, backwards in even ones
)

// Caches of compiled code that an arm can begin with (recording.Arm.Cache). The
// empty string is the user's own folder, as it is.
const (
	CacheEmpty = "empty" // a new folder for each run
	CacheHalf  = "half"  // a new folder with every second entry of a full one
	// CachePrepared is a new folder with what the arm's Prepare left in it.
	CachePrepared = "prepared"
)

const (
	// DefaultRuns is the least number of samples that has a 95 % interval of
	// the median.
	DefaultRuns = 6
	// MostBlocks bounds a plan that goes on until it is decided.
	MostBlocks = 100
	// DefaultTimeout ends a run that hangs.
	DefaultTimeout = 10 * time.Minute

	// repeats is how often a run that does not count is made again in its
	// block, and giveUp in how many blocks at the beginning an arm may have no
	// run that counts before it is left out.
	repeats = 2
	giveUp  = 3
)

// Options say what to run.
type Options struct {
	// Header describes the plan's own process; Plan.Blocks is set from Max.
	Header recording.Header
	Plan   recording.Plan

	// Max is how many blocks are run (default DefaultRuns), or with
	// Plan.Until at most (default MostBlocks); then Min is the least (default
	// DefaultRuns).
	Min, Max int
	// MaxTime ends the plan before a block that would last longer, after at
	// least one; 0 is no limit.
	MaxTime time.Duration
	// Cooldown is waited before every run but the first, then Prepare, a
	// command of the shell, is run.
	Cooldown time.Duration
	Prepare  string
	// Timeout is how long one run may last, by default DefaultTimeout.
	Timeout time.Duration

	// Metric is what Plan.Until watches: a time of a run, and whether the run
	// has it.
	Metric func(*recording.Run) (float64, bool)

	// Judge, where it is not nil, says what is wrong with the runs once all are
	// made: the error that the plan ends with, in its recording too.
	Judge func(*recording.File) error

	Executor Executor       // default: this binary as a child process
	Out      Sink           // may be nil
	Progress func(Progress) // may be nil
}

// Sink takes the plan's recording; *recording.Writer is one.
type Sink interface {
	Put(recording.Event) error
	PutLine(line []byte) error // of a child, as it is
	Flush() error
}

// A UsageError is a run that ended because its command line is wrong, which no
// repetition mends.
type UsageError struct {
	Arm    string
	Reason string // what the child said
}

func (e *UsageError) Error() string { return fmt.Sprintf("arm %q: %s", e.Arm, e.Reason) }

// Run makes the plan's runs. What was measured is returned also with an error:
// context.Canceled after an interrupt, a *UsageError, what Judge says, a failure to
// write Out or to prepare.
func Run(ctx context.Context, o Options) (*recording.File, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	r := newRunner(o)
	err := r.begin()
	if err == nil {
		err = r.prime(ctx)
	}
	if err == nil {
		err = r.blocks(ctx)
	}
	if err == nil && o.Judge != nil {
		err = o.Judge(r.file)
	}
	return r.file, errors.Join(err, r.end(ctx, err))
}

// complete checks the options and sets defaults.
func (o *Options) complete() error {
	p := &o.Plan
	p.Arms = slices.Clone(p.Arms)
	names := map[string]bool{}
	for i := range p.Arms {
		a := &p.Arms[i]
		switch {
		case a.Name == "" || len(a.Args) == 0:
			return fmt.Errorf("arm %d of the plan has no name or no command", i+1)
		case names[a.Name]:
			return fmt.Errorf("two arms of the plan are called %q", a.Name)
		case a.State == recording.StateColdNatural && a.Cache == "":
			a.Cache = CacheEmpty
		}
		if !slices.Contains([]string{"", CacheEmpty, CacheHalf, CachePrepared}, a.Cache) {
			return fmt.Errorf("arm %q: cache %q is neither %s nor %s nor %s", a.Name, a.Cache, CacheEmpty, CacheHalf, CachePrepared)
		}
		if a.Cache == CachePrepared && len(a.Prepare) == 0 || slices.ContainsFunc(a.Prepare, func(args []string) bool { return len(args) == 0 }) {
			return fmt.Errorf("arm %q: its cache is %q and it is prepared by %d command lines: at least one, and none without words, is wanted", a.Name, a.Cache, len(a.Prepare))
		}
		if !slices.Contains(states, a.State) {
			return fmt.Errorf("arm %q: state %q is not known", a.Name, a.State)
		}
		names[a.Name] = true
	}
	if len(p.Arms) == 0 {
		return errors.New("the plan has no arm")
	}
	if p.Order == "" {
		p.Order = OrderRandom
	}
	if p.Order != OrderRandom && p.Order != OrderABBA {
		return fmt.Errorf("order %q is not known: %s or %s", p.Order, OrderRandom, OrderABBA)
	}
	if o.Max == 0 {
		if o.Max = DefaultRuns; p.Until > 0 {
			o.Max = MostBlocks
		}
	}
	if o.Min == 0 {
		o.Min = min(DefaultRuns, o.Max)
	}
	if o.Min < 1 || o.Max < o.Min {
		return fmt.Errorf("%d to %d blocks: at least one is wanted, and the most not below the least", o.Min, o.Max)
	}
	if p.Until < 0 || p.Until > 0 && o.Metric == nil {
		return errors.New("a plan that goes on until decided needs a positive width and a metric")
	}
	if o.Cooldown < 0 || o.MaxTime < 0 || o.Timeout < 0 {
		return errors.New("a plan's times are not negative")
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Executor == nil {
		x, err := NewProcesses()
		if err != nil {
			return err
		}
		o.Executor = x
	}
	p.Blocks = o.Max
	return nil
}

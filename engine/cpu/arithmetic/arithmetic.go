// Package arithmetic measures how many float32 operations a second this machine's
// processor does: the limit of what reads little memory for each of them, such as
// passing a long prompt. Nothing but registers is used, so memory does not matter.
package arithmetic

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/introgen/introgen/engine/cpu/threads"
)

// Options are who computes, and how often. All must be given.
type Options struct {
	Threads int // from 1 to MaxThreads
	Rounds  int // from 1 to MaxRounds
}

// DefaultRounds is what a probe takes where nobody says otherwise: half a second.
const DefaultRounds = 20

// The bounds of Options.
const (
	MaxThreads = 256
	MaxRounds  = 10000
)

// Result is what a probe measured.
type Result struct {
	Options
	Kernel  string    // how it was computed: "avx512", "avx2", "neon", "generic"
	Samples []float64 // GFLOP/s (10^9 operations, of which a multiply-add is two) of each round, in order
	Best    float64   // the largest sample
	Median  float64   // the middle sample; of two, the lower
}

const (
	// factors is the number of values that lanes are multiplied by in turn.
	factors = 8
	// unitTurns is how often a unit of work multiplies and adds in each lane: so
	// often that calling and checking are nothing beside it, and so few times that
	// float32 holds every sum exactly.
	unitTurns = 1 << 16
	// roundTime is about how long a round is to take.
	roundTime = 25 * time.Millisecond
	// maxUnits bounds the units of a round, whatever the clock says.
	maxUnits = 1 << 24
)

// multiplier is a way to compute: x[i] += a[i%factors] * b, turns times, in each of
// its lanes.
type multiplier struct {
	name  string
	lanes int // a multiple of factors, at most maxLanes
	run   func(x *float32, a *[factors]float32, b float32, turns int)
}

// maxLanes is the most lanes that a multiplier has.
const maxLanes = 256

// computer is the work of a round: a unit is unitTurns turns in all lanes.
type computer struct {
	multiplier
	a     [factors]float32
	lanes []lanes
	wrong atomic.Bool // some unit came to other numbers
}

// lanes are a thread's own.
type lanes struct {
	x [maxLanes]float32
	_ [128]byte // keep threads off each other's cache lines
}

// Do implements threads.Body. Lane i begins with i, so that it ends with i +
// a[i%factors] * unitTurns: whole numbers below 2^24, which float32 holds exactly.
func (c *computer) Do(tid, _, lo, hi int) {
	x := c.lanes[tid].x[:c.multiplier.lanes]
	for range hi - lo {
		for i := range x {
			x[i] = float32(i)
		}
		c.run(&x[0], &c.a, 1, unitTurns)
		for i, v := range x {
			if v != float32(i)+c.a[i%factors]*unitTurns {
				c.wrong.Store(true)
			}
		}
	}
}

// Ahead implements threads.Body.
func (c *computer) Ahead(int, int, any) {}

// Run has the threads multiply and add together, in rounds of about a fortieth of
// a second. When ctx ends, so does Run, with its error, after the round under way.
func Run(ctx context.Context, o Options) (*Result, error) {
	switch {
	case o.Threads < 1 || o.Threads > MaxThreads:
		return nil, fmt.Errorf("arithmetic: %d threads; allowed are 1 to %d", o.Threads, MaxThreads)
	case o.Rounds < 1 || o.Rounds > MaxRounds:
		return nil, fmt.Errorf("arithmetic: %d rounds; allowed are 1 to %d", o.Rounds, MaxRounds)
	}
	body := &computer{multiplier: best(), lanes: make([]lanes, o.Threads)}
	for i := range body.a {
		body.a[i] = float32(i + 1)
	}
	team := threads.New(o.Threads, body, func(f func() error) error { return f() })
	defer team.Close()
	round := func(units int) (time.Duration, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		plan := threads.NewStages([]int{units}, nil)
		start := time.Now()
		if err := team.Run(plan); err != nil {
			return 0, fmt.Errorf("arithmetic: %w", err)
		}
		took := max(1, time.Since(start))
		if body.wrong.Load() {
			return 0, fmt.Errorf("arithmetic: the sums of the %s multiplier are wrong: it or the processor is at fault", body.name)
		}
		return took, nil
	}

	// Rounds that double until one is long enough also warm up.
	units := o.Threads
	for {
		took, err := round(units)
		if err != nil {
			return nil, err
		}
		if took >= roundTime/2 || units > maxUnits/2 {
			break
		}
		units *= 2
	}
	res := &Result{Options: o, Kernel: body.name}
	operations := float64(units) * unitTurns * float64(body.multiplier.lanes) * 2
	for range o.Rounds {
		took, err := round(units)
		if err != nil {
			return nil, err
		}
		res.Samples = append(res.Samples, operations/float64(took.Nanoseconds()))
	}
	sorted := slices.Sorted(slices.Values(res.Samples))
	res.Best, res.Median = sorted[len(sorted)-1], sorted[(len(sorted)-1)/2]
	return res, nil
}

package explain

import (
	"fmt"
	"math"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/answers/samples"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/metrics"
)

// perStep are the median figures of a decode step in later rounds, or of what a
// program without them does.
type perStep struct {
	what                                                                 string // "a decode step"
	wall, gpu, encode, commit, wait, buffers, dispatches, overlap, waits float64
}

// stepName is what a step of the arm is: of a program it may be one that repeats, or
// the whole program.
func (c *Case) stepName() string {
	for _, x := range c.Later.Samples {
		switch r := x.Rounds[0]; {
		case !r.Program() || len(r.Steps()) > 0:
		case len(r.Repeats()) > 1:
			return "a step"
		default:
			return "the program"
		}
	}
	return "a decode step"
}

func (c *Case) perStep() perStep { return c.per(c.stepName(), stepMedian) }

// whole is the same of a recorded program as a whole; of an engine's runs it is nothing.
func (c *Case) whole() perStep {
	return c.per("the program", func(of func(breakdown.Phase) float64) figure {
		return func(r breakdown.Round) (float64, bool) {
			if !r.Program() || r.Lost() {
				return 0, false
			}
			v := of(r.Together())
			return v, !math.IsNaN(v)
		}
	})
}

func (c *Case) per(what string, over func(func(breakdown.Phase) float64) figure) perStep {
	of := func(f func(breakdown.Phase) float64) float64 { return c.overLater(over(f)) }
	return perStep{
		what:       what,
		wait:       of(func(p breakdown.Phase) float64 { return float64(p.Wait) }),
		waits:      of(func(p breakdown.Phase) float64 { return counted(p.Waits) }),
		wall:       of(func(p breakdown.Phase) float64 { return float64(p.Time()) }),
		gpu:        of(func(p breakdown.Phase) float64 { return float64(p.GPU) }),
		encode:     of(func(p breakdown.Phase) float64 { return float64(p.Encode) }),
		commit:     of(func(p breakdown.Phase) float64 { return float64(p.Commit) }),
		buffers:    of(func(p breakdown.Phase) float64 { return counted(p.CommandBuffers) }),
		dispatches: of(func(p breakdown.Phase) float64 { return counted(p.Dispatches) }),
		overlap:    of(func(p breakdown.Phase) float64 { return float64(p.Overlap) / float64(max(1, p.GPU)) }),
	}
}

// apart says whether the arm's steps are told apart from those of the arm with
// candle's own number of operations in a command buffer, where the recording has
// one; as the sweep does. Without such an arm, or without enough runs, nothing
// speaks against it.
func (c *Case) apart() bool {
	const level = "50"
	for _, p := range c.Peers {
		for _, factor := range []string{"per-buffer", "CANDLE_METAL_COMPUTE_PER_BUFFER"} {
			if p.Later.Levels[factor] != level || c.Later.Levels[factor] == level {
				continue
			}
			for _, m := range []metrics.Metric{metrics.Decode, metrics.Repeats} {
				r := samples.Ratio(p.Later, c.Later, m)
				const matters = 1.02
				if r.Decidable && (!r.Significant || r.Ratio < matters) {
					return false
				}
			}
		}
	}
	return true
}

// fewerCommits is what to do about commits in a program.
const fewerCommits = "let a command buffer hold more before it is committed (a program of candle's: CANDLE_METAL_COMPUTE_PER_BUFFER=50); `introgen sweep --env CANDLE_METAL_COMPUTE_PER_BUFFER=1,10,50,200 -- PROGRAM`, or with a variable or an argument of the program's own, measures what it brings here"

// fewOperations are too few for a command buffer: candle's flat range is 10 to 200.
const fewOperations = 8

var tooManyCommits = Rule{
	Name: "too many commits", Sure: Likely, OfPrograms: fewerCommits,
	Advice: "let a command buffer hold more: --commands-per-buffer 50 (CANDLE_METAL_COMPUTE_PER_BUFFER); `introgen sweep --commands-per-buffer 1,10,50,200` measures what it brings here",
	Find: func(c *Case) (Facts, time.Duration) {
		s := c.perStep()
		if s.buffers < 20 || s.dispatches/s.buffers >= fewOperations || !c.apart() {
			return nil, 0
		}
		f, cost := TooManyCommits{What: s.what, Buffers: s.buffers, Operations: s.dispatches / s.buffers, Step: time.Duration(s.wall)}, 0.0
		if s.gpu > 0 {
			f.Device, cost = time.Duration(s.gpu), max(0, s.wall-s.gpu)
		}
		return f, time.Duration(cost)
	},
}

// TooManyCommits: command buffers hold few operations.
type TooManyCommits struct {
	What         string        // that commits them: "a decode step"
	Buffers      float64       // of a decode step
	Operations   float64       // of a command buffer
	Device, Step time.Duration // what of a step the device runs for, 0 where unknown
}

func (f TooManyCommits) Text() string {
	device := "an unknown part"
	if f.Device > 0 {
		device = ms(f.Device)
	}
	return fmt.Sprintf("%s commits %s command buffers of %s operations each; the device runs for %s of its %s ms",
		f.What, figures.Count(f.Buffers), figures.Count(f.Operations), device, ms(f.Step))
}

var commitTooLate = Rule{
	Name: "one commit too late", Sure: Likely,
	OfPrograms: "commit earlier, so that the device begins while the rest is encoded (a program of candle's: CANDLE_METAL_COMPUTE_PER_BUFFER=50); `introgen sweep --env CANDLE_METAL_COMPUTE_PER_BUFFER=10,50,200,100000 -- PROGRAM`, or with a variable or an argument of the program's own, measures what it brings here",
	Advice:     "commit earlier: --commands-per-buffer 50; `introgen sweep --commands-per-buffer 10,50,200,100000` measures what it brings here",
	Find: func(c *Case) (Facts, time.Duration) {
		s := c.perStep()
		if s.buffers == 0 || s.buffers > 2 || s.dispatches < 100 || s.overlap > 0.2 || s.encode < 0.02*s.wall || !c.apart() {
			return nil, 0
		}
		return CommitTooLate{What: s.what, Operations: s.dispatches, Buffers: s.buffers, Encoding: time.Duration(s.encode)}, time.Duration(s.encode)
	},
}

// CommitTooLate: the device begins when all is encoded.
type CommitTooLate struct {
	What                string  // that commits them: "a decode step"
	Operations, Buffers float64 // of a decode step
	Encoding            time.Duration
}

func (f CommitTooLate) Text() string {
	return fmt.Sprintf("%s commits all of its %s operations in %s command buffer(s), so that the device idles while they are encoded (%s ms a step) and the CPU while they run",
		f.What, figures.Count(f.Operations), figures.Count(f.Buffers), ms(f.Encoding))
}

var slowCommits = Rule{
	Name: "slow commits", Sure: Certain, OfPrograms: fewerCommits,
	Advice: "commit less often (--commands-per-buffer), and see what the driver does in a commit",
	Find: func(c *Case) (Facts, time.Duration) {
		s := c.perStep()
		if tooManyCommits.holds(c) || s.buffers == 0 || s.commit < least*s.wall { // too many are one cause
			return nil, 0
		}
		return SlowCommits{What: s.what, Commits: time.Duration(s.commit), Step: time.Duration(s.wall), Each: time.Duration(s.commit / s.buffers), Buffers: s.buffers}, time.Duration(s.commit)
	},
}

// SlowCommits: a good part of a decode step is spent in commits.
type SlowCommits struct {
	What          string // that commits them: "a decode step"
	Commits, Step time.Duration
	Each          time.Duration // of the command buffers
	Buffers       float64
}

func (f SlowCommits) Text() string {
	return fmt.Sprintf("committing takes %s of the %s ms of %s, %s ms for each of %s command buffers", ms(f.Commits), ms(f.Step), f.What, ms(f.Each), figures.Count(f.Buffers))
}

var waitsForEach = Rule{
	Name: "a wait for each command buffer", Sure: Likely,
	Advice: "wait once, for the last command buffer of what is needed: those of one queue run in the order in which they were committed; results that nothing reads need no wait",
	Find: func(c *Case) (Facts, time.Duration) {
		// Waits are counted of recorded programs alone: an engine of introgen waits
		// where candle does.
		s := c.perStep()
		if s.waits < 3 {
			// What repeats in a program is cut where it waits. Few dispatches until then
			// are no step of anything that it generates.
			if s = c.whole(); s.dispatches >= fewOperations*s.waits {
				return nil, 0
			}
		}
		if s.waits < 3 || s.buffers == 0 || s.waits < 0.8*s.buffers || s.wait < least*s.wall || s.overlap > 0.2 {
			return nil, 0
		}
		return WaitsForEach{What: s.what, Waits: s.waits, Buffers: s.buffers, Waiting: time.Duration(s.wait), Step: time.Duration(s.wall)},
			time.Duration(max(0, s.wait-s.gpu))
	},
}

// WaitsForEach: the CPU waits for nearly every command buffer, so that it and the
// device take turns.
type WaitsForEach struct {
	What           string // that waits: "a decode step"
	Waits, Buffers float64
	Waiting, Step  time.Duration
}

func (f WaitsForEach) Text() string {
	return fmt.Sprintf("%s waits %s times for its %s command buffers, %s of its %s ms: the device idles while the next one is encoded, and the CPU while it runs",
		f.What, figures.Count(f.Waits), figures.Count(f.Buffers), ms(f.Waiting), ms(f.Step))
}

package explain

import (
	"fmt"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/answers/samples"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/metrics"
)

// perStep are the median figures of a decode step in later rounds.
type perStep struct{ wall, gpu, encode, commit, buffers, dispatches, overlap float64 }

func (c *Case) perStep() perStep {
	of := func(f func(breakdown.Phase) float64) float64 { return c.overLater(stepMedian(f)) }
	return perStep{
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
// the default value of a setting, where the recording has one; as the sweep
// does. Without such an arm, or without enough runs, nothing speaks against it.
func (c *Case) apart(factor, level string) bool {
	for _, p := range c.Peers {
		if p.Later.Levels[factor] != level || c.Later.Levels[factor] == level {
			continue
		}
		r := samples.Ratio(p.Later, c.Later, metrics.Decode)
		const matters = 1.02
		if r.Decidable && (!r.Significant || r.Ratio < matters) {
			return false
		}
	}
	return true
}

var tooManyCommits = Rule{
	Name: "too many commits", Sure: Likely,
	Advice: "let a command buffer hold more: --commands-per-buffer 50 (CANDLE_METAL_COMPUTE_PER_BUFFER); `introgen sweep --commands-per-buffer 1,10,50,200` measures what it brings here",
	Find: func(c *Case) (Facts, time.Duration) {
		// candle's flat range is 10 to 200 operations a buffer.
		s := c.perStep()
		if s.buffers < 20 || s.dispatches/s.buffers >= 8 || !c.apart("per-buffer", "50") {
			return nil, 0
		}
		f, cost := TooManyCommits{Buffers: s.buffers, Operations: s.dispatches / s.buffers, Step: time.Duration(s.wall)}, 0.0
		if s.gpu > 0 {
			f.Device, cost = time.Duration(s.gpu), max(0, s.wall-s.gpu)
		}
		return f, time.Duration(cost)
	},
}

// TooManyCommits: command buffers hold few operations.
type TooManyCommits struct {
	Buffers      float64       // of a decode step
	Operations   float64       // of a command buffer
	Device, Step time.Duration // what of a step the device runs for, 0 where unknown
}

func (f TooManyCommits) Text() string {
	device := "an unknown part"
	if f.Device > 0 {
		device = ms(f.Device)
	}
	return fmt.Sprintf("a decode step commits %s command buffers of %s operations each; the device runs for %s of its %s ms",
		figures.Count(f.Buffers), figures.Count(f.Operations), device, ms(f.Step))
}

var commitTooLate = Rule{
	Name: "one commit too late", Sure: Likely,
	Advice: "commit earlier: --commands-per-buffer 50; `introgen sweep --commands-per-buffer 10,50,200,100000` measures what it brings here",
	Find: func(c *Case) (Facts, time.Duration) {
		s := c.perStep()
		if s.buffers == 0 || s.buffers > 2 || s.dispatches < 100 || s.overlap > 0.2 || s.encode < 0.02*s.wall || !c.apart("per-buffer", "50") {
			return nil, 0
		}
		return CommitTooLate{Operations: s.dispatches, Buffers: s.buffers, Encoding: time.Duration(s.encode)}, time.Duration(s.encode)
	},
}

// CommitTooLate: the device begins when all is encoded.
type CommitTooLate struct {
	Operations, Buffers float64 // of a decode step
	Encoding            time.Duration
}

func (f CommitTooLate) Text() string {
	return fmt.Sprintf("a decode step commits all of its %s operations in %s command buffer(s), so that the device idles while they are encoded (%s ms a step) and the CPU while they run",
		figures.Count(f.Operations), figures.Count(f.Buffers), ms(f.Encoding))
}

var slowCommits = Rule{
	Name: "slow commits", Sure: Certain,
	Advice: "commit less often (--commands-per-buffer), and see what the driver does in a commit",
	Find: func(c *Case) (Facts, time.Duration) {
		s := c.perStep()
		if tooManyCommits.holds(c) || s.buffers == 0 || s.commit < least*s.wall { // too many are one cause
			return nil, 0
		}
		return SlowCommits{Commits: time.Duration(s.commit), Step: time.Duration(s.wall), Each: time.Duration(s.commit / s.buffers), Buffers: s.buffers}, time.Duration(s.commit)
	},
}

// SlowCommits: a good part of a decode step is spent in commits.
type SlowCommits struct {
	Commits, Step time.Duration
	Each          time.Duration // of the command buffers
	Buffers       float64
}

func (f SlowCommits) Text() string {
	return fmt.Sprintf("committing takes %s of the %s ms of a decode step, %s ms for each of %s command buffers", ms(f.Commits), ms(f.Step), ms(f.Each), figures.Count(f.Buffers))
}

package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/metrics"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/stats"
)

var thermalDrift = Rule{
	Name: "thermal drift", Sure: Possible,
	Advice: "pause between runs (--cooldown 10s), believe paired ratios of one block before medians, and repeat",
	Find: func(c *Case) (Facts, time.Duration) {
		v, _ := c.Later.Values(metrics.Decode)
		if len(c.Later.Samples) == 1 { // one long run: over its rounds
			v = nil
			for _, r := range c.Later.Samples[0].Rounds {
				if x, ok := metrics.Decode.Of(r); ok {
					v = append(v, x)
				}
			}
		}
		d := stats.Drift(v)
		const worth = 0.03
		if !d.Drifted || d.Change < worth && d.Change > -worth {
			return nil, 0
		}
		f := ThermalDrift{Change: d.Change, N: d.N, P: d.P}
		if t := append(c.taints(recording.TaintThrottled), c.taints(recording.TaintFrequency)...); len(t) > 0 {
			f.Taint = &t[0]
		}
		return f, time.Duration(max(0, d.Change) * stats.Median(v))
	},
}

// ThermalDrift: decode steps became slower or faster as time went on.
type ThermalDrift struct {
	Change float64 // 0.2: a fifth slower
	N      int     // samples
	P      float64
	Taint  *recording.Taint // of heat or the clock; nil for none
}

func (f ThermalDrift) Text() string {
	heat := ""
	if f.Taint != nil {
		heat = "; " + f.Taint.Text
	}
	return fmt.Sprintf("decode steps changed by %s %% from the first to the last of %d (p = %s)%s", figures.Signed(100*f.Change, 0), f.N, figures.Text(f.P, 3), heat)
}

var twoModes = Rule{
	Name: "two modes", Sure: Possible,
	Advice: "a median between two groups says nothing: find out what the runs of a group have in common (order, memory, which cores, other load), with `introgen show --as csv`",
	Find: func(c *Case) (Facts, time.Duration) {
		v, _ := c.Later.Values(metrics.Decode)
		b := stats.Bimodal(v)
		const worth = 1.1
		if !b.Bimodal || b.High < worth*b.Low {
			return nil, 0
		}
		return TwoModes{Runs: b.N, Low: time.Duration(b.Low), High: time.Duration(b.High), Share: b.Share}, 0
	},
}

// TwoModes: the runs' decode steps fall into two groups.
type TwoModes struct {
	Runs      int
	Low, High time.Duration // around which the groups lie
	Share     float64       // of the runs in the first
}

func (f TwoModes) Text() string {
	return fmt.Sprintf("the decode steps of %d runs fall into two groups, around %s and %s ms, the first with %s of them", f.Runs, ms(f.Low), ms(f.High), figures.Percent(f.Share))
}

var oversubscribed = Rule{
	Name: "oversubscribed threads", Sure: Certain,
	Find: func(c *Case) (Facts, time.Duration) {
		n, err := strconv.Atoi(c.knob("threads"))
		if err != nil {
			return nil, 0
		}
		cores := c.Runs[0].Header.Host.Cores
		if cores < 1 || n <= cores {
			return nil, 0
		}
		return Oversubscribed{Threads: n, Cores: cores}, 0
	},
}

// Oversubscribed: there are more threads than cores.
type Oversubscribed struct{ Threads, Cores int }

func (f Oversubscribed) Text() string {
	return fmt.Sprintf("%d threads share %d cores: at every barrier the others wait for the one that does not run", f.Threads, f.Cores)
}

func (f Oversubscribed) Advice() string {
	return fmt.Sprintf("use at most as many threads as cores: --threads %d", f.Cores)
}

// What a plan noticed, and in recordings of one run the run's own readings.
var otherLoad = Rule{
	Name: "other load", Sure: Certain,
	Advice: "repeat when the machine is idle; flagged runs are kept, and what they measured is the machine with its other load",
	Find: func(c *Case) (Facts, time.Duration) {
		if t := c.taints(recording.TaintLoad); len(t) > 0 {
			most := slices.MaxFunc(t, func(a, b recording.Taint) int {
				return cmp.Or(cmp.Compare(a.Value, b.Value), cmp.Compare(a.Text, b.Text))
			})
			return OtherLoad{Loaded: len(t), Runs: len(c.Runs), Most: most}, 0
		}
		const busy = 0.2 // cores; package taint's limit
		for _, r := range c.Runs {
			if r.Start != nil {
				continue
			}
			var most float64
			for _, m := range r.Machine {
				most = max(most, m.OtherCores)
			}
			if most >= busy {
				return OtherLoad{Loaded: 1, Runs: len(c.Runs), Most: recording.Taint{Code: recording.TaintLoad, Value: most,
					Text: fmt.Sprintf("other processes kept %s of %d cores busy", figures.Text(most, 1), r.Header.Host.Cores)}}, 0
			}
		}
		return nil, 0
	},
}

// OtherLoad: other processes ran beside runs.
type OtherLoad struct {
	Loaded, Runs int
	Most         recording.Taint // of the run with the most of it
}

func (f OtherLoad) Text() string {
	return fmt.Sprintf("in %d of %d runs %s", f.Loaded, f.Runs, f.Most.Text)
}

// How fast a decode step on the CPU reads the weights, each of which it needs
// once.
var memoryLimit = Rule{
	Name: "memory limit", Sure: Possible,
	Advice: "hold that against `introgen bandwidth`: where it comes near, only fewer bytes make a step quicker (a smaller type of weights), and more threads do not",
	Find: func(c *Case) (Facts, time.Duration) {
		if len(c.Runs) == 0 || c.Runs[0].Header.Command != "cpu" {
			return nil, 0
		}
		bytes := float64(c.Runs[0].Header.Model.Bytes)
		step := c.overLater(stepMedian(func(p breakdown.Phase) float64 { return float64(p.Time()) }))
		const worth = 10 // GB/s; slower than that no memory of today is, so that something else limits
		if step <= 0 || bytes/step < worth {
			return nil, 0
		}
		return MemoryLimit{Step: time.Duration(step), Bytes: c.Runs[0].Header.Model.Bytes, GBs: bytes / step}, 0
	},
}

// MemoryLimit is the memory's speed that decode steps come to.
type MemoryLimit struct {
	Step  time.Duration
	Bytes int64   // of the weights
	GBs   float64 // 10⁹ bytes a second
}

func (f MemoryLimit) Text() string {
	return fmt.Sprintf("a decode step takes %s ms, in which it reads the weights once, %s MB: %s GB/s", ms(f.Step), figures.Text(float64(f.Bytes)/1e6, 0), figures.Text(f.GBs, 1))
}

var idleGaps = Rule{
	Name: "idle gaps", Sure: Likely,
	Advice: "after a pause clocks are down and caches cold; `introgen idle-gap` measures what that costs here",
	Find: func(c *Case) (Facts, time.Duration) {
		t := c.taints(recording.TaintIdle)
		if len(t) == 0 {
			return nil, 0
		}
		return IdleGaps{Runs: len(t), First: t[0]}, 0
	},
}

// IdleGaps: nothing ran between two passes.
type IdleGaps struct {
	Runs  int
	First recording.Taint // of the first of them
}

func (f IdleGaps) Text() string {
	return fmt.Sprintf("in %d runs nothing ran for a while: %s", f.Runs, f.First.Text)
}

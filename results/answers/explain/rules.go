package explain

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/answers/compare"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/metrics"
	"github.com/introgen/introgen/results/stats"
	"github.com/introgen/introgen/trace/names"
)

// Rules are all rules. Their limits are part of the table: whoever doubts a
// finding finds here what it takes.
var Rules = []Rule{
	{
		Name: "cold compile", Sure: Certain,
		Text:   "%s of the %s ms to token 2 went into compiling: libraries %d, pipelines %d; most into %s",
		Advice: "compile before it matters: one short generation with at least one decode step at the start of the process or at installation (`introgen coverage` says how short), or keep the cache of compiled code; `introgen bill` has each library, and what compiling at once would leave",
		Holds:  coldCompile,
	}, {
		Name: "tokenizer", Sure: Certain,
		Text:   "making the tokenizer (%s) ready takes %s of the %s ms from the start of the process to token 2%s",
		Advice: "in a process that lives, make it once and keep it; in one that starts for each text, --tokenizer go reads less, and gives the same ids: `introgen compare --states cpu --variant 'go: --tokenizer go'` measures what it saves here",
		Holds:  slowTokenizer,
	}, {
		Name: "weights copied", Sure: Certain,
		Text:   "bringing the weights to the device takes %s of the %s ms to token 2: they are copied (--weights copy)",
		Advice: "let the device read them where the file is mapped: --weights map (docs/metal.md says what it needs and risks; what it does not copy, the first prefill meets for the first time); `introgen compare --states warm-cache --variant 'map: --weights map'` measures what it saves here",
		Holds:  weightsCopied,
	}, {
		Name: "weights packed", Sure: Certain,
		Text:   "building the model takes %s of the %s ms to token 2, since the weights are rewritten for quicker steps",
		Advice: "it repays after some 100 steps: leave it for long texts, and take --pack=off for short ones, or keep the model for the next text",
		Holds:  packed,
	}, {
		Name: "prefill-only warm-up", Sure: Likely,
		Text:   "build and prefill found everything in the cache, but %s was compiled in decode step %d: whatever filled the cache decoded no token",
		Advice: "let the warm-up decode at least one token; `introgen coverage` prints the smallest warm-up that covers all",
		Holds:  prefillOnly,
	}, {
		Name: "slow first round", Sure: Possible,
		Text:   "token 2 takes %s ms in the first round and %s ms in later ones; compiling and weights are %s ms of the difference, and nothing that was recorded explains the other %s ms",
		Advice: "%[5]s",
		Holds:  slowFirstRound,
	}, {
		Name: "too many commits", Sure: Likely,
		Text:   "a decode step commits %s command buffers of %s operations each; the device runs for %s of its %s ms",
		Advice: "let a command buffer hold more: --commands-per-buffer 50 (CANDLE_METAL_COMPUTE_PER_BUFFER); `introgen sweep --commands-per-buffer 1,10,50,200` measures what it brings here",
		Holds:  tooManyCommits,
	}, {
		Name: "one commit too late", Sure: Likely,
		Text:   "a decode step commits all of its %s operations in %s command buffer(s), so that the device idles while they are encoded (%s ms a step) and the CPU while they run",
		Advice: "commit earlier: --commands-per-buffer 50; `introgen sweep --commands-per-buffer 10,50,200,100000` measures what it brings here",
		Holds:  commitTooLate,
	}, {
		Name: "slow commits", Sure: Certain,
		Text:   "committing takes %s of the %s ms of a decode step, %s ms for each of %s command buffers",
		Advice: "commit less often (--commands-per-buffer), and see what the driver does in a commit",
		Holds:  slowCommits,
	}, {
		Name: "small reads", Sure: Certain,
		Text:   "the model file is read value by value (--io file), a system call for each: %s ms until its directory is known",
		Advice: "read it through a map or a buffer: --io mmap or --io buffered",
		Holds:  smallReads,
	}, {
		Name: "slow read", Sure: Likely,
		Text:   "reading the model file's header takes %s ms, though it is read by %s and needs a few: the file was not in memory, or lies on something slow",
		Advice: "read the file once before it matters, keep it on a local disk, and see the line `read gguf` of `introgen bill`",
		Holds:  slowRead,
	}, {
		Name: "page faults", Sure: Likely,
		Text:   "%d page faults of a run waited for the disk, and %s of the model lay in memory before round 1",
		Advice: "bring the file into memory before (read it once), or call it what it is and measure the state cold-file with --evict",
		Holds:  pageFaults,
	}, {
		Name: "file not in memory", Sure: Likely,
		Text:   "%s of the model lay in memory before round 1: what needs the rest first, build and prefill, waits for the disk",
		Advice: "read the file once before it matters, or call it what it is and measure the state cold-file with --evict",
		Holds:  notInMemory,
	}, {
		Name: "evicted, and still in memory", Sure: Certain,
		Text:   "--evict asked the system to drop the model from memory, and %s of it lay there before round 1 all the same: these are not times of a cold file",
		Advice: "end what else maps or reads the file; a file system that is memory itself (tmpfs), or that of a container, may never drop it",
		Holds:  stayedInMemory,
	}, {
		Name: "thermal drift", Sure: Possible,
		Text:   "decode steps changed by %s from the first to the last of %d (p = %s)%s",
		Advice: "pause between runs (--cooldown 10s), believe paired ratios of one block before medians, and repeat",
		Holds:  drift,
	}, {
		Name: "two modes", Sure: Possible,
		Text:   "the decode steps of %d runs fall into two groups, around %s and %s ms, the first with %s of them",
		Advice: "a median between two groups says nothing: find out what the runs of a group have in common (order, memory, which cores, other load), with `introgen show --as csv`",
		Holds:  twoModes,
	}, {
		Name: "oversubscribed threads", Sure: Certain,
		Text:   "%d threads share %d cores: at every barrier the others wait for the one that does not run",
		Advice: "use at most as many threads as cores: --threads %[2]d",
		Holds:  oversubscribed,
	}, {
		Name: "warm that is not warm", Sure: Certain,
		Text:   "%s",
		Advice: "find out what changes between runs: the kernels or their options, the compiler, the cache folder (INTROGEN_CACHE), or somebody who empties it; the line `# cache` and `introgen show` have the evidence",
		Holds:  notWarm,
	}, {
		Name: "refused runs", Sure: Certain,
		Text:   "%d of %d runs do not count: the last one %s",
		Advice: "a run that failed, or whose evidence contradicts its label, gives no figures; `introgen show` has what it printed",
		Holds:  refused,
	}, {
		Name: "duplicate compiles", Sure: Certain,
		Text:   "%s in one process: %s",
		Advice: "keep libraries and pipelines for the life of the process and share them between models and threads",
		Holds:  duplicates,
	}, {
		Name: "other load", Sure: Certain,
		Text:   "in %d of %d runs %s",
		Advice: "repeat when the machine is idle; flagged runs are kept, and what they measured is the machine with its other load",
		Holds:  otherLoad,
	}, {
		Name: "memory limit", Sure: Possible,
		Text:   "a decode step takes %s ms, in which it reads the weights once, %s MB: %s GB/s",
		Advice: "hold that against `introgen bandwidth`: where it comes near, only fewer bytes make a step quicker (a smaller type of weights), and more threads do not",
		Holds:  memoryLimit,
	}, {
		Name: "idle gaps", Sure: Likely,
		Text:   "in %d runs nothing ran for a while: %s",
		Advice: "after a pause clocks are down and caches cold; `introgen idle-gap` measures what that costs here",
		Holds:  idleGaps,
	},
}

// least is the smallest part of the time to token 2, or of a step, that is
// worth a finding.
const least = 0.10

func coldCompile(c *Case) ([]any, time.Duration, bool) {
	x, ok := compare.CostsOf(c.Arm)
	took := x.Compiled.Time()
	if !ok || float64(took) < least*float64(x.ToToken2) {
		return nil, 0, false
	}
	var named []string
	heads, _ := x.Compiled.Heads()
	for _, h := range heads {
		named = append(named, fmt.Sprintf("%s (%s ms)", h.Name, figures.Milliseconds(h.Time)))
	}
	return []any{figures.Percent(float64(took) / float64(x.ToToken2)), figures.Milliseconds(x.ToToken2),
		x.Compiled.LibraryCount, x.Compiled.PipelineCount, strings.Join(named, ", ")}, took, true
}

// misses are the libraries of a round's phases that were compiled, by the
// number of the decode step, 0 for build and prefill.
func misses(r breakdown.Round) (before []breakdown.Compile, step int64, inStep []breakdown.Compile) {
	for _, p := range r.Phases {
		for _, x := range p.Compiles {
			switch {
			case x.FromCache() || !x.IsLibrary():
			case p.Name == names.SpanStep:
				if step == 0 {
					step = p.N
				}
				inStep = append(inStep, x)
			default:
				before = append(before, x)
			}
		}
	}
	return before, step, inStep
}

func prefillOnly(c *Case) ([]any, time.Duration, bool) {
	for _, x := range c.Arm.Samples {
		before, step, inStep := misses(x.Rounds[0])
		_, prefilled := x.Rounds[0].Phase(names.SpanPrefill)
		if len(before) > 0 || len(inStep) == 0 || !prefilled {
			continue
		}
		var cost time.Duration
		var names []string
		for _, l := range inStep {
			cost += l.Time
			names = append(names, "library "+l.Library)
		}
		return []any{strings.Join(names, ", "), step}, cost, true
	}
	return nil, 0, false
}

// slowFirstRound looks for what happens only once and was not compiling.
func slowFirstRound(c *Case) ([]any, time.Duration, bool) {
	if len(c.Arm.Samples) == 0 || len(c.Later.Samples) == 0 || c.Later.Samples[0].Rounds[0].Number < 2 {
		return nil, 0, false
	}
	told := func(r breakdown.Round) float64 { // what has rules of its own
		var sum time.Duration
		until, ok := r.Token(2)
		if !ok || r.Lost() {
			return unknown
		}
		for _, p := range r.Phases {
			if p.Start < r.Start+until {
				sum += p.Compiling() + p.Weights
			}
		}
		return float64(sum)
	}
	first, later := c.over(token2), c.overLater(token2)
	explained := c.over(told) - c.overLater(told)
	unexplained := first - later - explained
	const worth = 100 * time.Millisecond
	if unexplained < later || unexplained < float64(worth) {
		return nil, 0, false
	}
	advice := "a file that is not in memory is the usual cause: see `read gguf` and the phases of `introgen bill`, and repeat at once, when it is there"
	if c.Runs[0].Header.Command == "metal" {
		advice = "see the lines of `introgen bill` that are called unattributed, and whether the file was in memory"
		if len(c.Runs[0].Libraries) == 0 {
			advice = "on Metal it is usually compiling, of which this recording has nothing: record a run with all details, and look at `introgen bill`"
		}
	}
	return []any{ms(first), ms(later), ms(explained), ms(unexplained), advice}, time.Duration(unexplained), true
}

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

func tooManyCommits(c *Case) ([]any, time.Duration, bool) {
	// candle's flat range is 10 to 200 operations a buffer.
	s := c.perStep()
	if s.buffers < 20 || s.dispatches/s.buffers >= 8 || !c.apart("per-buffer", "50") {
		return nil, 0, false
	}
	gpu, cost := "an unknown part", 0.0
	if s.gpu > 0 {
		gpu, cost = ms(s.gpu), max(0, s.wall-s.gpu)
	}
	return []any{figures.Count(s.buffers), figures.Count(s.dispatches / s.buffers), gpu, ms(s.wall)}, time.Duration(cost), true
}

func commitTooLate(c *Case) ([]any, time.Duration, bool) {
	s := c.perStep()
	if s.buffers == 0 || s.buffers > 2 || s.dispatches < 100 || s.overlap > 0.2 || s.encode < 0.02*s.wall || !c.apart("per-buffer", "50") {
		return nil, 0, false
	}
	return []any{figures.Count(s.dispatches), figures.Count(s.buffers), ms(s.encode)}, time.Duration(s.encode), true
}

func slowCommits(c *Case) ([]any, time.Duration, bool) {
	s := c.perStep()
	if _, _, many := tooManyCommits(c); many || s.buffers == 0 || s.commit < least*s.wall { // too many are one cause
		return nil, 0, false
	}
	return []any{ms(s.commit), ms(s.wall), ms(s.commit / s.buffers), figures.Count(s.buffers)}, time.Duration(s.commit), true
}

func (c *Case) read() float64 {
	v, _ := c.Arm.Values(metrics.Read)
	return stats.Median(v)
}

func smallReads(c *Case) ([]any, time.Duration, bool) {
	read := c.read()
	if c.knob("io") != "file" || read < float64(5*time.Millisecond) {
		return nil, 0, false
	}
	return []any{ms(read)}, time.Duration(read), true
}

func slowRead(c *Case) ([]any, time.Duration, bool) {
	read, io := c.read(), c.knob("io")
	if io == "" || io == "file" || read < float64(50*time.Millisecond) {
		return nil, 0, false
	}
	return []any{ms(read), io}, time.Duration(read), true
}

func pageFaults(c *Case) ([]any, time.Duration, bool) {
	var faults []float64
	for _, x := range c.Arm.Samples {
		if e := x.Run.End; e != nil && e.MajorFaults >= 0 {
			faults = append(faults, float64(e.MajorFaults))
		}
	}
	const many = 100 // a page fault that waits for a disk takes 0.1 ms and more
	n := stats.Median(faults)
	if n < many {
		return nil, 0, false
	}
	part := "an unknown part"
	if p, _, known := c.residentBefore(); known {
		part = figures.Percent(p)
	}
	return []any{int(n), part}, c.firstPays(), true
}

func drift(c *Case) ([]any, time.Duration, bool) {
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
		return nil, 0, false
	}
	heat := ""
	if f := append(c.flags("throttled"), c.flags("frequency")...); len(f) > 0 {
		heat = "; " + f[0]
	}
	sign := ""
	if d.Change > 0 {
		sign = "+"
	}
	return []any{sign + figures.Percent(d.Change), d.N, figures.Text(d.P, 3), heat}, time.Duration(max(0, d.Change) * stats.Median(v)), true
}

func twoModes(c *Case) ([]any, time.Duration, bool) {
	v, _ := c.Later.Values(metrics.Decode)
	b := stats.Bimodal(v)
	const worth = 1.1
	if !b.Bimodal || b.High < worth*b.Low {
		return nil, 0, false
	}
	return []any{b.N, ms(b.Low), ms(b.High), figures.Percent(b.Share)}, 0, true
}

func oversubscribed(c *Case) ([]any, time.Duration, bool) {
	n, err := strconv.Atoi(c.knob("threads"))
	if err != nil {
		return nil, 0, false
	}
	cores := c.Runs[0].Header.Host.Cores
	if cores < 1 || n <= cores {
		return nil, 0, false
	}
	return []any{n, cores}, 0, true
}

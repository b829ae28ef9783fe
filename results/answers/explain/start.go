package explain

import (
	"fmt"
	"strings"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/answers/samples"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/metrics"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/stats"
	"github.com/introgen/introgen/trace/names"
)

// before is what an arm's runs spent on a part before their first round, the
// median.
func before(s samples.Series, kind string) float64 {
	return median(s, func(r breakdown.Round) float64 {
		if len(r.Before) == 0 {
			return unknown
		}
		var sum time.Duration
		for _, p := range r.Before {
			if p.Kind == kind {
				sum += p.Time
			}
		}
		return float64(sum)
	})
}

// tokenizerOf is which tokenizer an arm's runs use; "" where they do not tell.
func tokenizerOf(runs []*recording.Run) string {
	for _, r := range runs {
		if r.Subject != nil && r.Subject.Tokenizer != "" {
			return r.Subject.Tokenizer
		}
	}
	return ""
}

func slowTokenizer(c *Case) ([]any, time.Duration, bool) {
	took := before(c.Arm, names.SpanTokenizer)
	whole := c.over(start2)
	const worth = 20 * time.Millisecond
	if whole <= 0 || took < least*whole || took < float64(worth) {
		return nil, 0, false
	}
	kind := tokenizerOf(c.Runs)
	if kind == "" {
		kind = "its kind is not recorded"
	}
	// What another tokenizer takes is known where an arm of the recording has it.
	other := ""
	for _, p := range c.Peers {
		if k := tokenizerOf(p.Runs); k != "" && k != kind {
			if t := before(p.Arm, names.SpanTokenizer); t > 0 && t < took {
				other = fmt.Sprintf("; %s, in %s, takes %s ms and so saves %s", k, p.Arm.Name, ms(t), ms(took-t))
			}
		}
	}
	return []any{kind, ms(took), ms(whole), other}, time.Duration(took), true
}

func weightsCopied(c *Case) ([]any, time.Duration, bool) {
	took := c.over(func(r breakdown.Round) float64 {
		return phase(r, names.SpanBuild, func(p breakdown.Phase) time.Duration { return p.Weights })
	})
	whole := c.over(token2)
	if c.knob("weights") != "copy" || whole <= 0 || took < least*whole {
		return nil, 0, false
	}
	return []any{ms(took), ms(whole)}, time.Duration(took), true
}

func packed(c *Case) ([]any, time.Duration, bool) {
	pack := false
	for _, r := range c.Runs {
		pack = pack || r.Subject != nil && strings.Contains(r.Subject.Engine, "weights packed")
	}
	build := c.over(func(r breakdown.Round) float64 { return phase(r, names.SpanBuild, breakdown.Phase.Own) })
	whole := c.over(token2)
	if !pack || whole <= 0 || build < least*whole {
		return nil, 0, false
	}
	return []any{ms(build), ms(whole)}, time.Duration(build), true
}

// memoryLimit is how fast a decode step on the CPU reads the weights, each of
// which it needs once.
func memoryLimit(c *Case) ([]any, time.Duration, bool) {
	if len(c.Runs) == 0 || c.Runs[0].Header.Command != "cpu" {
		return nil, 0, false
	}
	bytes := float64(c.Runs[0].Header.Model.Bytes)
	step := c.overLater(stepMedian(func(p breakdown.Phase) float64 { return float64(p.Time()) }))
	const worth = 10 // GB/s; slower than that no memory of today is, so that something else limits
	if step <= 0 || bytes/step < worth {
		return nil, 0, false
	}
	return []any{ms(step), figures.Text(bytes/1e6, 0), figures.Text(bytes/step, 1)}, 0, true
}

// residentBefore is the part of the file that was in memory before the first
// round, the median over runs, also those that do not count, and whether it had
// been dropped from there.
func (c *Case) residentBefore() (part float64, evicted, known bool) {
	var v []float64
	for _, r := range c.Runs {
		for _, e := range r.Evidence {
			if e.What == recording.EvidencePageCache && e.Round == 1 && e.Resident >= 0 {
				v, evicted = append(v, e.Resident), evicted || e.Evicted
			}
		}
	}
	return stats.Median(v), evicted, len(v) > 0
}

func stayedInMemory(c *Case) ([]any, time.Duration, bool) {
	part, evicted, known := c.residentBefore()
	const much = 0.5
	if !known || !evicted || part < much {
		return nil, 0, false
	}
	return []any{figures.Percent(part)}, 0, true
}

// refused looks for runs that do not count, and that no other rule is about.
func refused(c *Case) ([]any, time.Duration, bool) {
	n, reason := 0, ""
	for _, r := range c.Runs {
		if why := r.Uncounted(); r.Exit != nil && r.Exit.Refused != "" || r.Doubt != "" {
			n, reason = n+1, why
		}
	}
	if _, _, told := notWarm(c); told || n == 0 {
		return nil, 0, false
	}
	if _, _, told := stayedInMemory(c); told {
		return nil, 0, false
	}
	return []any{n, len(c.Runs), reason}, 0, true
}

func notInMemory(c *Case) ([]any, time.Duration, bool) {
	part, _, known := c.residentBefore()
	const most = 0.9
	if _, _, faults := pageFaults(c); len(c.Arm.Samples) == 0 || !known || part >= most || faults {
		return nil, 0, false // told with what it cost
	}
	return []any{figures.Percent(part)}, c.firstPays(), true
}

// firstPays is what the first build and prefill take longer than later ones,
// compiling left out; 0 where there is one round.
func (c *Case) firstPays() time.Duration {
	own := func(r breakdown.Round) float64 {
		return phase(r, names.SpanBuild, breakdown.Phase.Own) + phase(r, names.SpanPrefill, breakdown.Phase.Own)
	}
	if len(c.Later.Samples) == 0 || c.Later.Samples[0].Rounds[0].Number < 2 {
		return 0
	}
	return time.Duration(max(0, c.over(own)-c.overLater(own)))
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

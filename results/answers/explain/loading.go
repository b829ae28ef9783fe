package explain

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/metrics"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace/names"
)

var slowTokenizer = Rule{
	Name: "tokenizer", Sure: Certain,
	Advice: "in a process that lives, make it once and keep it; in one that starts for each text, --tokenizer go, which auto takes, is ready sooner than hf, and gives the same ids: `introgen compare --states cpu --variant 'go: --tokenizer go'` measures what it saves here",
	Find: func(c *Case) (Facts, time.Duration) {
		took := before(c.Arm, names.SpanTokenizer)
		whole := c.over(start2)
		const worth = 20 * time.Millisecond
		if whole <= 0 || took < least*whole || took < float64(worth) {
			return nil, 0
		}
		f := SlowTokenizer{Kind: tokenizerOf(c.Runs), Took: time.Duration(took), StartToToken2: time.Duration(whole)}
		// What another tokenizer takes is known where an arm of the recording has it.
		for _, p := range c.Peers {
			if k := tokenizerOf(p.Runs); k != "" && k != f.Kind {
				if t := before(p.Arm, names.SpanTokenizer); t > 0 && t < took {
					f.Other = &OtherTokenizer{Kind: k, Arm: p.Arm.Name, Took: time.Duration(t), Saves: time.Duration(took - t)}
				}
			}
		}
		return f, f.Took
	},
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

// SlowTokenizer: a good part of a process's start made the tokenizer ready.
type SlowTokenizer struct {
	Kind                string // "" where it is not recorded
	Took, StartToToken2 time.Duration
	Other               *OtherTokenizer // that another arm has; nil where none is quicker
}

// OtherTokenizer is what another arm's tokenizer takes.
type OtherTokenizer struct {
	Kind, Arm   string
	Took, Saves time.Duration
}

func (f SlowTokenizer) Text() string {
	other := ""
	if o := f.Other; o != nil {
		other = fmt.Sprintf("; %s, in %s, takes %s ms and so saves %s", o.Kind, o.Arm, ms(o.Took), ms(o.Saves))
	}
	return fmt.Sprintf("making the tokenizer (%s) ready takes %s of the %s ms from the start of the process to token 2%s", cmp.Or(f.Kind, "its kind is not recorded"), ms(f.Took), ms(f.StartToToken2), other)
}

var weightsCopied = Rule{
	Name: "weights copied", Sure: Certain,
	Advice: "let the device read them where the file is mapped: --weights map (docs/metal.md says what it needs and risks; what it does not copy, the first prefill meets for the first time); `introgen compare --states warm-cache --variant 'map: --weights map'` measures what it saves here",
	Find: func(c *Case) (Facts, time.Duration) {
		took := c.over(phase(names.SpanBuild, func(p breakdown.Phase) time.Duration { return p.Weights }))
		whole := c.over(metrics.Token2.Of)
		if c.knob("weights") != "copy" || whole <= 0 || took < least*whole {
			return nil, 0
		}
		return WeightsCopied{Took: time.Duration(took), ToToken2: time.Duration(whole)}, time.Duration(took)
	},
}

// WeightsCopied: the weights are copied to the device.
type WeightsCopied struct{ Took, ToToken2 time.Duration }

func (f WeightsCopied) Text() string {
	return fmt.Sprintf("bringing the weights to the device takes %s of the %s ms to token 2: they are copied (--weights copy)", ms(f.Took), ms(f.ToToken2))
}

var weightsPacked = Rule{
	Name: "weights packed", Sure: Certain,
	Advice: "it repays after some 100 steps: leave it for long texts, and take --pack=off for short ones, or keep the model for the next text",
	Find: func(c *Case) (Facts, time.Duration) {
		pack := slices.ContainsFunc(c.Runs, func(r *recording.Run) bool { return r.Subject != nil && r.Subject.Weights == recording.WeightsPacked })
		build := c.over(phase(names.SpanBuild, breakdown.Phase.Own))
		whole := c.over(metrics.Token2.Of)
		if !pack || whole <= 0 || build < least*whole {
			return nil, 0
		}
		return WeightsPacked{Building: time.Duration(build), ToToken2: time.Duration(whole)}, time.Duration(build)
	},
}

// WeightsPacked: the weights are rewritten when the model is built.
type WeightsPacked struct{ Building, ToToken2 time.Duration }

func (f WeightsPacked) Text() string {
	return fmt.Sprintf("building the model takes %s of the %s ms to token 2, since the weights are rewritten for quicker steps", ms(f.Building), ms(f.ToToken2))
}

// What happens only once and was not compiling.
var slowFirstRound = Rule{
	Name: "slow first round", Sure: Possible,
	Find: func(c *Case) (Facts, time.Duration) {
		if len(c.Arm.Samples) == 0 || len(c.Later.Samples) == 0 || c.Later.Samples[0].Rounds[0].Number < 2 {
			return nil, 0
		}
		told := func(r breakdown.Round) (float64, bool) { // what has rules of its own
			var sum time.Duration
			until, ok := r.Token(2)
			for _, p := range r.Phases {
				if p.Start < r.Start+until {
					sum += p.Compiling() + p.Weights
				}
			}
			return float64(sum), ok && !r.Lost()
		}
		first, later := c.over(metrics.Token2.Of), c.overLater(metrics.Token2.Of)
		explained := c.over(told) - c.overLater(told)
		unexplained := first - later - explained
		const worth = 100 * time.Millisecond
		if unexplained < later || unexplained < float64(worth) {
			return nil, 0
		}
		return SlowFirstRound{
			First: time.Duration(first), Later: time.Duration(later), Explained: time.Duration(explained), Unexplained: time.Duration(unexplained),
			Metal: c.Runs[0].Header.Command == "metal", Compiled: len(c.Runs[0].Libraries) > 0,
		}, time.Duration(unexplained)
	},
}

// SlowFirstRound: token 2 comes later in the first round than in later ones, and
// nothing that is recorded explains it.
type SlowFirstRound struct {
	First, Later           time.Duration // to token 2
	Explained, Unexplained time.Duration // of the difference
	Metal                  bool          // on a device,
	Compiled               bool          // of which libraries are recorded
}

func (f SlowFirstRound) Text() string {
	return fmt.Sprintf("token 2 takes %s ms in the first round and %s ms in later ones; compiling and weights are %s ms of the difference, and nothing that was recorded explains the other %s ms",
		ms(f.First), ms(f.Later), ms(f.Explained), ms(f.Unexplained))
}

func (f SlowFirstRound) Advice() string {
	switch {
	case f.Metal && f.Compiled:
		return "see the lines of `introgen bill` that are called unattributed, and whether the file was in memory"
	case f.Metal:
		return "on Metal it is usually compiling, of which this recording has nothing: record a run with all details, and look at `introgen bill`"
	}
	return "a file that is not in memory is the usual cause: see `read gguf` and the phases of `introgen bill`, and repeat at once, when it is there"
}

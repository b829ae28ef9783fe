package steps

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/stats"
)

// Limit is by which factor over the median of its round's later steps a step is a
// stall.
const Limit = 3

// Stall is a step that took more than Limit times the median of its round's later
// steps. The first step of a round is none, however long it took.
type Stall struct {
	Round        int
	Step         int64
	Name, Title  string // names.SpanStep or names.SpanRepeat, and "decode step 7"
	Start        time.Duration
	Time, Median time.Duration
	With         []Cause // what the recording shows beside it, the longest first; empty where it shows nothing
}

// Factor is how many medians it took.
func (s Stall) Factor() float64 { return float64(s.Time) / float64(s.Median) }

// Kind is what a Cause is.
type Kind int

// The kinds of causes. Those up to Unexplained are parts of the step, with their
// time; the others are of the machine.
const (
	Compiling Kind = iota // a library or a pipeline was made, or taken from a cache
	Recording             // the instrument wrote its recording
	Weights               // tensors were brought to the device
	Encoding              // took longer than in other steps, as the next ones
	Committing
	Waiting
	Device      // the device ran longer
	Operation   // an operation of the model ran longer, on the device or on a thread; of traced runs
	Idle        // no thread of the CPU engine ran an operation; of traced runs
	Unexplained // what is in no part took longer
	OtherLoad   // other processes kept cores busy
	Throttled   // the processor was throttled
)

// String is the kind in words.
func (k Kind) String() string {
	return [...]string{"something was compiled or taken from a cache", "the recording was written", "tensors were brought to the device", "encoding took longer",
		"committing took longer", "waiting for the device took longer", "the device ran longer",
		"operations ran longer", "no thread ran an operation", "what is in none of the parts took longer",
		"other processes kept cores busy", "the processor was throttled"}[k]
}

// MarshalText is what programs read of it.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// Cause is something that happened in a stalled step, or around it. That it happened
// does not prove that it made the step slow.
type Cause struct {
	Kind Kind
	Time time.Duration // of a part: how much longer than in the median of the later steps
	Name string        // of what was compiled, or of an operation: "" is all of them together
	Hit  bool          // it came from a cache
	// Thread is the one of the CPU engine that an operation ran on; NoThread where there is
	// but one, and on the device.
	Thread int
	// Of the machine, between the two readings around the step, which lie Between
	// apart.
	Busy    float64 // cores
	Cores   int     // of the machine; 0 unknown
	Events  int64   // of throttling
	Between time.Duration
}

// Text says it in words, without a period.
func (c Cause) Text() string {
	took := figures.Milliseconds(c.Time) + " ms"
	name := c.Name
	if r := []rune(name); len(r) > longestName {
		name = string(r[:longestName-1]) + "…"
	}
	switch c.Kind {
	case Compiling:
		if c.Hit {
			return fmt.Sprintf("%s was taken from the cache in %s", name, took)
		}
		return fmt.Sprintf("%s was compiled for %s", name, took)
	case Recording:
		return "the recording was written for " + took
	case Weights:
		return "tensors were brought to the device for " + took
	case Encoding:
		return "it encoded " + took + " longer"
	case Committing:
		return "it committed " + took + " longer"
	case Waiting:
		return "it waited for the device " + took + " longer"
	case Device:
		return "the device ran " + took + " longer"
	case Operation:
		name = cmp.Or(name, "all operations together")
		if c.Thread != NoThread {
			return fmt.Sprintf("%s ran %s longer on thread %d", name, took, c.Thread)
		}
		return fmt.Sprintf("%s ran %s longer", name, took)
	case Idle:
		return "no thread ran an operation for " + took + " longer"
	case OtherLoad:
		of := "cores"
		if c.Cores > 0 {
			of = fmt.Sprintf("of %s", figures.Number(c.Cores, "core"))
		}
		return fmt.Sprintf("other processes kept %s %s busy in the %s ms around it", figures.Text(c.Busy, 1), of, figures.Milliseconds(c.Between))
	case Throttled:
		return fmt.Sprintf("the processor was throttled %s in the %s ms around it", figures.Number(int(c.Events), "time"), figures.Milliseconds(c.Between))
	}
	return took + " longer in none of its parts"
}

// worth is the smallest part of the time over the median that a part of the step is
// told for.
const worth = 0.1

// busy is from how many cores on that others keep busy they are told; a plan's runs
// are flagged from there on too.
const busy = 0.2

// longestName is how much is told of a name: it may be a hundred kilobytes.
const longestName = 100

// told is how many libraries and pipelines of one step are told by name.
const told = 3

// Stalls are those of all rounds of a run, in order.
func Stalls(r *breakdown.Run) []Stall {
	var out []Stall
	operations := sync.OnceValue(func() *tracing { return traced(r) })
	for _, round := range r.Rounds {
		out = append(out, ofRound(r, round, operations)...)
	}
	return out
}

func ofRound(run *breakdown.Run, round breakdown.Round, operations func() *tracing) []Stall {
	later := slices.DeleteFunc(slices.Clone(phases(round)), func(p breakdown.Phase) bool { return p.N < 2 })
	middle := medianOf(later, breakdown.Phase.Time)
	if middle <= 0 {
		return nil
	}
	var out []Stall
	var usual amounts
	var seen *observed
	for i, p := range later {
		if p.Time() <= Limit*middle {
			continue
		}
		if out == nil {
			usual, seen = usualOf(later), operations().observe(run, later)
		}
		s := Stall{Round: round.Number, Step: p.N, Name: p.Name, Title: p.Title(), Start: p.Start, Time: p.Time(), Median: middle}
		least := time.Duration(worth * float64(s.Time-middle))
		s.With = append(parts(p, usual, least), seen.causes(i, p, least)...)
		slices.SortStableFunc(s.With, longest)
		s.With = append(s.With, machine(run, p)...)
		out = append(out, s)
	}
	return out
}

// medianOf is the median of a time of steps; 0 where there are none.
func medianOf(steps []breakdown.Phase, of func(breakdown.Phase) time.Duration) time.Duration {
	v := make([]float64, len(steps))
	for i, p := range steps {
		v[i] = float64(of(p))
	}
	return time.Duration(stats.Median(v))
}

// amounts are the parts of a step besides compiling, by their Kind, and the device's
// time beside them.
type amounts [Unexplained + 1]time.Duration

func amountsOf(p breakdown.Phase) amounts {
	return amounts{Recording: p.Recording, Weights: p.Weights, Encoding: p.Encode, Committing: p.Commit, Waiting: p.Wait, Device: p.GPU, Unexplained: p.Rest()}
}

// usualOf has of each part of steps the median.
func usualOf(steps []breakdown.Phase) (usual amounts) {
	for k := range usual {
		usual[k] = medianOf(steps, func(p breakdown.Phase) time.Duration { return amountsOf(p)[k] })
	}
	return usual
}

// parts are what a step did at least so much longer than usual.
func parts(p breakdown.Phase, usual amounts, least time.Duration) []Cause {
	var out []Cause
	for _, some := range [][]breakdown.Compile{p.Compiles, p.Carried} {
		for _, c := range some {
			if c.Wall() >= least {
				name := c.Library
				if !c.IsLibrary() {
					name += " " + c.Function
				}
				out = append(out, Cause{Kind: Compiling, Name: name, Time: c.Wall(), Hit: c.FromCache()})
			}
		}
	}
	slices.SortStableFunc(out, longest)
	out = out[:min(told, len(out))]
	for k, took := range amountsOf(p) {
		kind, more := Kind(k), took-usual[k]
		switch {
		case kind == Compiling, more <= 0, more < least:
		case kind == Unexplained && (len(p.Parts()) == 0 || p.Lost):
			// Of a step of the CPU engine it is all of it, and of one of which spans are
			// missing they may have been the part.
		default:
			out = append(out, Cause{Kind: kind, Time: more})
		}
	}
	return out
}

func longest(a, b Cause) int { return cmp.Compare(b.Time, a.Time) }

// machine is what the readings around a step say.
func machine(run *breakdown.Run, p breakdown.Phase) []Cause {
	readings := run.Machine
	i := slices.IndexFunc(readings, func(m recording.Machine) bool { return time.Duration(m.At) >= p.End })
	if i < 1 || time.Duration(readings[i-1].At) > p.Start {
		return nil
	}
	before, after := readings[i-1], readings[i]
	between := time.Duration(after.At - before.At)
	var out []Cause
	if after.OtherCores >= busy {
		out = append(out, Cause{Kind: OtherLoad, Busy: after.OtherCores, Cores: run.Header.Host.Cores, Between: between})
	}
	if before.Throttled >= 0 && after.Throttled > before.Throttled {
		out = append(out, Cause{Kind: Throttled, Events: after.Throttled - before.Throttled, Between: between})
	}
	return out
}

// Text is the stall in a sentence, without its period.
func (s Stall) Text() string {
	text := fmt.Sprintf("round %d, %s", s.Round, s.Brief())
	if len(s.With) == 0 {
		return text + ": nothing that is recorded happened beside it"
	}
	return text + with(s.With)
}

// Brief is what took how long, without what happened beside it.
func (s Stall) Brief() string {
	return fmt.Sprintf("%s took %s ms, %s × the median", s.Title, figures.Milliseconds(s.Time), figures.Text(s.Factor(), 1))
}

func with(causes []Cause) string {
	text, sign := "", ": "
	for _, c := range causes {
		text, sign = text+sign+c.Text(), ", "
	}
	return text
}

package breakdown

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// Phases of an account that are no spans of the run.
const (
	ProcessStart = "process start" // from the parent's call until the run's own clock begins
	ProcessExit  = "process exit"  // from the run's last event until the parent knows
	LaterSteps   = "later decode steps"
	LaterRepeats = "later steps" // of what a program repeats
	LaterRounds  = "later rounds"
	Unattributed = "unattributed"
)

// Line is a part of a run's wall clock. No two lines of an account overlap.
type Line struct {
	Round int    // 0 outside of rounds
	Phase string // a span's name, or one of this package's
	// What tells the parts of a phase apart: one of the Kind constants,
	// Unattributed for what they leave over, or "" for a phase without parts.
	What              string
	Library, Function string // of LIB and PIPE
	Beside            bool   // it was made beside the thread that generates, and this is what that waited for it
	Count             int    // how many spans it stands for
	Time              time.Duration
}

// Key tells lines apart, also from one run to another.
func (l Line) Key() Line { l.Count, l.Time = 0, 0; return l }

// Account is where a run's wall clock went.
type Account struct {
	// Wall is the run's wall clock: as the parent took it, from before the
	// process began until after its end; else as the run itself took it.
	Wall     time.Duration
	ByParent bool
	Lines    []Line // in the order of their begin
	// Compiles are what the lines of libraries and pipelines stand for, without
	// those of later rounds.
	Compiles []Compile
	// Unattributed is what is left of Wall beside all lines, between phases.
	Unattributed time.Duration
	// Lost is how many spans of the run are missing: what they timed is
	// unattributed.
	Lost int
}

// Named is the part of the wall clock that lines explain, from 0 to 1: a phase
// without parts is a name, what parts leave over of one is none.
func (a *Account) Named() float64 {
	if a.Wall <= 0 {
		return 0
	}
	unnamed := a.Unattributed
	for _, l := range a.Lines {
		if l.What == Unattributed {
			unnamed += l.Time
		}
	}
	return 1 - float64(unnamed)/float64(a.Wall)
}

// slack is by how much parts may exceed their whole: two clocks are read one
// after the other.
const slack = time.Millisecond

// ExceedsError says that parts of a run are longer than the whole of them, so
// that the recording or the instrument is wrong.
type ExceedsError struct {
	Whole       string
	Parts, Time time.Duration
}

func (e *ExceedsError) Error() string {
	return fmt.Sprintf("the parts of %s add up to %s ms, but it took %s ms: something was timed twice, so nothing of this account can be believed",
		e.Whole, figures.Milliseconds(e.Parts), figures.Milliseconds(e.Time))
}

// Account is where the run's wall clock went. Decode steps from the second on are
// one line, and so is every phase of the rounds after the first. It fails where
// parts exceed their whole.
func (r *Run) Account() (*Account, error) {
	if !r.accounted {
		r.account, r.failed = accountOf(r)
		r.accounted = true
	}
	return r.account, r.failed
}

func accountOf(r *Run) (*Account, error) {
	if len(r.Overlaps) > 0 {
		// What overlaps does not count elsewhere; here it may make more of a
		// whole than there is, and then nothing can be believed.
		twice := *r.Run
		twice.Spans, twice.Overlaps = append(slices.Clone(r.Spans), r.Overlaps...), nil
		slices.SortStableFunc(twice.Spans, func(x, y trace.Record) int { return cmp.Compare(x.ID, y.ID) })
		var exceeds *ExceedsError
		if _, err := account(Take(&twice)); errors.As(err, &exceeds) {
			return nil, err
		}
	}
	return account(r)
}

func account(run *Run) (*Account, error) {
	a := &Account{Wall: run.end, Lost: run.LostSpans()}
	b := bookkeeper{account: a, seen: map[Line]int{}, divided: map[Line]bool{}}
	program := run.Header.Program != nil
	if program && len(run.Rounds) > 0 {
		a.Wall, a.ByParent = run.Rounds[len(run.Rounds)-1].End, true // the recorder is the program's parent
	}
	if x := run.Exit; x != nil && run.Header.Clock > 0 && !program {
		a.Wall, a.ByParent = time.Duration(x.Reaped-x.Spawned), true
		b.add(Line{Phase: ProcessStart, Count: 1, Time: time.Duration(run.Header.Clock - x.Spawned)})
	}
	rounds := byID(run.Rounds)
	var last Phase
	for i, p := range run.top {
		if i > 0 && p.Start < last.End-slack {
			return nil, &ExceedsError{fmt.Sprintf("%q and %q", last.Name, p.Name), last.Time() + p.Time(), max(p.End, last.End) - last.Start}
		}
		last = p
		if p.Name != names.SpanRound {
			if err := b.phase(0, p); err != nil {
				return nil, err
			}
			continue
		}
		var sum time.Duration
		number := 0
		for _, r := range rounds[p.ID] {
			number = r.Number
			for _, p := range r.Phases {
				sum += p.Time()
				if err := b.phase(r.Number, p); err != nil {
					return nil, err
				}
			}
		}
		if whole := p.Time(); sum > whole+slack {
			return nil, &ExceedsError{fmt.Sprintf("round %d", number), sum, whole}
		}
	}
	if x := run.Exit; a.ByParent && !program && run.End != nil && time.Duration(run.End.At) >= run.last {
		b.add(Line{Phase: ProcessExit, Count: 1, Time: time.Duration(x.Reaped - run.Header.Clock - run.End.At)})
	}
	if b.sum > a.Wall+slack || b.negative != "" {
		if b.negative != "" {
			return nil, fmt.Errorf("%s takes a negative time: the clocks of the run and of its parent do not fit together", b.negative)
		}
		return nil, &ExceedsError{"the run", b.sum, a.Wall}
	}
	a.Unattributed = max(0, a.Wall-b.sum)
	a.arrange()
	return a, nil
}

// arrange puts what is left of a phase behind the last of its parts.
func (a *Account) arrange() {
	first := map[Line]int{}
	group := func(l Line) Line { return Line{Round: l.Round, Phase: l.Phase} }
	for i, l := range a.Lines {
		if _, ok := first[group(l)]; !ok {
			first[group(l)] = i
		}
	}
	slices.SortStableFunc(a.Lines, func(x, y Line) int {
		return cmp.Or(cmp.Compare(first[group(x)], first[group(y)]), cmp.Compare(order(x), order(y)))
	})
}

// order is libraries and pipelines as they were made, then what else was done,
// then the rest.
func order(l Line) int {
	switch l.What {
	case KindLibrary, KindPipeline:
		return 1
	case KindWeights, KindEncode, KindCommit, KindWait:
		return 2
	case KindRecording:
		return 3
	case Unattributed:
		return 4
	}
	return 0
}

// bookkeeper adds up the lines of an account.
type bookkeeper struct {
	account  *Account
	seen     map[Line]int
	divided  map[Line]bool // phases with parts
	sum      time.Duration
	negative string // the first line that takes less than nothing
}

func (b *bookkeeper) add(l Line) {
	if l.Time < -slack && b.negative == "" {
		b.negative = l.Phase
	}
	l.Time = max(0, l.Time)
	b.sum += l.Time
	i, ok := b.seen[l.Key()]
	if !ok {
		b.seen[l.Key()] = len(b.account.Lines)
		b.account.Lines = append(b.account.Lines, l)
		return
	}
	b.account.Lines[i].Count += l.Count
	b.account.Lines[i].Time += l.Time
}

// phase enters a phase and what is in it.
func (b *bookkeeper) phase(round int, p Phase) error {
	name := p.Name
	switch {
	case name == names.SpanStep && p.N > 1:
		name = LaterSteps
	case name == names.SpanRepeat && p.N > 1:
		name = LaterRepeats
	case name == names.SpanPhase:
		name = p.Title()
	}
	if p.Own() < -slack {
		return &ExceedsError{fmt.Sprintf("%q of round %d", p.Name, round), p.Compiling() + p.Recording, p.Time()}
	}
	parts := p.Parts()
	if rest := max(0, p.Rest()); name != KindLibrary && name != KindPipeline {
		l := Line{Round: round, Phase: name, Count: 1, Time: rest}
		if p.Divided() || b.divided[l.Key()] {
			b.divided[l.Key()] = true
			l.What = Unattributed
		}
		b.add(l)
	}
	if round <= 1 {
		b.account.Compiles = append(b.account.Compiles, p.Compiles...)
	}
	for i, c := range slices.Concat(p.Compiles, p.Carried) {
		if c.Beside && c.Wall() == 0 {
			continue // nobody waited for it
		}
		l := Line{Round: round, Phase: name, What: KindLibrary, Library: c.Library, Function: c.Function, Beside: c.Beside, Count: 1, Time: c.Wall()}
		if i >= len(p.Compiles) {
			l.Count = 0 // it is counted where it began
		}
		if !c.IsLibrary() {
			l.What = KindPipeline
		}
		b.add(l)
	}
	for _, x := range parts {
		b.add(Line{Round: round, Phase: name, What: x.Kind, Count: 1, Time: x.Time})
	}
	if p.Recording > 0 {
		b.add(Line{Round: round, Phase: name, What: KindRecording, Count: 1, Time: p.Recording})
	}
	return nil
}

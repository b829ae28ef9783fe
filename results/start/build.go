package start

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// Of makes the model of a run. A run that did not get to a goal has no start, and
// neither has one whose parts are longer than the whole.
func Of(run *breakdown.Run) (*Start, error) {
	a, err := run.Account()
	if err != nil {
		return nil, err
	}
	rounds := run.First()
	if len(rounds) == 0 {
		return nil, errors.New("its first round is not recorded")
	}
	b := builder{Start: &Start{Wall: a.Wall, Program: run.Header.Program != nil, Mode: mode(run.Run)}, device: -1}
	if !b.Program {
		b.read(run.Spans)
	}
	b.all(run, a)
	b.place()
	b.goals(rounds[0])
	if len(b.Goals) == 0 {
		return nil, errors.New("its first round did not get to what it is waited for")
	}
	b.open(rounds[0])
	return b.Start, nil
}

// builder makes a start of a run's phases, in order.
type builder struct {
	*Start
	engine
	at     time.Duration // how far the run's clock has got
	device time.Duration // when a device was there; negative where nothing tells
	// Where a process begins, and where the phases of the first round end.
	process bool
	ends    []end
}

// end is behind which piece a phase of the first round ended.
type end struct {
	id    trace.ID
	after int
}

// instrument are phases in which introgen itself is at work.
var instrument = []string{names.SpanRecord, names.SpanEvict, names.SpanDigest, names.SpanLimits}

func (b *builder) all(run *breakdown.Run, a *breakdown.Account) {
	outside := b.phase(0, "")
	own := a.ByParent && !b.Program
	if own {
		b.piece(Piece{Phase: b.phase(0, breakdown.ProcessStart), Compile: -1, from: -1}, time.Duration(run.Header.Clock-run.Exit.Spawned))
		b.process = true
	}
	for _, top := range run.Top() {
		b.until(outside, top.Start)
		if top.Name != names.SpanRound {
			b.walk(0, top)
			if top.Name == names.SpanDevice && b.device < 0 {
				b.device = top.End
			}
			continue
		}
		for _, r := range run.Rounds {
			if r.ID != top.ID {
				continue
			}
			for _, p := range r.Phases {
				b.until(outside, p.Start)
				b.walk(r.Number, p)
			}
		}
		b.until(outside, top.End)
	}
	if run.Run.End != nil {
		b.until(outside, time.Duration(run.Run.End.At))
	}
	if own && run.Run.End != nil {
		b.piece(Piece{Phase: b.phase(0, breakdown.ProcessExit), Compile: -1, from: b.at}, time.Duration(run.Exit.Reaped-run.Header.Clock-run.Run.End.At))
	}
}

// phase is the number of the phase, which is new where it is not the last.
func (b *builder) phase(round int, title string) int {
	b.Phases = append(b.Phases, Phase{round, title})
	return len(b.Phases) - 1
}

// piece appends a piece, unless it takes no time and needs nothing.
func (b *builder) piece(p Piece, took time.Duration) {
	if p.Time = max(0, took); p.Time > 0 || p.Compile >= 0 {
		b.Pieces = append(b.Pieces, p)
	}
}

// until fills what lies between the last phase and a moment.
func (b *builder) until(phase int, at time.Duration) {
	b.piece(Piece{Phase: phase, Compile: -1, from: b.at}, at-b.at)
	b.at = max(b.at, at)
}

// part is what interrupts a phase's own work.
type part struct {
	at, took time.Duration
	kind     string
	compile  int
}

// walk cuts a phase at each compile and each tensor that is brought to the device.
func (b *builder) walk(round int, p breakdown.Phase) {
	n := b.phase(round, p.Title())
	parts := b.parts(n, p)
	var held time.Duration
	for _, x := range parts {
		held += x.took
	}
	from := max(b.at, p.Start)
	work := max(0, p.End-from-held) // what of the phase is none of its parts
	mine := slices.Contains(instrument, p.Name)
	at := from
	for _, x := range parts {
		before := min(work, max(0, x.at-at))
		b.piece(Piece{Phase: n, Compile: -1, from: at, Instrument: mine}, before)
		work, at = work-before, at+before
		if x.compile >= 0 && (x.kind != Await || b.Compiles[x.compile].need == nowhere) {
			b.Compiles[x.compile].need = len(b.Pieces)
		}
		b.piece(Piece{Phase: n, Kind: x.kind, Compile: x.compile, from: at}, x.took)
		at += x.took
	}
	b.piece(Piece{Phase: n, Compile: -1, from: at, Instrument: mine}, work)
	b.at = max(b.at, p.End)
	if round == 1 {
		b.ends = append(b.ends, end{p.ID, len(b.Pieces)})
	}
}

// parts are what interrupts a phase's work, in the order of their begin.
func (b *builder) parts(phase int, p breakdown.Phase) []part {
	var out []part
	for _, c := range p.Compiles {
		kind, n := breakdown.KindPipeline, b.compile(phase, c)
		if c.IsLibrary() {
			kind = breakdown.KindLibrary
		}
		if b.isBeside(c) {
			b.Compiles[n].need = nowhere
			continue
		}
		out = append(out, part{c.Start, c.Wall(), kind, n})
	}
	for _, s := range b.awaited(p) {
		out = append(out, part{s.Start, s.Duration(), Await, b.awaits(s)})
	}
	for _, c := range p.Carried {
		if b.isBeside(c) {
			continue
		}
		// The wall clock went on with what an earlier phase had begun.
		out = append(out, part{max(c.Start, p.Start), c.Wall(), Await, b.carried(c)})
	}
	for _, s := range b.weights[p.ID] {
		out = append(out, part{s.Start, s.Duration(), breakdown.KindWeights, -1})
	}
	if b.Program && p.Weights > 0 {
		// It may lie anywhere among what else the threads did.
		out = append(out, part{p.End, p.Weights, breakdown.KindWeights, -1})
	}
	slices.SortStableFunc(out, func(x, y part) int { return cmp.Compare(x.at, y.at) })
	return out
}

// compile is the number of what was made, in the order of need.
func (b *builder) compile(phase int, c breakdown.Compile) int {
	one := Compile{Compile: c, Of: -1, Phase: phase}
	if !c.IsLibrary() {
		for i := len(b.Compiles) - 1; i >= 0 && one.Of < 0; i-- {
			if x := b.Compiles[i]; x.IsLibrary() && x.Library == c.Library {
				one.Of = i
			}
		}
	}
	b.Compiles = append(b.Compiles, one)
	return len(b.Compiles) - 1
}

// carried is the number of what an earlier phase began; −1 where none did.
func (b *builder) carried(c breakdown.Compile) int {
	return slices.IndexFunc(b.Compiles, func(x Compile) bool {
		return x.Start == c.Start && x.Library == c.Library && x.Function == c.Function
	})
}

// goals are what the first round is waited for, that it got to.
func (b *builder) goals(r breakdown.Round) {
	from := 0
	if len(r.Before) == 0 || b.Program {
		from = b.cut(b.opened(r))
	}
	add := func(name string, took time.Duration, after int) {
		b.Goals = append(b.Goals, Goal{Name: name, Recorded: took, from: from, after: after})
	}
	token := func(n int, p breakdown.Phase) {
		t, ok := r.Token(n)
		if all, told := r.FromStart(n); told && !b.Program {
			t = all
		}
		k := slices.IndexFunc(b.ends, func(e end) bool { return e.id == p.ID })
		if ok && k >= 0 && b.ends[k].after > from {
			add([]string{"token 1", "token 2"}[n-1], t, b.ends[k].after)
		}
	}
	if p, ok := r.Phase(names.SpanPrefill); ok {
		token(1, p)
	}
	if p, ok := r.Step(1); ok {
		token(2, p)
	}
	if g, ok := r.Goal(); ok && len(b.Goals) == 0 {
		from = b.cut(r.Start)
		add(g.Brief(), g.Time, b.cut(g.Until))
	}
}

// opened is the moment from which on the tokens of a round count.
func (b *builder) opened(r breakdown.Round) time.Duration {
	if p, ok := r.Phase(names.SpanRead); ok && b.Program {
		return p.Start
	}
	return r.Start
}

// cut is the piece that begins at the moment: a piece around it becomes two. What is
// being compiled then is done first.
func (b *builder) cut(at time.Duration) int {
	for i, p := range b.Pieces {
		switch {
		case p.from >= at:
			return i
		case p.from+p.Time <= at:
		case p.Compile >= 0 || p.from < 0:
			return i + 1
		default:
			first, second := p, p
			first.Time = at - p.from
			second.from, second.Time = at, p.from+p.Time-at
			b.Pieces = slices.Insert(b.Pieces, i+1, second)
			b.Pieces[i] = first
			b.moved(i)
			return i + 1
		}
	}
	return len(b.Pieces)
}

// moved tells what knows pieces by their number that there is one more behind i.
func (b *builder) moved(i int) {
	for k := range b.Compiles {
		if b.Compiles[k].need > i && b.Compiles[k].need != nowhere {
			b.Compiles[k].need++
		}
	}
	for k := range b.ends {
		if b.ends[k].after > i {
			b.ends[k].after++
		}
	}
	for k := range b.Goals {
		if b.Goals[k].after > i {
			b.Goals[k].after++
		}
		if b.Goals[k].from > i {
			b.Goals[k].from++
		}
	}
}

// open finds from when on a device can compile.
func (b *builder) open(r breakdown.Round) {
	at := b.device
	if r.Program() && r.FirstMetal != figures.Missing {
		at = r.FirstMetal
	}
	if at < 0 {
		at = r.Start
	}
	if b.Mode == Early {
		for _, c := range b.Compiles {
			if b.isBeside(c.Compile) {
				at = c.Start // they are in the order of their begin
				break
			}
		}
	}
	b.Start.device = b.cut(at)
	for _, c := range b.Compiles {
		b.Start.device = min(b.Start.device, c.need)
	}
}

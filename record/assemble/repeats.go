package assemble

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace/names"
)

// A program that marks nothing is cut where it repeats itself: a turn is what it
// commits until it waits for that, and a step is the turns that come again and again.
// One that never waits, since it is called back, is cut by its command buffers alone.

const (
	mostHeld   = 1 << 16 // how much waits for steps to be found in it
	mostTurns  = 8       // of a step
	leastSteps = 3       // else nothing repeats itself
)

// repeats is what is known of what repeats itself.
type repeats struct {
	// held is the phase from which on nothing is numbered, since it may turn out to
	// be a step; nil where no step is looked for.
	held  *span
	turn  []int64 // dispatches of the command buffers that were committed in this turn
	turns []turn  // of the held phase
	// buffers are the command buffers of the held phase, each a turn of its own;
	// byBuffers says that steps are made of these.
	buffers   []turn
	byBuffers bool
	over      bool // too much was held: no more steps are looked for
	period    int  // turns of a step; 0 while nobody knows
	steps     int64
	same      map[string]*alike
}

// turn is what was committed until a wait for it was over.
type turn struct {
	end        time.Duration
	text       string // the dispatches of each command buffer, by which turns are compared
	dispatches int64
	buffers    int
	gap        time.Duration // of one that is a command buffer: since the one before
}

// alike are the steps of one text.
type alike struct {
	n          int
	dispatches int64
	buffers    int
}

// turned ends a turn, if anything was committed in it.
func (p *Process) turned(at time.Duration) {
	r := &p.repeats
	if len(r.turn) == 0 {
		return
	}
	t := turn{end: at, buffers: len(r.turn)}
	var text []byte
	for _, n := range r.turn {
		text = fmt.Appendf(text, "%d ", n)
		t.dispatches += n
	}
	t.text = string(text)
	r.turn = r.turn[:0]
	if !r.byBuffers {
		r.turns = p.keep(r.turns, t)
		p.whole()
	}
}

// buffered takes a command buffer that was committed.
func (p *Process) buffered(dispatches int64, begin, end time.Duration) {
	r := &p.repeats
	if p.marks() || r.over {
		return
	}
	if len(r.turn) < mostHeld {
		r.turn = append(r.turn, dispatches)
	}
	t := turn{end: end, text: strconv.FormatInt(dispatches, 10), dispatches: dispatches, buffers: 1}
	switch n := len(r.buffers); {
	case r.byBuffers:
		r.turns = append(r.turns, t)
		p.whole()
	case r.period == 0:
		if n > 0 {
			t.gap = begin - r.buffers[n-1].end
		}
		r.buffers = p.keep(r.buffers, t)
	}
}

// keep appends a turn. As long as nothing is held, it keeps those alone behind which
// the first output may have come.
func (p *Process) keep(turns []turn, t turn) []turn {
	if p.repeats.held == nil && !p.phases.hinted {
		turns = slices.DeleteFunc(turns, func(old turn) bool { return old.end < t.end-Settled })
	}
	return append(turns, t)
}

// whole makes a step of the turns that are held, if they are one.
func (p *Process) whole() {
	r := &p.repeats
	if r.held == nil || r.period == 0 || len(r.turns) < r.period {
		return
	}
	end := r.turns[len(r.turns)-1].end
	p.step(r.turns)
	r.turns = nil
	p.cut(afterPhase, end)
	r.held = p.phase
}

// giveUp has what is held written: it is too much.
func (p *Process) giveUp() {
	r := &p.repeats
	p.phases.hinted = false
	if r.held == nil {
		return
	}
	if r.period == 0 {
		p.decide()
		if r.period > 0 {
			return
		}
	}
	*r = repeats{over: true, steps: r.steps, same: r.same}
}

// decide cuts what is held into steps, if it repeats itself.
func (p *Process) decide() {
	r := &p.repeats
	if r.held == nil || r.period > 0 {
		return
	}
	first, period, steps := repeating(r.turns)
	if steps == 0 {
		if first, period, steps = cycling(r.buffers); steps == 0 {
			return
		}
		r.turns, r.byBuffers = r.buffers, true
	}
	r.period, r.buffers = period, nil
	var all []*span // phases behind the one that is held
	next := func(at time.Duration) {
		s := p.newPhase(afterPhase)
		s.record.Start = at
		r.held, p.phase = s, s
		all = append(all, s)
	}
	held := r.held
	if first > 0 {
		next(r.turns[first-1].end)
	}
	turns := r.turns[first:]
	for ; steps > 0; steps-- {
		p.step(turns[:period])
		next(turns[period-1].end)
		turns = turns[period:]
	}
	p.split(held, all)
	// The turns of a step that was not whole are behind the last one that is.
	r.turns = slices.Clone(turns[len(turns)/period*period:])
}

// split divides what lies in a phase among it and those that follow it, by the
// times at which these begin.
func (p *Process) split(from *span, behind []*span) {
	list := make([]entry, 0, len(p.list)+len(behind))
	at := from
	for _, e := range p.list {
		for len(behind) > 0 && e.at >= behind[0].record.Start {
			at, behind = behind[0], behind[1:]
			list = append(list, entry{at: at.record.Start, span: at})
		}
		if e.in == from {
			e.in = at
		}
		if s := e.span; s != nil && s.in == from {
			s.in = at
			if len(behind) > 0 && (s.record.End < 0 || s.record.End > behind[0].record.Start) {
				p.across(s)
			}
		}
		list = append(list, e)
	}
	for _, s := range behind {
		list = append(list, entry{at: s.record.Start, span: s})
	}
	p.list = list
}

// step makes a step of the phase that is held, which ends with the last of its turns.
func (p *Process) step(turns []turn) {
	r := &p.repeats
	r.steps++
	p.phases.n--
	s := &r.held.record
	s.Name, s.Detail, s.N = names.SpanRepeat, "", r.steps
	text, one := "", alike{n: 1}
	for _, t := range turns {
		text += t.text + "; "
		one.dispatches += t.dispatches
		one.buffers += t.buffers
	}
	if r.same == nil {
		r.same = map[string]*alike{}
	}
	if others := r.same[text]; others != nil {
		others.n++
	} else {
		r.same[text] = &one
	}
}

// repeating finds in what a program does a number of turns that come again and
// again: where that begins, how many turns a step has, and how many steps there are.
func repeating(turns []turn) (first, period, steps int) {
	for period = 1; period <= mostTurns; period++ {
		first, last, n := -1, 0, 0
		for i := period; i < len(turns); i++ {
			if turns[i].text != turns[i-period].text {
				continue
			}
			if n++; first < 0 {
				first = i - period
			}
			last = i
		}
		if first < 0 {
			continue
		}
		length := last + 1 - first
		// Some steps may be others: a cache that is grown, a kernel for longer rows.
		if steps = length / period; steps >= leastSteps && n*10 >= (length-period)*6 {
			return first, period, steps
		}
	}
	return 0, 0, 0
}

// longestCycle is how many command buffers a step has at most that are not waited for.
const longestCycle = 4096

// cycling finds in command buffers without waits what comes again and again. Its
// second half says how long a step is: what comes before may be the way there. A
// step begins where the program took longest, as it does when it has a result.
func cycling(buffers []turn) (first, period, steps int) {
	n := len(buffers)
	const enough, better = 0.9, 0.02
	least := enough // of the command buffers that are as the one a period before
	for p := 1; p <= min(longestCycle, n/leastSteps); p++ {
		count := n - max(p, n/2)
		others, most := 0, int((1-least)*float64(count))
		for i := n - count; i < n && others <= most; i++ {
			if buffers[i].dispatches != buffers[i-p].dispatches {
				others++
			}
		}
		if others <= most {
			period, least = p, min(1, 1-float64(others)/float64(count)+better)
		}
		if others == 0 {
			break
		}
	}
	if period == 0 {
		return 0, 0, 0
	}
	first = n - period
	for first > 0 && buffers[first-1].text == buffers[first-1+period].text {
		first--
	}
	if n-first < period*leastSteps { // some differ
		first = max(0, n-period*((n-n/2)/period))
	}
	longest := time.Duration(-1)
	start := first
	for k := first; k < min(first+period, n); k++ {
		var gaps time.Duration
		for i := k; i < n; i += period {
			gaps += buffers[i].gap
		}
		if gaps > longest {
			longest, start = gaps, k
		}
	}
	if steps = (n - start) / period; steps < leastSteps {
		return 0, 0, 0
	}
	return start, period, steps
}

// sure says how sure it is that the steps are steps; nil where there are none.
func (p *Process) sure() *recording.Note {
	r := &p.repeats
	if r.steps == 0 {
		return nil
	}
	most := &alike{}
	for _, a := range r.same {
		if a.n > most.n || a.n == most.n && a.dispatches > most.dispatches {
			most = a
		}
	}
	return &recording.Note{Text: fmt.Sprintf("steps are what repeats itself after the first output: %d of %d have the same %d dispatches in %d command buffers", most.n, r.steps, most.dispatches, most.buffers)}
}

package start

import (
	"container/heap"
	"fmt"
	"math"
	"time"
)

// When is the moment at which something is compiled.
type When int

// The moments.
const (
	// AsRecorded is where the run itself did it, for as long as it took.
	AsRecorded When = iota
	// Serial is on the main thread, where it is needed.
	Serial
	// Concurrent is beside the main thread from the begin of the phase that needs it:
	// libraries first, each one's pipelines as soon as it is there.
	Concurrent
	// Early is beside the main thread from the moment at which there is a device, in
	// the order of first need.
	Early
	// Behind is as Serial for what the first goal needs, and as Early for the rest.
	Behind
)

func (w When) String() string {
	switch w {
	case AsRecorded:
		return "as recorded"
	case Serial:
		return "serial"
	case Concurrent:
		return "concurrent"
	case Early:
		return "early"
	case Behind:
		return "behind"
	}
	return fmt.Sprintf("When(%d)", int(w))
}

// Rules are how a start is replayed.
type Rules struct {
	When When
	// Threads is on how many compiles go on beside each other; 0 is without limit.
	Threads int
	// Cores is how many the main thread and the compiles have among them, each getting
	// an equal part where there are fewer; 0 is enough for all.
	Cores int
	// Slow is by what a compile beside something else takes longer than alone, as long
	// as that goes on: cores share caches, memory and their highest clock. Below 1 it
	// is 1.
	Slow float64
	// Compile and Piece are how long something takes; nil is as recorded.
	Compile func(Compile) time.Duration
	Piece   func(Piece) time.Duration
}

// MostThreads bounds Rules.Threads.
const MostThreads = 1024

// Task is when something was compiled in a replay.
type Task struct {
	From, To time.Duration
	Thread   int // from 1; 0 is the main thread
	after    int // the task whose end it waited for last: its library, or what its thread did; −1 for none
}

// Schedule is a replay.
type Schedule struct {
	Tasks  []Task          // of each compile
	Begin  []time.Duration // of each piece, and at last the end
	Waited []time.Duration // of each piece, how long the main thread waited for what it needs
	Goals  []time.Duration // of each goal how long it took
	Wall   time.Duration
}

// Replay lets the start happen under the rules.
func (s *Start) Replay(r Rules) Schedule {
	p := replay{Start: s, rules: r}
	if r.Threads <= 0 || r.Threads > MostThreads {
		p.rules.Threads = MostThreads
	}
	p.rules.Threads = min(p.rules.Threads, max(1, len(s.Compiles))) // no more have anything to do
	if r.Slow < 1 || math.IsNaN(r.Slow) || math.IsInf(r.Slow, 0) {
		p.rules.Slow = 1
	}
	return p.run()
}

// replay is one that goes on.
type replay struct {
	*Start
	rules   Rules
	now     float64 // ns
	out     Schedule
	done    []bool
	waiting [][]int // by library: pipelines that are let go and wait for it
	release [][]int // by piece: compiles that are let go when it begins
	ready   queue
	running []job // beside the main thread
	free    []int // threads, by when they became free; the last first
	last    []int // of each thread, what it did last
	beside  []bool
}

// job is a compile on a thread.
type job struct {
	compile, thread int
	left            float64 // ns, alone on a core
}

func (p *replay) took(c int) float64 {
	if p.rules.Compile != nil {
		return float64(max(0, p.rules.Compile(p.Compiles[c])))
	}
	return float64(p.Compiles[c].Time)
}

func (p *replay) run() Schedule {
	n := len(p.Compiles)
	p.done, p.waiting, p.beside = make([]bool, n), make([][]int, n), make([]bool, n)
	p.release, p.last = make([][]int, len(p.Pieces)), make([]int, p.rules.Threads+1)
	p.out.Tasks, p.out.Waited = make([]Task, n), make([]time.Duration, len(p.Pieces))
	p.ready.rank = p.rank
	for t := p.rules.Threads; t >= 1; t-- {
		p.free, p.last[t] = append(p.free, t), -1
	}
	p.letGo()
	for i, piece := range p.Pieces {
		p.out.Begin = append(p.out.Begin, p.at())
		for _, c := range p.release[i] {
			p.let(c)
		}
		p.assign()
		p.piece(i, piece)
	}
	p.out.Begin = append(p.out.Begin, p.at())
	p.out.Wall = p.at()
	for _, g := range p.Goals {
		took := p.out.Begin[g.after] - p.out.Begin[g.from]
		for i := g.from; i < g.after; i++ {
			if p.Pieces[i].Instrument {
				took -= p.out.Begin[i+1] - p.out.Begin[i]
			}
		}
		p.out.Goals = append(p.out.Goals, took)
	}
	return p.out
}

func (p *replay) at() time.Duration { return time.Duration(math.Round(p.now)) }

// letGo says of each compile at which piece it is let go, by the rules.
func (p *replay) letGo() {
	begin := make([]int, len(p.Phases)) // of each phase its first piece
	for i := len(p.Pieces) - 1; i >= 0; i-- {
		begin[p.Pieces[i].Phase] = i
	}
	for i, c := range p.Compiles {
		at := -1
		switch p.rules.When {
		case Concurrent:
			at = min(begin[c.Phase], c.need)
		case Early:
			at = p.device
		case Behind:
			if len(p.Goals) > 0 && c.need >= p.Goals[0].after {
				at = p.device
			}
		}
		if at >= 0 {
			p.beside[i] = true
			p.release[at] = append(p.release[at], i)
		}
	}
}

// rank is the order in which threads take what is ready.
func (p *replay) rank(c int) int {
	if p.rules.When == Concurrent && !p.Compiles[c].IsLibrary() {
		return c + len(p.Compiles)
	}
	return c
}

// let lets a compile go: it is ready, or waits for its library.
func (p *replay) let(c int) {
	if of := p.Compiles[c].Of; of >= 0 && !p.done[of] {
		p.waiting[of] = append(p.waiting[of], c)
		return
	}
	heap.Push(&p.ready, c)
}

// assign gives free threads what is ready.
func (p *replay) assign() {
	for len(p.free) > 0 && p.ready.Len() > 0 {
		c := heap.Pop(&p.ready).(int)
		t := p.free[len(p.free)-1]
		p.free = p.free[:len(p.free)-1]
		p.out.Tasks[c] = Task{From: p.at(), Thread: t, after: p.before(c, p.last[t])}
		p.running = append(p.running, job{c, t, p.took(c)})
	}
}

// before is which of its library and of what its thread did ended last.
func (p *replay) before(c, last int) int {
	of := p.Compiles[c].Of
	if of >= 0 && (last < 0 || p.out.Tasks[of].To >= p.out.Tasks[last].To) {
		return of
	}
	return last
}

// piece does one of the main thread's.
func (p *replay) piece(i int, piece Piece) {
	took := float64(piece.Time)
	if p.rules.Piece != nil {
		took = float64(max(0, p.rules.Piece(piece)))
	}
	c := piece.Compile
	switch {
	case c < 0 || p.rules.When == AsRecorded:
		p.work(took)
		if c >= 0 && !p.done[c] {
			p.end(c, 0, p.out.Begin[i])
		}
	case p.done[c]:
	case p.beside[c]:
		for !p.done[c] && len(p.running) > 0 {
			p.step(math.Inf(1), false)
		}
		p.out.Waited[i] = p.at() - p.out.Begin[i]
	default:
		p.work(p.took(c))
		p.end(c, 0, p.out.Begin[i])
	}
}

// work lets the main thread work for so long as it has a core of its own.
func (p *replay) work(left float64) {
	for left > little {
		left -= p.step(left, true)
	}
}

// little is what of a nanosecond rounding may leave.
const little = 1e-3

// step goes on until the main thread has done what is left, or something ends
// beside it; it says what the main thread has done.
func (p *replay) step(left float64, main bool) float64 {
	active := len(p.running)
	if main {
		active++
	}
	rate := 1.0
	if p.rules.Cores > 0 && active > p.rules.Cores {
		rate = float64(p.rules.Cores) / float64(active)
	}
	slow := 1.0
	if active > 1 {
		slow = p.rules.Slow
	}
	// All of it goes on until the first ends, in what the main thread does meanwhile.
	did := left
	for _, j := range p.running {
		did = min(did, j.left*slow)
	}
	p.now += did / rate
	still := p.running[:0]
	var ended []job
	for _, j := range p.running {
		if j.left -= did / slow; j.left <= little {
			ended = append(ended, j)
			continue
		}
		still = append(still, j)
	}
	p.running = still
	for _, j := range ended {
		p.free, p.last[j.thread] = append(p.free, j.thread), j.compile
		p.end(j.compile, j.thread, p.out.Tasks[j.compile].From)
	}
	p.assign()
	return did
}

// end notes that something is there, for which others may have waited.
func (p *replay) end(c, thread int, from time.Duration) {
	t := &p.out.Tasks[c]
	if t.From, t.To, t.Thread = from, p.at(), thread; thread == 0 {
		t.after = -1
	}
	p.done[c] = true
	for _, x := range p.waiting[c] {
		heap.Push(&p.ready, x)
	}
	p.waiting[c] = nil
}

// queue is what is ready, the first in rank first.
type queue struct {
	of   []int
	rank func(int) int
}

func (q *queue) Len() int           { return len(q.of) }
func (q *queue) Less(i, j int) bool { return q.rank(q.of[i]) < q.rank(q.of[j]) }
func (q *queue) Swap(i, j int)      { q.of[i], q.of[j] = q.of[j], q.of[i] }
func (q *queue) Push(x any)         { q.of = append(q.of, x.(int)) }
func (q *queue) Pop() any {
	last := q.of[len(q.of)-1]
	q.of = q.of[:len(q.of)-1]
	return last
}

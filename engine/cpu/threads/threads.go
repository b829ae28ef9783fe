// Package threads runs the stages of a forward pass on a fixed set of threads.
//
// A pass is a list of stages; a stage is a number of units of work that may be
// done in any order, and all of them are done before the next stage begins.
// Each thread has a range of a stage's units, which it claims piece by piece;
// who has none left, and has waited a moment, claims from the others' ranges. So there is no barrier over
// threads but only over work: a thread that the operating system has taken off
// its processor holds nobody up unless it holds units.
//
// Waiting is spinning for some microseconds, then sleeping. Spinning alone is
// ruinous where other programs want the processors, because the thread that is
// waited for may be queueing behind the one that spins; sleeping alone costs
// more than a stage takes. Nothing is allocated during a pass.
package threads

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Body is the work of a pass.
type Body interface {
	// Do does the units lo to hi-1 of a stage on thread tid.
	Do(tid, stage, lo, hi int)
	// Ahead is called on thread tid when it has done its units and must wait for
	// the others: the time to prefetch what comes next. The thread
	// may be late, so that the pass has long ended: only what no pass changes
	// may be looked at, such as what NewStages was given for these.
	Ahead(tid, stage int, of any)
}

// Stages are the units of each stage of a pass. It does not change, so that it can
// be used for any number of passes.
type Stages struct {
	units []int
	of    any
}

// NewStages returns the len(units) stages. Units are at least 1 and at most
// 2^30 in all. Body.Ahead is given of.
func NewStages(units []int, of any) *Stages {
	return &Stages{units: append([]int(nil), units...), of: of}
}

const (
	// pieces is in how many parts a thread claims its own range where threads had
	// to wait for each other, so that the others can take over from a slow one.
	// Where they had not, it claims its range whole: each claim interrupts the
	// stream from memory, which costs some 150 ns.
	pieces = 4
	// unevenShare is the share of a pass's stages, as 1 in so many, in which
	// threads waited beyond patience, from which on a pass counts as uneven.
	unevenShare = 8
	// spins is how often a waiting thread looks before it sleeps, with a pause
	// of 10 to 40 ns between looks: longer than a stage's usual imbalance and
	// shorter than a time slice by far.
	spins = 1000
	// patience is how often a thread that has done its own range looks whether
	// the others are ready too before it helps them. To look at their ranges
	// takes the cache lines from them that they claim with.
	patience = 64
	// idleSpins is how often a thread looks between passes, where the caller looks at the
	// result of one and prepares the next.
	idleSpins = 8000
)

// line keeps what follows off the cache lines of what stands before: two of
// them, because processors prefetch lines in pairs.
type line [128]byte

// counter is an atomic number that threads sleep on.
type counter struct {
	value    atomic.Uint32
	_        line
	sleepers atomic.Int32
	_        line
}

// cursor is how far a thread's range is claimed: the stage's number in the high
// half, the next free unit in the low half.
type cursor struct {
	next atomic.Uint64
	_    line
}

// slot is a published pass.
type slot struct {
	plan   atomic.Pointer[Stages]
	first  atomic.Uint32 // number of its first stage
	done   atomic.Uint32 // what Team.done was when it began
	pieces atomic.Uint32 // in how many parts ranges are claimed
}

// Team is a set of threads. Its methods are for one goroutine at a time.
type Team struct {
	n      int
	body   Body
	guards []func() error // one pass on each thread, guarded
	guard  func(func() error) error
	park   parker
	seen   []seen
	spins  int // spins, or 0 where that takes the processor from the others

	done    counter // units done, of all passes
	epoch   counter // passes begun
	slots   [2]slot // the pass of epoch e is in slot e&1
	ranges  []cursor
	stage   uint32 // number of the next pass's first stage
	uneven  uint32 // sum of seen.uneven when the last pass began
	failed  atomic.Pointer[error]
	closing atomic.Bool
	workers sync.WaitGroup
}

// seen is the epoch that a thread works on, and in how many stages it waited
// beyond patience.
type seen struct {
	epoch  uint32
	uneven atomic.Uint32
	_      line
}

// New starts a team of n threads, of which the caller of Run is the first: n-1
// goroutines, each locked to its operating-system thread. guard is called
// around each thread's part of a pass and turns a memory fault there into an
// error.
func New(n int, body Body, guard func(func() error) error) *Team {
	t := &Team{n: n, body: body, guard: guard, park: newParker(n), seen: make([]seen, n), ranges: make([]cursor, n), stage: 1, spins: spins}
	if n > runtime.NumCPU() {
		t.spins = 1
	}
	for tid := range n {
		t.guards = append(t.guards, func() error { t.pass(tid); return nil })
	}
	for tid := 1; tid < n; tid++ {
		t.workers.Go(func() { t.work(tid) })
	}
	return t
}

// Size returns the number of threads.
func (t *Team) Size() int { return t.n }

// Run does all stages and returns when they are done. An error of any
// thread's guard ends the pass early; the team is then good for nothing but
// Close, and Run keeps returning that error.
func (t *Team) Run(plan *Stages) error {
	if err := t.err(); err != nil {
		return err
	}
	e := t.epoch.value.Load() + 1
	s := &t.slots[e&1]
	s.plan.Store(plan)
	s.first.Store(t.stage)
	s.done.Store(t.done.value.Load())
	s.pieces.Store(t.choosePieces(len(plan.units)))
	t.stage += uint32(len(plan.units))
	t.seen[0].epoch = e
	t.epoch.advance(1, t.park)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := t.guard(t.guards[0]); err != nil {
		t.fail(err)
	}
	return t.err()
}

// choosePieces returns in how many parts ranges are claimed in a pass of so many
// stages: it learns from the pass before.
func (t *Team) choosePieces(stages int) uint32 {
	var sum uint32
	for i := range t.seen {
		sum += t.seen[i].uneven.Load()
	}
	waited := sum - t.uneven
	t.uneven = sum
	if waited*unevenShare > uint32(stages) {
		return pieces
	}
	return 1
}

// Close ends the team's threads and waits until they have ended, which a thread
// that is in the middle of a unit does after it.
func (t *Team) Close() {
	if t.closing.Swap(true) {
		return
	}
	t.epoch.advance(1, t.park)
	t.workers.Wait()
}

func (t *Team) err() error {
	if p := t.failed.Load(); p != nil {
		return *p
	}
	return nil
}

// fail keeps the first error and frees everybody who waits. The count of done
// units is wrong from here on, and nobody looks at it any more; it changes so
// that who is about to sleep on it does not.
func (t *Team) fail(err error) {
	t.failed.CompareAndSwap(nil, &err)
	t.done.advance(1, t.park)
}

// work is the life of a thread that is not the caller.
func (t *Team) work(tid int) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	me := &t.seen[tid]
	for {
		for looks := 0; ; looks++ {
			if e := t.epoch.value.Load(); e != me.epoch {
				me.epoch = e
				break
			}
			t.epoch.await(me.epoch, &looks, idleSpins*t.spins/spins, t.park)
		}
		if t.closing.Load() {
			return
		}
		if err := t.guard(t.guards[tid]); err != nil {
			t.fail(err)
		}
	}
}

// pass does thread tid's part of the pass of its epoch. The slot belongs to
// that epoch until the next but one begins, which the second look at the epoch
// rules out. After that the thread may fall behind as far as it likes: the plan
// does not change, and stages that are over give it nothing.
func (t *Team) pass(tid int) {
	e := t.seen[tid].epoch
	s := &t.slots[e&1]
	plan, first, target, parts := s.plan.Load(), s.first.Load(), s.done.Load(), int(s.pieces.Load())
	if plan == nil || t.epoch.value.Load() != e {
		return
	}
	for i, n := range plan.units {
		if t.failed.Load() != nil {
			return
		}
		target += uint32(n)
		number := first + uint32(i)
		k := t.claimAll(tid, tid, i, number, n, parts)
		if k > 0 {
			t.done.advance(uint32(k), t.park)
		}
		if int32(t.done.value.Load()-target) < 0 {
			t.body.Ahead(tid, i, plan.of)
		}
		helped := false
		for looks := 0; ; looks++ {
			v := t.done.value.Load()
			if int32(v-target) >= 0 {
				break
			}
			if t.failed.Load() != nil {
				return
			}
			if !helped && looks >= min(patience, t.spins) {
				helped = true
				t.seen[tid].uneven.Add(1)
				if k := t.help(tid, i, number, n, parts); k > 0 {
					t.done.advance(uint32(k), t.park)
				}
				continue
			}
			t.done.await(v, &looks, t.spins, t.park)
		}
	}
}

// help does units of the other threads' ranges until none are left, and returns
// how many it did.
func (t *Team) help(tid, stage int, number uint32, n, parts int) (did int) {
	for i := 1; i < t.n; i++ {
		did += t.claimAll(tid, (tid+i)%t.n, stage, number, n, parts)
	}
	return did
}

// claimAll does units of a stage from owner's range, in so many parts, until
// none are left, and returns how many it did.
func (t *Team) claimAll(tid, owner, stage int, number uint32, n, parts int) (did int) {
	lo, hi := n*owner/t.n, n*(owner+1)/t.n
	size := max(1, (hi-lo)/parts)
	for {
		a, b := t.ranges[owner].claim(number, lo, hi, size)
		if a == b {
			return did
		}
		t.body.Do(tid, stage, a, b)
		did += b - a
	}
}

// claim takes up to size units of the range lo to hi-1 of the stage of that
// number; a == b when there are none, or when the stage is over.
func (c *cursor) claim(number uint32, lo, hi, size int) (a, b int) {
	for {
		v := c.next.Load()
		a = lo
		switch late := int32(number - uint32(v>>32)); {
		case late < 0:
			return hi, hi
		case late == 0:
			a = int(uint32(v))
		}
		if a >= hi {
			return hi, hi
		}
		b = min(hi, a+size)
		if c.next.CompareAndSwap(v, uint64(number)<<32|uint64(b)) {
			return a, b
		}
	}
}

// advance adds k and wakes who sleeps on the counter.
func (c *counter) advance(k uint32, p parker) {
	c.value.Add(k)
	if c.sleepers.Load() != 0 {
		p.wake(&c.value)
	}
}

// await passes some time while the counter is v: a spin at first, counted in
// looks, a sleep after most of them. It may return early. A sleeper is counted
// before it looks for the last time, and advance counts sleepers after it has
// changed the value: so one of the two sees the other.
func (c *counter) await(v uint32, looks *int, most int, p parker) {
	const batch = 32
	if *looks < most {
		spin(&c.value, v, batch)
		*looks += batch - 1
		return
	}
	c.sleepers.Add(1)
	if c.value.Load() == v {
		p.sleep(&c.value, v)
	}
	c.sleepers.Add(-1)
}

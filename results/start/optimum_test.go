package start

import (
	"math/rand/v2"
	"testing"
	"time"
)

// search finds the soonest end of a graph by trying, whenever a thread is free, each
// compile that is ready, and to wait; it knows nothing of the scheduler.
type search struct {
	s       *Start
	threads int
	best    time.Duration
}

// state is a moment of a search: how far the main thread has got and when what it does
// ends, when each compile ends that was begun (−1: not begun), all in the clock's time.
type state struct {
	now, work time.Duration
	piece     int
	ends      []time.Duration
}

func (x *search) from(st state) {
	// The main thread goes on as far as it can.
	for st.piece < len(x.s.Pieces) && st.work <= st.now {
		p := x.s.Pieces[st.piece]
		if p.Compile >= 0 && (st.ends[p.Compile] < 0 || st.ends[p.Compile] > st.now) {
			break
		}
		if p.Compile < 0 {
			st.work = st.now + p.Time
		}
		st.piece++
	}
	if st.now >= x.best {
		return
	}
	if st.piece == len(x.s.Pieces) {
		x.best = min(x.best, max(st.now, st.work))
		return
	}
	running, next := 0, time.Duration(-1)
	later := func(t time.Duration) {
		if t > st.now && (next < 0 || t < next) {
			next = t
		}
	}
	for _, e := range st.ends {
		if e > st.now {
			running++
			later(e)
		}
	}
	later(st.work)
	if running < x.threads {
		for i, c := range x.s.Compiles {
			if st.ends[i] >= 0 || c.Of >= 0 && (st.ends[c.Of] < 0 || st.ends[c.Of] > st.now) {
				continue
			}
			more := st
			more.ends = append([]time.Duration{}, st.ends...)
			more.ends[i] = st.now + c.Time
			x.from(more)
		}
	}
	if next >= 0 {
		st.now = next
		x.from(st)
	}
}

// TestOptimum: no replay is sooner than the best of all schedules, with a thread for
// everything it is that one, and with fewer it is at most twice as late, as lists are.
func TestOptimum(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 150 {
		text := random(r, 1+r.IntN(4), 6)
		s := graph(text)
		for _, threads := range []int{1, 2, len(s.Compiles)} {
			x := search{s: s, threads: threads, best: time.Hour}
			ends := make([]time.Duration, len(s.Compiles))
			for i := range ends {
				ends[i] = -1
			}
			x.from(state{ends: ends})
			got := s.Replay(Rules{When: Early, Threads: threads}).Wall
			if got < x.best || got > 2*x.best || threads == len(s.Compiles) && got != x.best {
				t.Fatalf("%s on %d threads: %v, the best of all is %v", text, threads, got, x.best)
			}
		}
	}
}

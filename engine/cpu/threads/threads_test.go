package threads

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// TestMain serves as a busy neighbour when it is started as one.
func TestMain(m *testing.M) {
	if os.Getenv("TEAM_TEST_NEIGHBOUR") != "" {
		for start := time.Now(); time.Since(start) < time.Minute; {
		}
		return
	}
	os.Exit(m.Run())
}

// neighbours starts n processes that only compute, until the test ends.
func neighbours(t testing.TB, n int) {
	t.Helper()
	for range n {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), "TEAM_TEST_NEIGHBOUR=1")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Process.Kill(); c.Wait() })
	}
}

// counting is a body that checks that every unit is done once, and after all
// units of the stages before.
type counting struct {
	units []int
	done  []atomic.Int64 // per stage
	each  [][]atomic.Int32
	work  int
	bad   atomic.Pointer[string]
	sink  atomic.Int64
}

func newCounting(units []int, work int) *counting {
	c := &counting{units: units, done: make([]atomic.Int64, len(units)), work: work}
	for _, n := range units {
		c.each = append(c.each, make([]atomic.Int32, n))
	}
	return c
}

func (c *counting) fail(format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	c.bad.CompareAndSwap(nil, &s)
}

func (c *counting) Do(tid, stage, lo, hi int) {
	passes := c.done[len(c.units)-1].Load() / int64(c.units[len(c.units)-1])
	if stage > 0 {
		if d := c.done[stage-1].Load(); d != int64(c.units[stage-1])*(passes+1) {
			c.fail("stage %d began when %d units of the stage before were done in %d passes", stage, d, passes)
		}
	}
	x := int64(tid)
	for range c.work * (hi - lo) {
		x = x*6364136223846793005 + 1
	}
	c.sink.Add(x)
	for u := lo; u < hi; u++ {
		if n := c.each[stage][u].Add(1); int64(n) != passes+1 && stage < len(c.units)-1 {
			c.fail("unit %d of stage %d done %d times in %d passes", u, stage, n, passes+1)
		}
	}
	c.done[stage].Add(int64(hi - lo))
}

func (c *counting) Ahead(int, int, any) {}

func unguarded(f func() error) error { return f() }

// within fails the test when f takes longer than d, with all stacks.
func within(t *testing.T, d time.Duration, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(d):
		b := make([]byte, 1<<20)
		t.Fatalf("hangs:\n%s", b[:runtime.Stack(b, true)])
	}
}

// Thousands of passes with uneven stages, more threads than processors, and
// neighbours that want the processors too.
func TestStress(t *testing.T) {
	passes := 10000
	if testing.Short() {
		passes = 300
	}
	for _, busy := range []int{0, 2} {
		for threads := 1; threads <= 8; threads++ {
			t.Run(fmt.Sprintf("%d threads, %d neighbours", threads, busy), func(t *testing.T) {
				neighbours(t, busy)
				n := passes
				if busy > 0 || threads > 2 {
					n /= 10
				}
				within(t, time.Minute, func() { stress(t, threads, n) })
			})
		}
	}
}

func stress(t *testing.T, threads, passes int) {
	before := runtime.NumGoroutine()
	plan := []int{7, 1, 32, 2, 64, 3, 1, 1, 96, 5}
	c := newCounting(plan, 50)
	tm := New(threads, c, unguarded)
	p := NewStages(plan, nil)
	for i := range passes {
		if err := tm.Run(p); err != nil {
			t.Error(err)
		}
		if i%100 == 99 { // let the workers fall asleep
			time.Sleep(300 * time.Microsecond)
		}
	}
	tm.Close()
	tm.Close()
	for s, n := range plan {
		if got := c.done[s].Load(); got != int64(n*passes) {
			t.Errorf("stage %d: %d units done, want %d", s, got, n*passes)
		}
		for u := range n {
			if got := c.each[s][u].Load(); got != int32(passes) {
				t.Errorf("stage %d unit %d: done %d times, want %d", s, u, got, passes)
			}
		}
	}
	if s := c.bad.Load(); s != nil {
		t.Error(*s)
	}
	for end := time.Now().Add(time.Second); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(end) { // Close may return an instant before the goroutine is gone
			t.Fatalf("%d goroutines are left", runtime.NumGoroutine()-before)
		}
	}
}

// failing is a body whose thread fails in a stage.
type failing struct{ tid, stage int }

var errTest = errors.New("fault")

func (f failing) Do(tid, stage, lo, hi int) {
	time.Sleep(100 * time.Microsecond) // so that every thread gets some
	if tid == f.tid && stage == f.stage {
		panic(errTest)
	}
}

func (f failing) Ahead(int, int, any) {}

func guarded(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = r.(error)
		}
	}()
	return f()
}

// A thread that fails ends the pass for all, and the team can be closed.
func TestFailure(t *testing.T) {
	for threads := 1; threads <= 4; threads++ {
		for tid := range threads {
			for stage := range 3 {
				within(t, time.Minute, func() {
					tm := New(threads, failing{tid, stage}, guarded)
					p := NewStages([]int{16, 16, 16}, nil)
					var err error
					for i := 0; i < 100 && err == nil; i++ {
						err = tm.Run(p)
					}
					if err != errTest || tm.Run(p) != errTest {
						t.Errorf("%d threads, thread %d fails in stage %d: error %v", threads, tid, stage, err)
					}
					tm.Close()
				})
			}
		}
	}
}

func TestNoAllocation(t *testing.T) {
	tm := New(2, failing{tid: -1}, guarded)
	defer tm.Close()
	p := NewStages([]int{1, 2, 3}, nil)
	if n := testing.AllocsPerRun(20, func() { tm.Run(p) }); n != 0 {
		t.Errorf("%v allocations a pass", n)
	}
}

// The monitor, which other systems use, wakes as the futex does.
func TestMonitor(t *testing.T) {
	within(t, time.Minute, func() {
		plan := []int{3, 8, 1, 9}
		c := newCounting(plan, 10)
		tm := New(3, c, unguarded)
		tm.Close()
		tm = &Team{n: 3, body: c, guard: unguarded, park: newMonitor(), seen: make([]seen, 3), ranges: make([]cursor, 3), stage: 1, spins: 1}
		for tid := range 3 {
			tm.guards = append(tm.guards, func() error { tm.pass(tid); return nil })
		}
		for tid := 1; tid < 3; tid++ {
			tm.workers.Go(func() { tm.work(tid) })
		}
		p := NewStages(plan, nil)
		for range 500 {
			if err := tm.Run(p); err != nil {
				t.Error(err)
			}
		}
		tm.Close()
		if s := c.bad.Load(); s != nil {
			t.Error(*s)
		}
	})
}

// BenchmarkStage is the cost of a stage with nothing to do.
func BenchmarkStage(b *testing.B) {
	for _, threads := range []int{1, 2} {
		b.Run(fmt.Sprint(threads), func(b *testing.B) {
			const stages = 150
			units := make([]int, stages)
			for i := range units {
				units[i] = 16
			}
			tm := New(threads, idle{}, unguarded)
			defer tm.Close()
			p := NewStages(units, nil)
			for b.Loop() {
				tm.Run(p)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/stages, "ns/stage")
		})
	}
}

type idle struct{}

func (idle) Do(int, int, int, int) {}
func (idle) Ahead(int, int, any)   {}

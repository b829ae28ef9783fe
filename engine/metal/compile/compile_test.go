package compile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/introgen/introgen/engine/metal/forward"
	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/shimtest"
	"github.com/introgen/introgen/trace"
)

// slow is a device whose compiles take as long as they are said to, and whose events
// are when each began and ended, on which track.
type slow struct {
	shimtest.Device
	took map[string]time.Duration // of libraries and functions
	fail map[string]error

	began time.Time
	mu    sync.Mutex
	log   []string // "what track from-to", in the order of the ends
}

// compile is one compile.
func (d *slow) compile(ctx context.Context, what string) error {
	from := time.Since(d.began)
	select {
	case <-time.After(d.took[what]):
	case <-ctx.Done():
		return ctx.Err()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.log = append(d.log, fmt.Sprintf("%s %d %d-%d", what, trace.TrackOf(ctx), from.Milliseconds(), time.Since(d.began).Milliseconds()))
	return d.fail[what]
}

func (d *slow) library(ctx context.Context, name string) (metalshim.Library, error) {
	if err := d.compile(ctx, name); err != nil {
		return nil, err
	}
	l, err := d.NewLibrary(ctx, metalshim.Source{Name: name})
	return slowLibrary{l, d}, err
}

type slowLibrary struct {
	metalshim.Library
	d *slow
}

func (l slowLibrary) NewPipeline(ctx context.Context, function string, constants []metalshim.Constant) (metalshim.Pipeline, error) {
	if err := l.d.compile(ctx, function); err != nil {
		return nil, err
	}
	return l.Library.NewPipeline(ctx, function, constants)
}

func of(library string, functions ...string) (out []forward.Pipeline) {
	for _, f := range functions {
		out = append(out, forward.Pipeline{Library: library, Function: f})
	}
	return out
}

// world is a scheduler over a slow device.
func world(ctx context.Context, took map[string]int, o Options) (*Scheduler, *slow) {
	d := &slow{took: map[string]time.Duration{}, fail: map[string]error{}, began: time.Now()}
	for what, ms := range took {
		d.took[what] = time.Duration(ms) * time.Millisecond
	}
	o.Library = d.library
	return New(ctx, o), d
}

// closed stops and releases, and looks for what is left.
func closed(t *testing.T, s *Scheduler, d *slow) error {
	t.Helper()
	err := s.Stop()
	s.Release()
	if live := d.Live(); live != (metalshim.Counts{}) {
		t.Errorf("left behind: %+v", live)
	}
	return err
}

var times = map[string]int{"A": 100, "B": 60, "a1": 30, "a2": 50, "b1": 20}

// The schedules of two threads are worked out by hand.
func TestOrder(t *testing.T) {
	list := slices.Concat(of("A", "a1"), of("B", "b1"), of("A", "a2"))
	for _, c := range []struct {
		name string
		o    Options
		want []string
	}{
		// A 0-100 on one, B 0-60 on the other, which makes b1 until 80 and then waits.
		{"two threads", Options{Threads: 2}, []string{"B 0-60", "b1 60-80", "A 0-100", "a1 100-130", "a2 100-150"}},
		{"one thread, as they are needed", Options{Threads: 1}, []string{"A 0-100", "a1 100-130", "B 130-190", "b1 190-210", "a2 210-260"}},
		{"one thread, libraries first", Options{Threads: 1, LibrariesFirst: true}, []string{"A 0-100", "B 100-160", "a1 160-190", "b1 190-210", "a2 210-260"}},
		{"many threads", Options{Threads: 8}, []string{"B 0-60", "b1 60-80", "A 0-100", "a1 100-130", "a2 100-150"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, d := world(t.Context(), times, c.o)
				s.Begin(list)
				s.Begin(list) // once more is nothing more
				for _, p := range list {
					if made, err := s.Pipeline(t.Context(), p); err != nil || made.Name() != p.Function || made.Library() != p.Library {
						t.Errorf("%v is %v, %v", p, made, err)
					}
				}
				// Which thread has which track is chance; how many there are is not.
				var got []string
				for i := range d.log {
					got = append(got, withoutTrack(d.log[i]))
				}
				if !slices.Equal(got, c.want) {
					t.Errorf("made as %q, want %q", d.log, c.want)
				}
				if err := closed(t, s, d); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func withoutTrack(event string) string {
	var what, when string
	var track int
	fmt.Sscan(event, &what, &track, &when)
	if track < 1 {
		return "on the caller's track: " + event
	}
	return what + " " + when
}

// Whoever needs one waits for that one alone, and for what is there not at all; what
// nobody has begun is made by the caller.
func TestWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var waits []string
		began := time.Now()
		s, d := world(t.Context(), times, Options{Threads: 1, Await: func(what string, wait func()) {
			wait()
			waits = append(waits, fmt.Sprint(what, " until ", time.Since(began).Milliseconds()))
		}})
		s.Begin(slices.Concat(of("A", "a1", "a2"), of("B", "b1")))
		get := func(library, function string, constants ...metalshim.Constant) {
			t.Helper()
			if _, err := s.Pipeline(t.Context(), forward.Pipeline{Library: library, Function: function, Constants: constants}); err != nil {
				t.Error(err)
			}
		}
		get("A", "a1")
		if now := time.Since(began); now != 130*time.Millisecond {
			t.Errorf("a1 is there at %v, want 130 ms", now)
		}
		get("A", "a1")
		get("A", "a1", metalshim.UIntConstant(0, 1)) // another one, made here in 30 ms
		if now := time.Since(began); now != 160*time.Millisecond {
			t.Errorf("another a1 is there at %v, want 160 ms", now)
		}
		time.Sleep(200 * time.Millisecond)
		get("B", "b1") // there since 260
		get("C", "c1") // nobody has begun its library either
		if now := time.Since(began); now != 360*time.Millisecond {
			t.Errorf("the end is at %v, want 360 ms", now)
		}
		if want := []string{"A a1 until 130"}; !slices.Equal(waits, want) {
			t.Errorf("waits are %q, want %q", waits, want)
		}
		if err := closed(t, s, d); err != nil {
			t.Error(err)
		}
	})
}

// What cannot be made surfaces once: where it is needed, or at the end if it never is.
func TestErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, d := world(t.Context(), times, Options{Threads: 2})
		a, b, c := errors.New("A does not compile"), errors.New("b1 does not compile"), errors.New("c1 does not compile")
		d.fail["A"], d.fail["b1"], d.fail["c1"] = a, b, c
		s.Begin(slices.Concat(of("A", "a1", "a2"), of("B", "b1"), of("C", "c1")))
		for range 2 {
			if _, err := s.Pipeline(t.Context(), of("A", "a2")[0]); err != a {
				t.Errorf("a2: %v, want %v", err, a)
			}
		}
		if _, err := s.Pipeline(t.Context(), of("B", "b1")[0]); err != b {
			t.Errorf("b1: %v, want %v", err, b)
		}
		synctest.Wait()
		s.Begin(of("A", "a3")) // of a library that has failed
		if _, err := s.Pipeline(t.Context(), of("A", "a3")[0]); err != a {
			t.Errorf("a3: %v, want %v", err, a)
		}
		if err := closed(t, s, d); !errors.Is(err, c) || errors.Is(err, a) || errors.Is(err, b) {
			t.Errorf("at the end: %v, want %v alone", err, c)
		}
	})
}

// Of many that could not be made, for one reason perhaps, some are told and the others
// counted: all are one line.
func TestManyErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, d := world(t.Context(), times, Options{Threads: 2})
		var all []error
		names := strings.Fields("a1 a2 a3 b1 c1 d1")
		for _, name := range names {
			d.fail[name] = fmt.Errorf("%s does not compile", name)
			all = append(all, d.fail[name])
			s.Begin(of(strings.ToUpper(name[:1]), name))
		}
		if _, err := s.Pipeline(t.Context(), of("A", "a1")[0]); err != all[0] {
			t.Errorf("a1: %v, want %v", err, all[0])
		}
		time.Sleep(time.Minute)
		err := closed(t, s, d)
		if want := "a2 does not compile\na3 does not compile\nb1 does not compile\n2 more that were begun could not be made either"; err == nil || err.Error() != want {
			t.Errorf("at the end: %v, want %v", err, want)
		}
		for i, one := range all[1:] {
			if told := i < 3; errors.Is(err, one) != told {
				t.Errorf("%v is told: %t, want %t", one, !told, told)
			}
		}
	})
}

// A scheduler that is stopped, or whose context ends, leaves nothing behind and does
// not wait for what can be ended.
func TestEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		s, d := world(t.Context(), times, Options{Threads: 2})
		s.Begin(slices.Concat(of("A", "a1", "a2"), of("B", "b1")))
		time.Sleep(70 * time.Millisecond) // A is being made, and b1
		if err := closed(t, s, d); err != nil {
			t.Error(err)
		}
		s.Begin(of("D", "d1")) // too late
		if now := time.Since(began); now != 70*time.Millisecond {
			t.Errorf("it ends at %v, want 70 ms", now)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 70*time.Millisecond)
		defer cancel()
		s, d := world(ctx, times, Options{Threads: 2})
		s.Begin(of("A", "a1", "a2"))
		if _, err := s.Pipeline(ctx, of("A", "a1")[0]); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v, want the context's", err)
		}
		_ = closed(t, s, d)
		if now := time.Since(began); now != 70*time.Millisecond {
			t.Errorf("it ends at %v, want 70 ms", now)
		}
	})
}

package commandbuffer

import (
	"slices"
	"strings"
	"sync"
	"testing"
)

// commits counts the command buffers of ops operations followed by a wait.
func commits(perBuffer, ops int) int {
	c, n := Counter{PerBuffer: perBuffer}, 0
	for range ops {
		if c.Op() {
			n++
		}
	}
	c.Flushed()
	return n + 1
}

// The figures are candle 0.11.0's: a decode step is 605 operations with its
// readback, the prefill 905.
func TestCounter(t *testing.T) {
	for _, c := range []struct{ perBuffer, decode, prefill int }{
		{0, 606, 906}, {1, 605, 905}, {10, 61, 91}, {50, 13, 19}, {200, 4, 5}, {100000, 1, 1},
	} {
		if got := commits(c.perBuffer, 605); got != c.decode {
			t.Errorf("%d commands a buffer: %d buffers a decode step, want %d", c.perBuffer, got, c.decode)
		}
		if got := commits(c.perBuffer, 905); got != c.prefill {
			t.Errorf("%d commands a buffer: %d buffers a prefill, want %d", c.perBuffer, got, c.prefill)
		}
	}
}

func TestCounterPending(t *testing.T) {
	c := Counter{PerBuffer: 2}
	if c.Pending() {
		t.Error("pending before the first operation")
	}
	c.Op()
	if !c.Pending() {
		t.Error("nothing pending after an operation")
	}
	c.Flushed()
	if c.Pending() {
		t.Error("pending after a flush")
	}
}

func TestParsePerBuffer(t *testing.T) {
	for text, want := range map[string]int{"0": 0, "1": 1, "50": 50, "100000": 100000, "2147483647": 2147483647} {
		if got, err := ParsePerBuffer("--commands-per-buffer", text); err != nil || got != want {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "-1", "ten", "1.5", "2147483648", " 1", "0x10", "1_000"} {
		_, err := ParsePerBuffer(Env, text)
		if err == nil || !strings.Contains(err.Error(), Env) || !strings.Contains(err.Error(), "whole number") {
			t.Errorf("%q: error %v must name the setting and what is allowed", text, err)
		}
	}
}

func TestHazards(t *testing.T) {
	type access struct {
		reads, writes []int
		barrier       bool
	}
	for name, accesses := range map[string][]access{
		"read after read":       {{[]int{1}, []int{2}, false}, {[]int{1}, []int{3}, false}},
		"read after write":      {{[]int{1}, []int{2}, false}, {[]int{2}, []int{3}, true}},
		"write after read":      {{[]int{1}, []int{2}, false}, {[]int{3}, []int{1}, true}},
		"write after write":     {{[]int{1}, []int{2}, false}, {[]int{3}, []int{2}, true}},
		"in place":              {{[]int{1}, []int{1}, false}},
		"barrier covers all":    {{[]int{1}, []int{2}, false}, {[]int{2}, []int{3}, true}, {[]int{1}, []int{4}, false}, {[]int{2}, []int{5}, false}},
		"barrier keeps its own": {{[]int{1}, []int{2}, false}, {[]int{2}, []int{3}, true}, {[]int{3}, []int{4}, true}},
	} {
		var h Hazards
		h.Reset()
		for i, a := range accesses {
			for _, r := range a.reads {
				h.Read(r)
			}
			for _, w := range a.writes {
				h.Write(w)
			}
			if got := h.Barrier(); got != a.barrier {
				t.Errorf("%s: dispatch %d has barrier %v, want %v", name, i, got, a.barrier)
			}
		}
	}
	var h Hazards
	h.Reset()
	h.Write(1)
	h.Barrier()
	h.Reset()
	h.Read(1)
	if h.Barrier() {
		t.Error("a new encoder remembers the writes of the one before")
	}
}

func TestFences(t *testing.T) {
	var released []string
	s := Fences[string]{Release: func(f string) { released = append(released, f) }}
	open := func(f string) []string {
		var w []string
		s.Open(f, func(f string) { w = append(w, f) })
		slices.Sort(w)
		return w
	}
	if w := open("a"); len(w) != 0 {
		t.Errorf("the first encoder waits for %v", w)
	}
	s.Wrote("a", []int{1, 2})
	if w := open("b"); !slices.Equal(w, []string{"a"}) {
		t.Errorf("b waits for %v, want a once", w)
	}
	s.Wrote("b", []int{2, 3})
	if w := open("c"); !slices.Equal(w, []string{"a", "b"}) {
		t.Errorf("c waits for %v, want a and b", w)
	}
	s.Completed("a", []int{1, 2}) // 2 is b's by now
	if !slices.Equal(released, []string{"a"}) {
		t.Errorf("released %v, want a", released)
	}
	s.Completed("b", nil) // as a blit's
	if w := open("d"); !slices.Equal(w, []string{"b"}) {
		t.Errorf("d waits for %v, want b", w)
	}
	s.Forget(2)
	s.Forget(2)
	s.Forget(3)
	s.Completed("c", nil)
	s.Completed("d", nil)
	if !slices.Equal(released, []string{"a", "b", "c", "d"}) {
		t.Errorf("released %v, want all four, each once", released)
	}
	open("e")
	s.Wrote("e", []int{9})
	s.Completed("e", nil)
	s.Clear()
	if len(released) != 5 || len(open("f")) != 0 {
		t.Errorf("after Clear: released %v", released)
	}
}

// A fence that an encoder is told to wait for is alive then, though the command
// buffer that it belongs to completes at that moment.
func TestFencesComplete(t *testing.T) {
	var alive sync.Map
	s := Fences[int]{Release: func(f int) { alive.Delete(f) }}
	var completions sync.WaitGroup
	for f := range 2000 {
		alive.Store(f, true)
		s.Open(f, func(w int) {
			if _, ok := alive.Load(w); !ok {
				t.Errorf("encoder %d waits for fence %d, which is released", f, w)
			}
		})
		s.Wrote(f, []int{f % 7})
		completions.Go(func() { s.Completed(f, []int{f % 7}) })
	}
	completions.Wait()
}

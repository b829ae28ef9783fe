package pool

import (
	"slices"
	"testing"
)

func TestClass(t *testing.T) {
	for n, want := range map[int]int{1: 1, 2: 2, 3: 4, 4: 4, 2304: 4096, 29952: 32768, 32768: 32768, 32769: 65536} {
		if got := Class(n); got != want {
			t.Errorf("%d bytes: a buffer of %d, want %d", n, got, want)
		}
	}
}

func TestTake(t *testing.T) {
	var p Pool[string]
	if p.Take(1) != nil {
		t.Error("an empty pool gives a buffer")
	}
	a, b, c := p.Add(4096, "a"), p.Add(4096, "b"), p.Add(262144, "c")
	if p.Take(1) != nil {
		t.Error("a used buffer is given out")
	}
	c.Free()
	if got := p.Take(100); got != c {
		t.Errorf("got %v: a free buffer serves however much larger it is", got)
	}
	a.Free()
	b.Free()
	c.Free()
	for i, want := range []*Item[string]{b, a, c} {
		if got := p.Take(4000); got != want {
			t.Errorf("buffer %d is %v, want %v: the smallest class first, its last buffer first", i, got, want)
		}
	}
	a.Free()
	if p.Take(4097) != nil {
		t.Error("a buffer that is too small is given out")
	}
}

func TestSweep(t *testing.T) {
	var p Pool[string]
	a, _, c := p.Add(8, "a"), p.Add(8, "b"), p.Add(16, "c")
	a.Free()
	c.Free()
	var gone []string
	collect := func(s string) { gone = append(gone, s) }
	p.Sweep(collect)
	slices.Sort(gone)
	if !slices.Equal(gone, []string{"a", "c"}) || p.Take(1) != nil {
		t.Errorf("swept %v, want a and c", gone)
	}
	gone = nil
	p.All(collect)
	if !slices.Equal(gone, []string{"b"}) {
		t.Errorf("left %v, want b", gone)
	}
}

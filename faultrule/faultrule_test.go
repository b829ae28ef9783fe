package faultrule_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/introgen/introgen/faultrule"
)

// TestReadAndText: what is written is read again, and a part that nobody knows
// is not passed over.
func TestReadAndText(t *testing.T) {
	type one struct {
		word  string
		n     int
		delay time.Duration
		fail  bool
		extra string
	}
	read := func(text string) (r one, err error) {
		err = faultrule.Read(text, func(p faultrule.Part) error {
			r.word = p.Text
			return nil
		}, faultrule.Parts{N: &r.n, Delay: &r.delay, Fail: &r.fail}, func(p faultrule.Part) (bool, error) {
			r.extra = p.Value
			return p.Key == "extra", nil
		})
		return r, err
	}
	want := one{"word", 3, 2 * time.Second, true, "x"}
	text := faultrule.Text(want.word, want.n, want.delay, "extra=x", want.fail)
	if text != "word,n=3,delay=2s,extra=x,fail" {
		t.Errorf("written as %q", text)
	}
	if got, err := read(text); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	for _, wrong := range []string{"word,other=1", "word,n=0", "word,n=", "word,delay=2", "word,delay=-1s", "word,fail=1", "word,"} {
		if _, err := read(wrong); err == nil {
			t.Errorf("%q is taken", wrong)
		}
	}
	refused := errors.New("refused")
	if err := faultrule.Read("word", func(faultrule.Part) error { return refused }, faultrule.Parts{}, nil); !errors.Is(err, refused) {
		t.Errorf("the first word's error is lost: %v", err)
	}
}

func TestPlanted(t *testing.T) {
	plant := func(numbers ...int) *faultrule.Planted[int] {
		return faultrule.Plant(numbers, func(n int) int { return n })
	}
	all := func(int) bool { return true }
	p := plant(0, 3)
	var every, third []bool
	for range 4 {
		hits := p.Hits(all)
		every = append(every, slices.Contains(hits, 0))
		third = append(third, slices.Contains(hits, 3))
	}
	for i := range 4 {
		if !every[i] || third[i] != (i == 2) {
			t.Errorf("thing %d: every %v, third %v", i+1, every[i], third[i])
		}
	}
	fresh := plant(0, 2)
	if got := fresh.Unused(); !slices.Equal(got, []int{0, 2}) {
		t.Errorf("used before anything was seen: %v are not", got)
	}
	if hits := fresh.Hits(func(int) bool { return false }); len(hits) > 0 || len(fresh.Unused()) != 2 {
		t.Errorf("what no rule names hits %v", hits)
	}
	fresh.Hits(all)
	if got := fresh.Unused(); !slices.Equal(got, []int{2}) {
		t.Errorf("after one thing a rule for every one is used, one for the second is not; %v are not", got)
	}
}

package bench

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestParsePauses(t *testing.T) {
	got, err := ParsePauses("0, 0.1,1s,10")
	want := []time.Duration{0, 100 * time.Millisecond, time.Second, 10 * time.Second}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	if again, err := ParsePauses(PausesText(want)); err != nil || !slices.Equal(again, want) {
		t.Errorf("%v written as %q and read again: %v, %v", want, PausesText(want), again, err)
	}
	for text, want := range map[string]string{
		"": "no duration", "0,": "no duration", "x": "no duration", "-1s": "from 0 to", "2h": "from 0 to", "1,1000ms": "twice", "NaN": "no duration",
		"1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21": "at most 20",
	} {
		if _, err := ParsePauses(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// FuzzParse: what is accepted is within its limits and is read again as it was
// written.
func FuzzParsePauses(f *testing.F) {
	f.Add("0, 0.1,1s,10")
	f.Fuzz(func(t *testing.T, text string) {
		lengths, err := ParsePauses(text)
		if err != nil {
			return
		}
		again, err := ParsePauses(PausesText(lengths))
		if err != nil || !slices.Equal(again, lengths) || len(lengths) == 0 || len(lengths) > mostPauses {
			t.Errorf("%q gives %v, which is written %q: %v", text, lengths, PausesText(lengths), err)
		}
		for _, d := range lengths {
			if d < 0 || d > longestPause {
				t.Errorf("%q gives %v", text, d)
			}
		}
	})
}

// TestEveryBlockHasEveryPause, four steps apart, after four without.
func TestEveryBlockHasEveryPause(t *testing.T) {
	s := Pauses{Lengths: []time.Duration{0, 1, 10}, Seed: 5}
	const blocks = 6
	var at []int
	var blockOf [blocks][]time.Duration
	for step := 1; step <= s.Steps(blocks); step++ {
		if d, ok := s.Before(step); ok {
			blockOf[len(at)/3] = append(blockOf[len(at)/3], d)
			at = append(at, step)
		}
	}
	if len(at) != 3*blocks || at[0] != 5 || s.Steps(blocks) != at[len(at)-1]+3 {
		t.Errorf("pauses before steps %v of %d", at, s.Steps(blocks))
	}
	orders := map[string]bool{}
	for i, b := range blockOf {
		orders[PausesText(b)] = true
		slices.Sort(b)
		if !slices.Equal(b, s.Lengths) {
			t.Errorf("block %d has the pauses %v", i+1, b)
		}
	}
	if len(orders) < 2 {
		t.Errorf("all blocks have one order: %v", orders)
	}
	if s.Total(blocks) != 66 {
		t.Errorf("together %v", s.Total(blocks))
	}
	if _, ok := (Pauses{}).Before(5); ok {
		t.Error("a pause without any length")
	}
}

package bench

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/introgen/introgen/bench/plan"
)

// PauseEvery is how many decode steps lie between two pauses: the one right after a
// pause, and others that bring everything back to what it was.
const PauseEvery = 4

const (
	mostPauses   = 20        // that are different
	longestPause = time.Hour // of one
)

// Pauses say before which decode steps a run is to pause, and how long: to see
// what an idle processor does to the step that follows. Pauses of all lengths
// come in every block, in an order of its own, so that what drifts does so under
// all of them alike.
type Pauses struct {
	Lengths []time.Duration
	Seed    uint64
}

// ParsePauses reads lengths such as "0,100ms,1s,10s". A number alone is seconds.
func ParsePauses(text string) ([]time.Duration, error) {
	var lengths []time.Duration
	for word := range strings.SplitSeq(text, ",") {
		word = strings.TrimSpace(word)
		d, err := time.ParseDuration(word)
		if err != nil {
			if d, err = time.ParseDuration(word + "s"); err != nil {
				return nil, fmt.Errorf("pause %q is no duration such as 0, 0.1, 100ms or 10s", word)
			}
		}
		switch {
		case d < 0 || d > longestPause:
			return nil, fmt.Errorf("a pause is from 0 to %v long, not %v", longestPause, d)
		case slices.Contains(lengths, d):
			return nil, fmt.Errorf("a pause of %v stands there twice", d)
		}
		lengths = append(lengths, d)
	}
	if len(lengths) > mostPauses {
		return nil, errors.New("these are too many different pauses: at most 20 are taken")
	}
	return lengths, nil
}

// PausesText is what ParsePauses reads.
func PausesText(lengths []time.Duration) string {
	words := make([]string, len(lengths))
	for i, d := range lengths {
		words[i] = d.String()
	}
	return strings.Join(words, ",")
}

// Steps is how many decode steps so many blocks take.
func (p Pauses) Steps(blocks int) int { return PauseEvery * (1 + blocks*len(p.Lengths)) }

// Before is the pause before a decode step, counted from 1, if one comes there.
// The first steps of a run come without one.
func (p Pauses) Before(step int) (d time.Duration, ok bool) {
	n := (step - 1) / PauseEvery // 0 is before the first pause
	if len(p.Lengths) == 0 || n < 1 || (step-1)%PauseEvery != 0 {
		return 0, false
	}
	block, i := (n-1)/len(p.Lengths)+1, (n-1)%len(p.Lengths)
	return p.Lengths[plan.Sequence(plan.OrderRandom, p.Seed, block, len(p.Lengths))[i]], true
}

// Total is how long the pauses of so many blocks are together.
func (p Pauses) Total(blocks int) time.Duration {
	var sum time.Duration
	for _, d := range p.Lengths {
		sum += d
	}
	return sum * time.Duration(blocks)
}

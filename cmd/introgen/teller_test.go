package main

import (
	"testing"
	"time"

	"github.com/introgen/introgen/bench/plan"
)

func TestProgressLine(t *testing.T) {
	for _, c := range []struct {
		at         plan.Progress
		ago, lasts time.Duration
		want       string
	}{
		{want: ""},
		{at: plan.Progress{Doing: "end"}, want: ""},
		{at: plan.Progress{Doing: "fill", Arm: "warm-cache", Left: -1}, ago: 5 * time.Second, want: "filling the cache of warm-cache, uncounted, for 5s"},
		{at: plan.Progress{Doing: "run", Arm: "cold", Block: 1, Blocks: 6, Run: 1, Left: -1}, want: "block 1 of 6: run 1, cold"},
		{at: plan.Progress{Doing: "run", Arm: "cold", Block: 2, Blocks: 6, Run: 5, Refused: 1, Left: 40 * time.Second}, ago: 3 * time.Second,
			want: "block 2 of 6: run 5, cold, for 3s, 1 not counted; about 37s to go"},
		{at: plan.Progress{Doing: "cooldown", Arm: "cpu", Block: 6, Blocks: 6, Left: time.Second}, ago: 4 * time.Second, want: "block 6 of 6: cooldown before cpu, for 4s"},
		// The one run of idle-gap is of a length that is known.
		{at: plan.Progress{Doing: "run", Arm: "pauses", Block: 1, Blocks: 1, Run: 1, Left: -1}, ago: 10 * time.Second, lasts: 66 * time.Second,
			want: "block 1 of 1: run 1, pauses, for 10s; about 56s to go"},
	} {
		if got := progressLine(c.at, c.ago, c.lasts); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

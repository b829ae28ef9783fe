package view

import (
	"slices"

	"github.com/introgen/introgen/results/recording"
)

// ran is an operation, and how often and for how long it ran.
type ran struct {
	*recording.Operation
	Times int64  `json:"times"`
	Time  *int64 `json:"ns"` // null where the device cannot tell
}

// busy is a thread of the CPU engine, or the device, and for how long it ran
// operations.
type busy struct {
	Track      int    `json:"track"`
	Operations int64  `json:"operations"`
	Time       *int64 `json:"ns"`
}

// executed sums up what ran, by operation and by track.
func executed(r *recording.Run) (operations []ran, tracks []busy) {
	at := map[int]int{}
	for i, o := range r.Operations {
		at[o.ID] = i
		operations = append(operations, ran{Operation: o})
	}
	for _, e := range r.Executed {
		i := slices.IndexFunc(tracks, func(b busy) bool { return b.Track == e.Track })
		if i < 0 {
			i = len(tracks)
			tracks = append(tracks, busy{Track: e.Track})
		}
		for n, id := range e.Operations {
			o := &operations[at[id]]
			o.Times++
			tracks[i].Operations++
			if e.Timed() {
				o.Time, tracks[i].Time = plus(o.Time, e.Time[n]), plus(tracks[i].Time, e.Time[n])
			}
		}
	}
	slices.SortFunc(tracks, func(a, b busy) int { return a.Track - b.Track })
	return operations, tracks
}

func plus(sum *int64, n int64) *int64 {
	if sum == nil {
		sum = new(int64)
	}
	*sum += n
	return sum
}

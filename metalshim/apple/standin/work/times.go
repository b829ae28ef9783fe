package work

import (
	"sync"
	"time"

	"github.com/introgen/introgen/system/machine"
)

// anchor is one moment on Go's clock and on the machine's. They are the same
// clock with another origin, so one anchor ties them for good: times that are
// asked for one after the other stay in their order. Of a few readings the one
// with the least between its two halves is taken.
var anchor = sync.OnceValue(func() (a struct {
	now   time.Time
	clock int64
}) {
	for range 5 {
		clock := machine.Clock()
		now := time.Now()
		if a.now.IsZero() || clock > a.clock+now.Sub(a.now).Nanoseconds() {
			a.now, a.clock = now, clock
		}
	}
	return a
})

// Seconds are the times of c's stages (committed, scheduled, start and end on the
// GPU) in seconds of the machine's monotonic clock, which every process reads and
// which stands for the time since the machine started; 0 where a stage was not
// passed.
func (c *CommandBuffer) Seconds() (out [4]float64) {
	times, a := c.Times(), anchor()
	for i, t := range []time.Time{times.Committed, times.Scheduled, times.GPUStart, times.GPUEnd} {
		if !t.IsZero() {
			out[i] = float64(a.clock+t.Sub(a.now).Nanoseconds()) / 1e9
		}
	}
	return out
}

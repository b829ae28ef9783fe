package remedy

import (
	"fmt"
	"strconv"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/start"
)

// operations is candle's own number of dispatches in a command buffer.
const operations = 50

// boundary is what the border between two command buffers takes beside its commit, if
// it turns out well: mlx#4521 has 20 µs of the device's time.
const boundary = 20 * time.Microsecond

// perBuffer commits less often, where the run did so after fewer dispatches.
func (m *model) perBuffer() (candidate, bool) {
	knob, said := m.header.Knob("commands-per-buffer")
	n, err := strconv.Atoi(knob)
	few := said && err == nil && n < operations || m.header.Program != nil
	fewer := int64(0)
	saves := map[*run]map[start.Piece][outlooks]time.Duration{}
	for i := range m.runs {
		r := &m.runs[i]
		saves[r] = map[start.Piece][outlooks]time.Duration{}
		for k, p := range r.start.Phases {
			if p.Round != 1 {
				continue // that nobody waits for
			}
			less, each := excess(r, p)
			if less < 1 {
				continue
			}
			if i == 0 {
				fewer += less
			}
			if at, ok := longestWork(r.start, k); ok {
				n := time.Duration(less)
				saves[r][at] = [outlooks]time.Duration{poor: n * each / 2, middling: n * each, good: n * (each + boundary)}
			}
		}
	}
	c := m.of(PerBuffer, "put more dispatches into a command buffer", change{piece: func(r *run, o outlook, p start.Piece, t time.Duration) time.Duration {
		return max(0, t-saves[r][p][o])
	}})
	c.Costs = "nothing, as long as the device is not kept waiting: `introgen sweep` shows where that begins"
	c.Rests = fmt.Sprintf("%s less of %d dispatches or more each; a commit saved is what one took", figures.Number(int(min(fewer, 1<<30)), "command buffer"), operations)
	c.Sure = Arithmetic
	return c, few && fewer > 0
}

// excess is how many command buffers a phase of the start has more than full ones of
// its dispatches would be, and what committing one took.
func excess(r *run, p start.Phase) (less int64, each time.Duration) {
	for _, round := range r.taken.First() {
		for _, x := range round.Phases {
			if x.Title() != p.Title || x.Dispatches < 2 {
				continue
			}
			return x.CommandBuffers - (x.Dispatches+operations-1)/operations, x.Commit / time.Duration(max(1, x.CommandBuffers))
		}
	}
	return 0, 0
}

// longestWork is the longest piece of a phase that nothing is compiled in.
func longestWork(s *start.Start, phase int) (longest start.Piece, ok bool) {
	for _, p := range s.Pieces {
		if p.Phase == phase && p.Compile < 0 && p.Time > longest.Time {
			longest, ok = p, true
		}
	}
	return longest, ok
}

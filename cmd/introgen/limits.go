package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/introgen/introgen/engine/cpu"
	"github.com/introgen/introgen/engine/cpu/arithmetic"
	"github.com/introgen/introgen/engine/cpu/bandwidth"
	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/drivers"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/system/machine"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

const (
	// limitRounds is how often each limit is measured: a tenth of a second or two
	// in all.
	limitRounds = 10
	// limitCaches is how many times the last cache what is read of memory is, so
	// that little of it is still there in the next round.
	limitCaches = 4
	// mostLimitBytes is the most that is read of memory to find out how fast that is.
	mostLimitBytes = 1 << 30
)

// limits measures what the machine can do at the most, as long as ctx goes on, and
// where threads were observed what that costs. A limit that cannot be measured is told in a
// note; the error is ctx's.
func (g *generation) limits(ctx context.Context, observed bool) ([]recording.Event, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	g.enter(names.SpanLimits, "")
	defer g.enter(names.SpanRecord, "")
	g.status.Set("measuring how fast memory and arithmetic are")
	defer g.status.Clear()
	threads, cache := cpu.DefaultThreads(), machine.LastCacheBytes()
	var out []recording.Event
	add := func(l *recording.Limit, samples []float64, kernel string, err error) {
		if err != nil {
			if ctx.Err() == nil {
				g.note(fmt.Sprintf("the limit of %q is not known: %v", l.What, err))
			}
			return
		}
		sorted := slices.Sorted(slices.Values(samples))
		l.Threads, l.Samples, l.Kernel, l.Cache = threads, len(sorted), kernel, cache
		l.Best, l.Median = 1e9*sorted[len(sorted)-1], 1e9*sorted[(len(sorted)-1)/2]
		out = append(out, l)
	}
	size := int(min(max(bandwidth.ModelBytes, limitCaches*cache), mostLimitBytes))
	memory, err := bandwidth.Run(ctx, bandwidth.Options{Bytes: size, Threads: threads, Huge: true, Rounds: limitRounds})
	if err != nil {
		memory = &bandwidth.Result{}
	}
	add(&recording.Limit{What: recording.LimitMemory, Bytes: int64(memory.Bytes)}, memory.Samples, memory.Kernel, err)
	floats, err := arithmetic.Run(ctx, arithmetic.Options{Threads: threads, Rounds: limitRounds})
	if err != nil {
		floats = &arithmetic.Result{}
	}
	add(&recording.Limit{What: recording.LimitFloat32}, floats.Samples, floats.Kernel, err)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if observed {
		out = append(out, observing())
	}
	return out, nil
}

// onProcessor says whether a Metal device computes on the processor, so that its limits
// are the processor's. Those of a GPU are not measured.
func onProcessor(info metalshim.Info) bool { return info.Driver == drivers.Soft }

// observing measures how many observations a second a thread can make of its own work:
// two looks at the clock each.
func observing() recording.Event {
	const samples, each = 10, 1000
	rec, rates := trace.New(), make([]float64, samples)
	for i := range rates {
		began := rec.Now()
		for range each {
			rec.Now()
			rec.Now()
		}
		rates[i] = each / max(1, rec.Now()-began).Seconds()
	}
	slices.Sort(rates)
	return &recording.Limit{What: recording.LimitObserved, Threads: 1, Best: rates[samples-1], Median: rates[(samples-1)/2], Samples: samples, Kernel: "clock"}
}

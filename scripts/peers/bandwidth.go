package main

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/introgen/introgen/engine/cpu/bandwidth"
	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/scripts/peers/peer"
)

// Bandwidth is one result of package bandwidth: how fast this machine reads
// as many bytes as the model has.
type Bandwidth struct {
	Block   int     `json:"block"`
	Setting Setting `json:"setting"` // beside whose engines it was measured
	Threads int     `json:"threads"`
	Pages   string  `json:"pages"` // "4 KiB" or "huge"
	Best    float64 `json:"best"`  // GB/s, 10^9 bytes a second: the fastest of the probe's rounds
	Median  float64 `json:"median"`
}

// probe measures the memory's speed beside the engines of a setting. Without a
// probe the times still stand and only shares are missing: that is noted.
func (r *Runner) probe(ctx context.Context, m *Measurement, set Setting, block int) error {
	if r.Probe == nil {
		return nil
	}
	found, err := r.Probe(ctx, set.Threads)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		fmt.Fprintf(r.Log, "the memory's speed is left out: %v\n", err)
		m.Absent = append(m.Absent, "the memory's speed")
		r.Probe = nil
	}
	for _, b := range found {
		b.Block, b.Setting = block, set
		m.Bandwidth = append(m.Bandwidth, b)
		fmt.Fprintf(r.Log, "block %d of %d, %s, memory with %d threads, %s pages: %s GB/s at best, %s median\n",
			block+1, m.Blocks, set, b.Threads, b.Pages, figures.Text(b.Best, 1), figures.Text(b.Median, 1))
	}
	return nil
}

// measureBandwidth measures what `introgen bandwidth` prints: with one thread and
// with so many, each from both kinds of pages.
func measureBandwidth(ctx context.Context, threads int) ([]Bandwidth, error) {
	var out []Bandwidth
	for _, n := range slices.Compact([]int{1, threads}) {
		for _, huge := range []bool{false, true} {
			r, err := bandwidth.Run(ctx, bandwidth.Options{Bytes: bandwidth.ModelBytes, Threads: n, Huge: huge, Rounds: bandwidth.DefaultRounds})
			if err != nil {
				return nil, err
			}
			out = append(out, Bandwidth{Threads: n, Pages: r.Pages(), Best: r.Best, Median: r.Median})
		}
	}
	return out, nil
}

// limit is the best bandwidth that was measured beside a setting's engines with
// as many threads, over the kinds of pages: a value a block, NaN for a block
// without one.
func (m *Measurement) limit(set Setting) []float64 {
	out := make([]float64, m.Blocks)
	for i := range out {
		out[i] = math.NaN()
	}
	for _, b := range m.Bandwidth {
		if b.Setting == set && b.Threads == set.Threads && b.Block < len(out) && !(b.Best <= out[b.Block]) {
			out[b.Block] = b.Best
		}
	}
	return out
}

// share is the part of the bandwidth limit that decoding reaches: a decode step
// reads every byte of the model once.
func (m *Measurement) share(set Setting, engine string) peer.Spread {
	bytes := float64(m.Files[set.Model])
	decode, limit := valuesOf(m.Samples, set, engine, Decode), m.limit(set)
	var reached []float64
	for _, ms := range decode {
		reached = append(reached, bytes/ms/1e6) // bytes a millisecond to GB/s
	}
	return peer.SpreadOf(peer.Ratios(reached, limit))
}

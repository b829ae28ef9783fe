package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Bandwidth is one result of `introgen bandwidth`: how fast this machine reads
// as many bytes as the model has.
type Bandwidth struct {
	Block   int     `json:"block"`
	Threads int     `json:"threads"`
	Pages   string  `json:"pages"` // "4 KiB" or "huge"
	Best    float64 `json:"best"`  // GB/s, 10^9 bytes a second: the fastest of the probe's rounds
	Median  float64 `json:"median"`
}

// bandwidth runs the probe and adds its results.
func (r *Runner) bandwidth(ctx context.Context, m *Measurement, block int) error {
	if r.Program == "" {
		return nil
	}
	stdout, _, err := r.capture(ctx, []string{r.Program, "bandwidth", "--threads", strconv.Itoa(m.mostThreads())}, nil)
	if err != nil {
		return fmt.Errorf("bandwidth probe: %w", err)
	}
	found, err := ParseBandwidth(stdout)
	if err != nil {
		return err
	}
	for _, b := range found {
		b.Block = block
		m.Bandwidth = append(m.Bandwidth, b)
		fmt.Fprintf(r.Log, "block %d of %d, bandwidth of %d threads, %s pages: %.1f GB/s at best, %.1f median\n",
			block+1, m.Blocks, b.Threads, b.Pages, b.Best, b.Median)
	}
	return nil
}

var bandwidthLine = regexp.MustCompile(`^(\d+) threads?, (4 KiB|huge) pages: ([\d.]+) GB/s best, ([\d.]+) GB/s median`)

// ParseBandwidth reads what `introgen bandwidth` prints: a line for each number
// of threads and size of pages.
func ParseBandwidth(s string) ([]Bandwidth, error) {
	var out []Bandwidth
	for line := range strings.Lines(s) {
		m := bandwidthLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		threads, err1 := strconv.Atoi(m[1])
		best, err2 := strconv.ParseFloat(m[3], 64)
		mid, err3 := strconv.ParseFloat(m[4], 64)
		if errors.Join(err1, err2, err3) != nil || threads < 1 || best <= 0 {
			return nil, fmt.Errorf("bandwidth line not understood: %s", strings.TrimSpace(line))
		}
		out = append(out, Bandwidth{Threads: threads, Pages: m[2], Best: best, Median: mid})
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no line of the form `N threads, 4 KiB pages: X GB/s best, Y GB/s median` in the output of introgen bandwidth")
	}
	return out, nil
}

func (m *Measurement) mostThreads() int {
	most := 1
	for _, set := range m.Settings {
		most = max(most, set.Threads)
	}
	return most
}

// limit is the best bandwidth of so many threads, over the kinds of pages, a
// value a block; NaN for a block without one.
func (m *Measurement) limit(threads int) []float64 {
	out := make([]float64, m.Blocks)
	for i := range out {
		out[i] = math.NaN()
	}
	for _, b := range m.Bandwidth {
		if b.Threads == threads && b.Block < len(out) && !(b.Best <= out[b.Block]) {
			out[b.Block] = b.Best
		}
	}
	return out
}

// share is the part of the bandwidth limit that decoding reaches: a decode step
// reads every byte of the model once.
func (m *Measurement) share(set Setting, engine string) Spread {
	bytes := float64(m.Files[set.Model])
	decode, limit := m.values(set, engine, Decode), m.limit(set.Threads)
	var reached []float64
	for _, ms := range decode {
		reached = append(reached, bytes/ms/1e6) // bytes a millisecond to GB/s
	}
	return SpreadOf(ratios(reached, limit))
}

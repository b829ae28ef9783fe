package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/introgen/introgen/figures"
)

// Bandwidth is one result of `introgen bandwidth`: how fast this machine reads
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
	if r.Program == "" {
		return nil
	}
	found, err := r.bandwidth(ctx, set)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		fmt.Fprintf(r.Log, "the memory's speed is left out: %v\n", err)
		m.Absent = append(m.Absent, "the memory's speed")
		r.Program = ""
	}
	for _, b := range found {
		b.Block, b.Setting = block, set
		m.Bandwidth = append(m.Bandwidth, b)
		fmt.Fprintf(r.Log, "block %d of %d, %s, memory with %d threads, %s pages: %s GB/s at best, %s median\n",
			block+1, m.Blocks, set, b.Threads, b.Pages, figures.Text(b.Best, 1), figures.Text(b.Median, 1))
	}
	return nil
}

func (r *Runner) bandwidth(ctx context.Context, set Setting) ([]Bandwidth, error) {
	stdout, _, err := r.capture(ctx, []string{r.Program, "bandwidth", "--threads", strconv.Itoa(set.Threads)}, nil)
	if err != nil {
		return nil, err
	}
	return ParseBandwidth(stdout)
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
func (m *Measurement) share(set Setting, engine string) Spread {
	bytes := float64(m.Files[set.Model])
	decode, limit := m.values(set, engine, Decode), m.limit(set)
	var reached []float64
	for _, ms := range decode {
		reached = append(reached, bytes/ms/1e6) // bytes a millisecond to GB/s
	}
	return SpreadOf(ratios(reached, limit))
}

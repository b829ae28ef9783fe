package main

import (
	"math"

	"github.com/introgen/introgen/scripts/peers/peer"
)

// Figure is one time of a process that is compared.
type Figure int

// The figures. A first sample is its own figure: FirstToken is the first round
// of a fresh process, what a user of the command waits for; the others are of
// its later rounds.
const (
	Read       Figure = iota // opening until the directory is known
	Load                     // reading and building
	Prefill                  // the prompt, until the first new token
	Decode                   // one decode step
	Total                    // prefill and all decode steps of a round
	FirstToken               // from opening the file to the first new token
	Peak                     // largest resident memory, MiB
)

// Of takes the figure out of one process, in milliseconds (Peak: MiB). It is
// NaN where the process has no such figure.
func (f Figure) Of(s Sample) float64 {
	if len(s.Output.Rounds) == 0 {
		return math.NaN()
	}
	first, later := s.Output.Rounds[0], s.Output.Rounds[1:]
	each := func(get func(peer.Round) float64) float64 {
		var v []float64
		for _, r := range later {
			v = append(v, get(r))
		}
		return peer.Median(v)
	}
	switch f {
	case Read:
		return nonZero(each(func(r peer.Round) float64 { return r.Read }))
	case Load:
		return each(func(r peer.Round) float64 { return r.Load })
	case Prefill:
		return each(func(r peer.Round) float64 { return r.Prefill })
	case Decode:
		var steps []float64
		for _, r := range later {
			steps = append(steps, r.Steps...)
		}
		return peer.GroupedMedian(steps, peer.Resolution)
	case Total:
		return each(func(r peer.Round) float64 { return r.Prefill + r.Decode })
	case FirstToken:
		return first.Load + first.Prefill
	case Peak:
		return nonZero(s.PeakMiB)
	}
	return math.NaN()
}

// nonZero turns the 0 of a figure that was not given into NaN.
func nonZero(v float64) float64 {
	if v == 0 {
		return math.NaN()
	}
	return v
}

// valuesOf are the figure of one engine in one setting, a value a block, NaN for a
// block without it.
func valuesOf(samples []Sample, set Setting, engine string, f Figure) []float64 {
	var out []float64
	for _, s := range samples {
		if s.Setting != set || s.Engine != engine {
			continue
		}
		for len(out) <= s.Block {
			out = append(out, math.NaN())
		}
		out[s.Block] = f.Of(s)
	}
	return out
}

// spread summarises values over the blocks that have one.
func (m *Measurement) spread(set Setting, engine string, f Figure) peer.Spread {
	return peer.SpreadOf(valuesOf(m.Samples, set, engine, f))
}

// best names the engine of the family with the smallest median: the way of
// building and running a peer that counts is the one that serves it best.
func (m *Measurement) best(set Setting, family string, f Figure) string {
	name, least := "", math.Inf(1)
	for _, e := range m.Engines {
		if e.Family != family {
			continue
		}
		if s := m.spread(set, e.Name, f); s.N > 0 && s.Mid < least {
			name, least = e.Name, s.Mid
		}
	}
	return name
}

// speedup is how many times as fast introgen's variant is as the best of a
// family: the peer's time divided by introgen's, block by block.
func (m *Measurement) speedup(set Setting, variant, family string, f Figure) peer.Spread {
	served := m.best(set, family, f)
	return peer.SpreadOf(peer.Ratios(valuesOf(m.Samples, set, served, f), valuesOf(m.Samples, set, variant, f)))
}

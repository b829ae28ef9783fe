// Package bandwidth measures how fast this machine's memory can be read: the limit
// of decoding, which reads every weight once for each token.
package bandwidth

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
	"unsafe"

	"github.com/introgen/introgen/engine/cpu/pages"
	"github.com/introgen/introgen/engine/cpu/threads"
)

// Options are what is read, and how often. All must be given.
type Options struct {
	Bytes   int // from MinBytes to MaxBytes
	Threads int // from 1 to MaxThreads
	Huge    bool
	Rounds  int // from 1 to MaxRounds
}

// What a probe takes where nobody says otherwise.
const (
	// ModelBytes is the size of the model that the figures are held against, a step of
	// which reads every weight once.
	ModelBytes    = 145_000_000
	DefaultRounds = 20
)

// The bounds of Options.
const (
	MinBytes   = 1 << 20
	MaxBytes   = 64 << 30
	MaxThreads = 256
	MaxRounds  = 10000
)

// Result is what a probe measured.
type Result struct {
	Options
	Kernel  string    // how it was read: "avx512", "avx2", "neon", "generic"
	Samples []float64 // GB/s (10^9 bytes) of each round, in order
	Best    float64   // the largest sample
	Median  float64   // the middle sample; of two, the lower
	// HugeBytes is how much of the memory huge pages held, and HugeKnown whether
	// the system tells: that huge pages were asked for does not mean that there
	// were any.
	HugeBytes int
	HugeKnown bool
}

// Pages is the kind of pages that was asked for, in words.
func (o Options) Pages() string {
	if o.Huge {
		return "huge"
	}
	return "4 KiB"
}

// pieceBytes is what a thread reads at a time: large against the cost of
// claiming it, small against what a thread reads in all.
const pieceBytes = 1 << 20

// reader is the work of a round: a unit is pieceBytes.
type reader struct {
	read func(p *byte, n int) uint64
	b    []byte
	sums []sum
}

// sum is what a thread read, xored: that it is used keeps the reads from being
// removed, and that it is right shows that all was read.
type sum struct {
	v uint64
	_ [120]byte
}

// Do implements threads.Body.
func (r *reader) Do(tid, _, lo, hi int) {
	b := r.b[lo*pieceBytes : min(len(r.b), hi*pieceBytes)]
	r.sums[tid].v ^= r.read(&b[0], len(b))
}

// Ahead implements threads.Body.
func (r *reader) Ahead(int, int, any) {}

// Run fills memory with Options.Bytes bytes, rounded down to a multiple of 256,
// and has the threads read it together, once a round. One more round before
// warms up. When ctx ends, so does Run, with its error, after the round under way.
func Run(ctx context.Context, o Options) (_ *Result, err error) {
	switch {
	case o.Bytes < MinBytes || o.Bytes > MaxBytes:
		return nil, fmt.Errorf("bandwidth: %d bytes; allowed are %d to %d", o.Bytes, MinBytes, MaxBytes)
	case o.Threads < 1 || o.Threads > MaxThreads:
		return nil, fmt.Errorf("bandwidth: %d threads; allowed are 1 to %d", o.Threads, MaxThreads)
	case o.Rounds < 1 || o.Rounds > MaxRounds:
		return nil, fmt.Errorf("bandwidth: %d rounds; allowed are 1 to %d", o.Rounds, MaxRounds)
	}
	o.Bytes &^= 255
	size := pages.Small
	if o.Huge {
		size = pages.Huge
	}
	m, err := pages.Reserve(o.Bytes, size)
	if err != nil {
		return nil, fmt.Errorf("bandwidth: %w", err)
	}
	defer func() { err = errors.Join(err, m.Free()) }()
	want, err := fill(ctx, m.Bytes)
	if err != nil {
		return nil, err
	}

	name, read := best()
	body := &reader{read: read, b: m.Bytes, sums: make([]sum, o.Threads)}
	t := threads.New(o.Threads, body, func(f func() error) error { return f() })
	defer t.Close()
	plan := threads.NewStages([]int{(o.Bytes + pieceBytes - 1) / pieceBytes}, nil)
	res := &Result{Options: o, Kernel: name}
	for round := range o.Rounds + 1 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		clear(body.sums)
		start := time.Now()
		if err := t.Run(plan); err != nil {
			return nil, fmt.Errorf("bandwidth: %w", err)
		}
		took := time.Since(start)
		var got uint64
		for _, s := range body.sums {
			got ^= s.v
		}
		if got != want {
			return nil, fmt.Errorf("bandwidth: read %#x where %#x was written: the memory or the %s reader is at fault", got, want, name)
		}
		if round > 0 {
			res.Samples = append(res.Samples, float64(o.Bytes)/float64(max(1, took.Nanoseconds())))
		}
	}
	sorted := slices.Sorted(slices.Values(res.Samples))
	res.Best, res.Median = sorted[len(sorted)-1], sorted[(len(sorted)-1)/2]
	res.HugeBytes, res.HugeKnown = m.HugeBytes()
	return res, nil
}

// fillWords is how many words are filled between two looks at the context.
const fillWords = 1 << 22

// fill writes numbers to b, whose length is a multiple of 8, and returns them
// xored. Large memory takes seconds, so it stops when ctx ends.
func fill(ctx context.Context, b []byte) (uint64, error) {
	var all uint64
	x := uint64(1)
	words := unsafe.Slice((*uint64)(unsafe.Pointer(&b[0])), len(b)/8)
	for part := range slices.Chunk(words, fillWords) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		for i := range part {
			x = x*6364136223846793005 + 1442695040888963407
			part[i] = x
			all ^= x
		}
	}
	return all, nil
}

// readGeneric is the twin of the assembly: n bytes, a multiple of 256, xored as
// words of 64 bits.
func readGeneric(p *byte, n int) uint64 {
	var s [4]uint64
	for w := unsafe.Slice((*uint64)(unsafe.Pointer(p)), n/8); len(w) >= 4; w = w[4:] {
		s[0] ^= w[0]
		s[1] ^= w[1]
		s[2] ^= w[2]
		s[3] ^= w[3]
	}
	return s[0] ^ s[1] ^ s[2] ^ s[3]
}

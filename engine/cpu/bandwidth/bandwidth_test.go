package bandwidth

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	for _, o := range []Options{
		{Bytes: MinBytes, Threads: 1, Rounds: 1},
		{Bytes: 5<<20 + 777, Threads: 2, Rounds: 4},
		{Bytes: 5 << 20, Threads: 3, Huge: true, Rounds: 5},
	} {
		r, err := Run(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Samples) != o.Rounds || r.Best != slices.Max(r.Samples) || r.Median > r.Best || !slices.Contains(r.Samples, r.Median) || r.Samples[0] <= 0 {
			t.Errorf("%+v", r)
		}
		if !o.Huge && r.HugeBytes != 0 {
			t.Errorf("%d bytes of huge pages where small ones were asked for", r.HugeBytes)
		}
	}
}

func TestRunStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, Options{Bytes: MaxBytes / 64, Threads: 1, Rounds: MaxRounds}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// Every reader this machine has gives the twin's answer, at every alignment.
func TestReaders(t *testing.T) {
	b := make([]byte, 4096)
	for i := range b {
		b[i] = byte(i * i >> 3)
	}
	name, read := best()
	for skip := range 70 {
		for n := 256; n <= 1024; n += 256 {
			if got, want := read(&b[skip], n), readBytes(b[skip:skip+n]); got != want {
				t.Fatalf("%s: %#x, want %#x", name, got, want)
			}
			if got, want := readGeneric(&b[skip], n), readBytes(b[skip:skip+n]); got != want {
				t.Fatalf("generic: %#x, want %#x", got, want)
			}
		}
	}
}

// readBytes xors b byte by byte into a word.
func readBytes(b []byte) (x uint64) {
	for i, v := range b {
		x ^= uint64(v) << (i % 8 * 8)
	}
	return x
}

func TestRefusals(t *testing.T) {
	for want, o := range map[string]Options{
		"bytes; allowed are":     {Bytes: 0, Threads: 1, Rounds: 1},
		"0 threads; allowed are": {Bytes: MinBytes, Threads: 0, Rounds: 1},
		"257 threads; allowed":   {Bytes: MinBytes, Threads: 257, Rounds: 1},
		"0 rounds; allowed are":  {Bytes: MinBytes, Threads: 1},
	} {
		if _, err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: error %v, want one with %q", o, err, want)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	for _, o := range []Options{{Threads: 1}, {Threads: 2}, {Threads: 1, Huge: true}, {Threads: 2, Huge: true}} {
		o.Bytes, o.Rounds = 145e6, 20
		name := "small pages"
		if o.Huge {
			name = "huge pages"
		}
		b.Run(name+"/"+string(rune('0'+o.Threads)), func(b *testing.B) {
			for b.Loop() {
				r, err := Run(b.Context(), o)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(r.Best, "GB/s")
			}
		})
	}
}

// Package metaltest gives tests a Metal device that truly runs kernels, and
// candle's kernel files, or a skip that says what brings them.
package metaltest

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/soft"
	"github.com/introgen/introgen/models/candle"
)

// CandleEnv names a folder with candle's kernel files.
const CandleEnv = "INTROGEN_CANDLE_KERNELS"

// Soft opens the software driver until the end of the test.
func Soft(t testing.TB) metalshim.Device {
	t.Helper()
	d, err := soft.Open(context.Background(), soft.Options{})
	if err != nil {
		t.Skipf("SKIP: needs the software Metal driver: %v", err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// Candle is a folder with candle 0.11.0's kernel files: what CandleEnv names,
// else what `introgen kernels fetch` has brought.
func Candle(t testing.TB) string {
	t.Helper()
	if dir := os.Getenv(CandleEnv); dir != "" {
		return dir
	}
	dir, err := candle.Dir()
	if err != nil {
		t.Fatal(err)
	}
	set, err := candle.Open(dir, candle.Experiment)
	if errors.Is(err, candle.ErrAbsent) {
		t.Skipf("SKIP: needs candle's kernels: %v; %s can name their folder", err, CandleEnv)
	}
	if err != nil {
		t.Fatal(err)
	}
	return set.Path()
}

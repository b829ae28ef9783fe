// Package metaltest gives tests a Metal device that truly runs kernels, and
// candle's kernel files, or a skip that says what brings them.
package metaltest

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/soft"
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
// else where cargo has put candle's source.
func Candle(t testing.TB) string {
	t.Helper()
	if dir := os.Getenv(CandleEnv); dir != "" {
		return dir
	}
	cargo := os.Getenv("CARGO_HOME")
	if home, err := os.UserHomeDir(); cargo == "" && err == nil {
		cargo = filepath.Join(home, ".cargo")
	}
	found, err := filepath.Glob(filepath.Join(cargo, "registry", "src", "*", "candle-metal-kernels-0.11.0", "src", "metal_src"))
	if err != nil || len(found) == 0 {
		t.Skipf("SKIP: needs candle's kernel files: `cargo fetch` of a crate that depends on candle-metal-kernels =0.11.0, or their folder in %s", CandleEnv)
	}
	return found[0]
}

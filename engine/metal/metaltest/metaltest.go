// Package metaltest gives tests a Metal device that truly runs kernels, and
// candle's kernel files, or a skip that says what brings them.
package metaltest

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/introgen/introgen/engine/metal/kernels/candle"
	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/drivers"
)

// CandleEnv names a folder with candle's kernel files.
const CandleEnv = "INTROGEN_CANDLE_KERNELS"

// DriverEnv names the driver that tests use, soft if it is not set. It is
// apple for `make metal-check`.
const DriverEnv = "INTROGEN_TEST_METAL"

// Device opens the driver that DriverEnv names until the end of the test.
func Device(t testing.TB) metalshim.Device {
	t.Helper()
	if name := os.Getenv(DriverEnv); name != "" {
		return open(t, name)
	}
	return open(t, drivers.Soft)
}

// Soft opens the software driver until the end of the test.
func Soft(t testing.TB) metalshim.Device {
	t.Helper()
	return open(t, drivers.Soft)
}

func open(t testing.TB, name string) metalshim.Device {
	t.Helper()
	d, err := drivers.Open(context.Background(), name, drivers.Options{})
	if err != nil {
		t.Skipf("SKIP: needs the %s Metal driver: %v", name, err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// usesSimdgroups are how the names of the kernels begin that multiply matrices
// of simdgroups, or reduce over them or shuffle in them.
var usesSimdgroups = []string{"gemm_", "gemv_", "kernel_mul_", "sdpa_", "rmsnorm_", "softmax_", "fast_"}

// Simdgroups skips a test of a kernel that the device cannot run.
func Simdgroups(t testing.TB, d metalshim.Device, kernel string) {
	t.Helper()
	for _, begin := range usesSimdgroups {
		if strings.HasPrefix(kernel, begin) {
			Models(t, d)
		}
	}
}

// Models skips a test that runs a whole model on a device that cannot.
func Models(t testing.TB, d metalshim.Device) {
	t.Helper()
	if d, ok := d.(drivers.Driver); ok {
		if err := d.Models(); err != nil {
			t.Skipf("SKIP: needs simdgroups: %v", err)
		}
	}
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

package kernels_test

import (
	"context"
	"testing"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/soft"
)

// openDevice opens the software driver for one test.
func openDevice(t testing.TB) metalshim.Device {
	t.Helper()
	d, err := soft.Open(context.Background(), soft.Options{})
	if err != nil {
		t.Skipf("SKIP: needs the software Metal driver: %v", err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

package kernels_test

import (
	"context"
	"os"
	"sync"
	"testing"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/soft"
)

// One software device serves all tests of the process.
var shared struct {
	once   sync.Once
	device *soft.Device
	err    error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if shared.device != nil {
		shared.device.Close()
	}
	os.Exit(code)
}

// openDevice opens the software driver, or skips the test.
func openDevice(t testing.TB) metalshim.Device {
	t.Helper()
	shared.once.Do(func() {
		shared.device, shared.err = soft.Open(context.Background(), soft.Options{})
	})
	if shared.err != nil {
		t.Skipf("SKIP: needs the software Metal driver: %v", shared.err)
	}
	return shared.device
}

//go:build linux && (amd64 || arm64)

package sdk_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/apple/standin/beside"
	"github.com/introgen/introgen/metalshim/shimtest"
	"github.com/introgen/introgen/metalshim/soft"
)

// Environment of the device that a test's program starts: this test binary.
const (
	envDevice = "INTROGEN_TEST_DEVICE" // "idle" runs nothing
	envPID    = "INTROGEN_TEST_PID"    // a file for its process's number
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "metal-device" {
		if err := serve(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	remove := shimtest.CacheFolder()
	code := m.Run()
	remove()
	os.Exit(code)
}

func serve() error {
	if path := os.Getenv(envPID); path != "" {
		if err := os.WriteFile(path, []byte(strconv.Itoa(os.Getpid())), 0o600); err != nil {
			return err
		}
	}
	beside.IgnoreSignals()
	beside.Parent(3)
	facts := beside.Facts{AppleFamily: 7}
	var d metalshim.Device = &shimtest.Device{}
	if os.Getenv(envDevice) != "idle" {
		opened, err := soft.Open(context.Background(), soft.Options{})
		if err != nil {
			return beside.Serve(context.Background(), 3, nil, beside.Facts{Failure: err.Error()})
		}
		d = opened
	}
	return beside.Serve(context.Background(), 3, d, facts)
}

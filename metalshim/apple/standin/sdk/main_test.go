//go:build linux && (amd64 || arm64)

package sdk_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/apple/standin/beside"
	"github.com/introgen/introgen/metalshim/shimtest"
	"github.com/introgen/introgen/metalshim/soft"
)

// Environment of the device that a test's program starts: this test binary.
const (
	envDevice = "INTROGEN_TEST_DEVICE" // "idle" runs nothing
	envPID    = "INTROGEN_TEST_PID"    // a file for its process's number
	envHello  = "INTROGEN_TEST_HELLO"  // the version of messages that it says to speak, and nothing else
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "metal-device" {
		if err := serve(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		beside.GiveBackStderr()
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
	if text := os.Getenv(envHello); text != "" {
		version, err := strconv.ParseUint(text, 10, 8)
		if err != nil {
			return err
		}
		// A hello of 8 bytes, and what is of another version would say more.
		_, err = os.NewFile(3, "socket").Write([]byte{101, 23: 0, 16: 8, 24: byte(version), 31: 0})
		time.Sleep(time.Second)
		return err
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

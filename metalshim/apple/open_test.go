package apple

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"testing"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/apple/objc"
	"github.com/introgen/introgen/metalshim/apple/standin"
	"github.com/introgen/introgen/metalshim/shimtest"
	"github.com/introgen/introgen/metalshim/soft"
)

// exit ends the tests.
var exit = os.Exit

// sent counts the messages that the stand-in was sent in all tests.
var sent = map[string]int64{}

// TestMain fails where the tests left a message out: what was never sent was
// never checked. It can tell only if all of them ran, over the stand-in.
func TestMain(m *testing.M) {
	remove := shimtest.CacheFolder()
	code := m.Run()
	remove()
	if run := flag.Lookup("test.run"); code != 0 || len(sent) == 0 || run != nil && run.Value.String() != "" {
		exit(code)
		return
	}
	selectors, err := Selectors()
	if err != nil {
		panic(err)
	}
	for _, s := range selectors {
		// A method may be another class's: new is NSObject's.
		if n, own := sent[s.String()]; own && n == 0 {
			fmt.Printf("%v was never sent\n", s)
			code = 1
		}
	}
	exit(code)
}

// serving is the test for which the stand-in is in place. There is one at a
// time, so these tests do not run in parallel.
var serving testing.TB

// serve puts the stand-in in place until the end of the test, which fails if
// objects or pools are left then.
func serve(t testing.TB, o standin.Options) objc.Libraries {
	t.Helper()
	path, err := standin.Build(t.Context())
	if errors.Is(err, standin.ErrCompiler) || errors.Is(err, standin.ErrSystem) {
		t.Skipf("SKIP: needs a Mac, or the stand-in for Apple's libraries: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	l := objc.Libraries{Runtime: path, Foundation: path, Metal: path}
	if serving == t {
		return l
	}
	dev, err := soft.Open(t.Context(), soft.Options{})
	if err != nil {
		t.Skipf("SKIP: needs a Mac, or the software Metal driver behind the stand-in: %v", err)
	}
	s, err := standin.Serve(path, dev, o)
	if err != nil {
		t.Fatal(err)
	}
	serving = t
	t.Cleanup(func() {
		serving = nil
		for method, n := range s.Calls() {
			sent[method] += n
		}
		if err := errors.Join(s.Close(), dev.Close()); err != nil {
			t.Error(err)
		}
	})
	return l
}

// driverEnv lets the tests use a Mac's own device. They do not by themselves:
// what they send has never been sent to every system there is, and an NSException
// would end all tests of the package.
const driverEnv = "INTROGEN_TEST_METAL"

// options completes o for the system that the test runs on.
func options(t testing.TB, o Options) Options {
	t.Helper()
	switch {
	case runtime.GOOS != "darwin":
		o.Libraries = serve(t, standin.Options{})
	case os.Getenv(driverEnv) != "apple":
		t.Skipf("SKIP: needs leave to use this Mac's device: make metal-check, or %s=apple", driverEnv)
	}
	return o
}

// open opens a device until the end of the test, which fails if something of
// it is live then.
func open(t testing.TB, o Options) *Device {
	t.Helper()
	d, err := Open(t.Context(), options(t, o))
	if errors.Is(err, metalshim.ErrNoDevice) {
		t.Skipf("SKIP: needs a Metal device: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if live := d.Live(); live != (metalshim.Counts{}) {
			t.Errorf("left behind: %+v", live)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

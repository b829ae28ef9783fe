package apple

import (
	"errors"
	"os"
	"runtime"
	"testing"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/apple/objc"
	"github.com/introgen/introgen/metalshim/apple/standin"
	"github.com/introgen/introgen/metalshim/soft"
)

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
		if err := errors.Join(s.Close(), dev.Close()); err != nil {
			t.Error(err)
		}
	})
	return l
}

// options completes o for the system that the test runs on.
func options(t testing.TB, o Options) Options {
	t.Helper()
	if runtime.GOOS != "darwin" {
		o.Libraries = serve(t, standin.Options{})
	}
	return o
}

// open opens a device until the end of the test, which fails if something of
// it is live then.
func open(t testing.TB, o Options) *Device {
	t.Helper()
	d, err := Open(t.Context(), options(t, o))
	if errors.Is(err, metalshim.ErrNoDevice) && os.Getenv("CI") != "" {
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

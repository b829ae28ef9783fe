package drivers

import (
	"errors"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/apple"
	"github.com/introgen/introgen/metalshim/apple/standin"
	"github.com/introgen/introgen/metalshim/shimtest"
	"github.com/introgen/introgen/metalshim/soft/clang"
)

func TestUnknown(t *testing.T) {
	for _, name := range []string{"cuda", "", "soft:0", "apple:", "auto:Apple M2"} {
		if _, err := Open(t.Context(), name, Options{}); err == nil || !strings.Contains(err.Error(), "auto, soft, apple are allowed, and apple:DEVICE") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAppleNeedsAMac(t *testing.T) {
	if runtime.GOOS == "darwin" {
		t.Skip("SKIP: needs a system without Metal")
	}
	t.Setenv(apple.EnvStandIn, "")
	if _, err := Open(t.Context(), Apple, Options{}); err == nil || !strings.Contains(err.Error(), apple.EnvStandIn) {
		t.Errorf("%v", err)
	}
	t.Setenv(apple.EnvStandIn, "build,family=many")
	if _, err := Open(t.Context(), Apple, Options{}); err == nil || !strings.Contains(err.Error(), `family="many"`) {
		t.Errorf("%v", err)
	}
	t.Setenv(apple.EnvStandIn, "/no/such.so")
	if _, err := Open(t.Context(), Apple, Options{}); err == nil || !strings.Contains(err.Error(), "/no/such.so") {
		t.Errorf("%v", err)
	}
}

func TestMain(m *testing.M) {
	remove := shimtest.CacheFolder()
	code := m.Run()
	remove()
	os.Exit(code)
}

// A device below Apple7 says so before anything is compiled.
func TestBelowApple7(t *testing.T) {
	if runtime.GOOS == "darwin" {
		t.Skip("SKIP: needs the stand-in")
	}
	t.Setenv(apple.EnvStandIn, standin.BuildPath+",family=5")
	d, err := Open(t.Context(), Apple, Options{})
	var absent *clang.Error
	if errors.As(err, &absent) || errors.Is(err, standin.ErrCompiler) {
		t.Skipf("SKIP: needs the driver: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	var family *apple.FamilyError
	if err := d.Models(); !errors.As(err, &family) || family.Family.Apple != 5 {
		t.Errorf("%v", err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

// A device is chosen by its name; another name lists those there are.
func TestDevice(t *testing.T) {
	if runtime.GOOS == "darwin" {
		t.Skip("SKIP: needs the stand-in")
	}
	t.Setenv(apple.EnvStandIn, standin.BuildPath)
	d, err := Open(t.Context(), "apple:soft", Options{})
	var absent *clang.Error
	if errors.As(err, &absent) || errors.Is(err, standin.ErrCompiler) {
		t.Skipf("SKIP: needs the driver: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if _, err := Open(t.Context(), "apple:Voodoo", Options{}); !errors.Is(err, metalshim.ErrNoDevice) || !strings.Contains(err.Error(), `"soft"`) {
		t.Errorf("%v", err)
	}
}

// Each driver opens, says what it is, compiles, and leaves nothing.
func TestDrivers(t *testing.T) {
	for _, name := range Names {
		t.Run(name, func(t *testing.T) {
			if runtime.GOOS == "darwin" && name != Soft && os.Getenv("INTROGEN_TEST_METAL") != Apple {
				t.Skip("SKIP: needs leave to use this Mac's device: make metal-check")
			}
			t.Setenv(apple.EnvStandIn, standin.BuildPath)
			d, err := Open(t.Context(), name, Options{})
			var absent *clang.Error
			if errors.As(err, &absent) || errors.Is(err, standin.ErrCompiler) || errors.Is(err, metalshim.ErrNoDevice) {
				t.Skipf("SKIP: needs the driver: %v", err)
			}
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]string{Auto: Soft, Soft: Soft, Apple: Apple}[name]
			if runtime.GOOS == "darwin" && name == Auto {
				want = Apple
			}
			if got := d.Info().Driver; got != want {
				t.Errorf("it is %s, want %s", got, want)
			}
			if c := d.Compiler(); !strings.HasPrefix(c, "clang 19") && !strings.HasPrefix(c, "MSL ") {
				t.Errorf("compiler %q", c)
			}
			if (d.System() == "") != (want == Soft) {
				t.Errorf("system %q", d.System())
			}
			if f, ok := d.Folder(); ok && (f.Dir == "" || f.Entries < 0) {
				t.Errorf("folder %+v", f)
			}
			if err := d.Models(); err != nil && d.Info().Driver == Soft {
				t.Error(err)
			}
			l, err := d.NewLibrary(t.Context(), metalshim.Source{Name: "One", Text: "kernel void one(device float* a [[buffer(0)]]) { a[0] = 1; }"})
			if err != nil {
				t.Fatal(err)
			}
			l.Release()
			if live := d.Live(); live != (metalshim.Counts{}) {
				t.Errorf("left behind: %+v", live)
			}
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestDevices: the devices are listed as --driver apple: takes them.
func TestDevices(t *testing.T) {
	if runtime.GOOS == "darwin" {
		t.Skip("SKIP: needs the stand-in, which is for Linux")
	}
	t.Setenv(apple.EnvStandIn, "")
	if list, err := Devices(t.Context()); err == nil {
		t.Errorf("a system without Metal has %q", list)
	}
	t.Setenv(apple.EnvStandIn, standin.BuildPath)
	list, err := Devices(t.Context())
	var absent *clang.Error
	if errors.Is(err, standin.ErrCompiler) || errors.Is(err, standin.ErrSystem) || errors.As(err, &absent) {
		t.Skipf("SKIP: needs the stand-in for Apple's libraries and a driver behind it: %v", err)
	}
	if err != nil || len(list) != 1 {
		t.Fatalf("%q, %v", list, err)
	}
	_, number, _ := strings.Cut(list[0], "(")
	number, _, _ = strings.Cut(number, ")")
	d, err := Open(t.Context(), Apple+":"+number, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(list[0], d.Info().Name+" (") {
		t.Errorf("%q is %+v", list[0], d.Info())
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

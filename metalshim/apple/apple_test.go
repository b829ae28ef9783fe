package apple

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/apple/abi"
	"github.com/introgen/introgen/metalshim/apple/objc"
)

// The numbers that the driver sends are those of Apple's headers.
func TestNumbers(t *testing.T) {
	table, err := abi.Load()
	if err != nil {
		t.Fatal(err)
	}
	language := func(v string) int64 {
		n, err := languageVersion(v)
		if err != nil {
			t.Error(err)
		}
		return int64(n)
	}
	for name, got := range map[string]int64{
		"MTLLanguageVersion2_4":                    language("2.4"),
		"MTLLanguageVersion3_0":                    language("3.0"),
		"MTLLanguageVersion3_1":                    language("3.1"),
		"MTLLanguageVersion3_2":                    language("3.2"),
		"MTLMathModeSafe":                          int64(metalshim.MathSafe),
		"MTLMathModeRelaxed":                       int64(metalshim.MathRelaxed),
		"MTLMathModeFast":                          int64(metalshim.MathFast),
		"MTLMathFloatingPointFunctionsPrecise":     int64(metalshim.PreciseFunctions),
		"MTLResourceHazardTrackingModeUntracked":   untracked,
		"MTLResourceStorageModePrivate":            int64(metalshim.Private) << storageShift,
		"MTLDispatchTypeConcurrent":                int64(metalshim.Concurrent),
		"MTLBarrierScopeBuffers":                   int64(metalshim.BarrierBuffers),
		"MTLPipelineOptionFailOnBinaryArchiveMiss": failOnArchiveMiss,
		"MTLGPUFamilyApple7":                       familyApple + 7,
		"MTLGPUFamilyApple10":                      familyApple + 10,
		"MTLGPUFamilyMac2":                         familyMac + 2,
		"MTLGPUFamilyCommon3":                      familyCommon + 3,
		"MTLGPUFamilyMetal3":                       familyMetal + 3,
		"MTLGPUFamilyMetal4":                       familyMetal + 4,
		"NSProcessInfoThermalStateCritical":        int64(ThermalCritical),
		"MTLCommandBufferStatusCompleted":          int64(metalshim.Completed),
		"MTLCommandBufferStatusError":              int64(metalshim.Failed),
		"MTLDataTypeBool":                          int64(metalshim.Bool),
		"MTLDataTypeFloat":                         int64(metalshim.Float),
		"MTLCommandBufferErrorTimeout":             code(metalshim.ErrTimeout),
		"MTLCommandBufferErrorPageFault":           code(metalshim.ErrPageFault),
		"MTLCommandBufferErrorOutOfMemory":         code(metalshim.ErrOutOfMemory),
	} {
		if want, ok := table.Enums[name]; !ok || got != want {
			t.Errorf("%s: %d, Apple's headers have %d", name, got, want)
		}
	}
	for _, name := range []string{"MTLCommandBufferErrorDeviceRemoved", "MTLCommandBufferErrorAccessRevoked"} {
		if commandFailures[table.Enums[name]] != metalshim.ErrDeviceLost {
			t.Errorf("%s is not a lost device", name)
		}
	}
}

// code is the number of a failure of which there is one.
func code(kind error) int64 {
	for n, k := range commandFailures {
		if k == kind {
			return n
		}
	}
	return -1
}

func TestLanguage(t *testing.T) {
	for _, bad := range []string{"3", "x.1", "3.x", "-1.0", "0.1", "3.1.2", "300.1"} {
		if _, err := languageVersion(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
	for major, want := range map[int64]string{12: "2.4", 13: "3.0", 14: "3.1", 15: "3.2", 26: "3.2"} {
		if got := newestLanguage(objc.Version{Major: major}); got != want {
			t.Errorf("macOS %d: %s, want %s", major, got, want)
		}
	}
}

// The log is of the form that Metal gives in an NSError's description.
func TestCompileError(t *testing.T) {
	log := "program_source:3:5: error: use of undeclared identifier 'flot'\n    flot x;\n    ^\n" +
		"/lib/metal_math:7:1: note: here\nprogram_source:9:2: fatal error: too many errors emitted\n"
	err := compileError("Gemm", "", "gemm.metal", &objc.Error{Domain: "MTLLibraryErrorDomain", Code: 3, Text: log})
	var e *metalshim.CompileError
	if !errors.As(err, &e) {
		t.Fatalf("it is a %T", err)
	}
	want := []metalshim.Diagnostic{
		{File: "gemm.metal", Line: 3, Column: 5, Severity: "error", Message: "use of undeclared identifier 'flot'"},
		{File: "/lib/metal_math", Line: 7, Column: 1, Severity: "note", Message: "here"},
		{File: "gemm.metal", Line: 9, Column: 2, Severity: "error", Message: "too many errors emitted"},
	}
	if !reflect.DeepEqual(e.Diagnostics, want) || !strings.Contains(e.Log, "    flot x;") {
		t.Errorf("%+v", e)
	}
	err = compileError("Gemm", "k", "gemm.metal", &objc.Error{})
	if got := err.Error(); got != "metal library Gemm, function k does not compile: the system gave no reason" {
		t.Errorf("without a reason: %s", got)
	}
}

func TestCommandError(t *testing.T) {
	lost := commandError(&objc.Error{Domain: commandsDomain, Code: 11, Text: "device removed"})
	if !errors.Is(lost, metalshim.ErrDeviceLost) || !strings.Contains(lost.Error(), "device removed") {
		t.Errorf("device removed: %v", lost)
	}
	other := commandError(&objc.Error{Domain: "Elsewhere", Code: 11, Text: "eleven"})
	var cause *objc.Error
	if errors.Is(other, metalshim.ErrDeviceLost) || !errors.As(other, &cause) || cause.Code != 11 {
		t.Errorf("a code of another domain: %v", other)
	}
	if err := commandError(nil); !strings.Contains(err.Error(), "gave no reason") {
		t.Errorf("no error object: %v", err)
	}
}

func TestFamily(t *testing.T) {
	for _, c := range []struct {
		f    Family
		want string
		ok   bool
	}{
		{Family{Apple: 8, Mac: 2, Common: 3, Metal: 3}, "Apple8, Mac2, Metal3", true},
		{Family{Apple: 7, Common: 3}, "Apple7", true},
		{Family{Apple: 5, Common: 2}, "Apple5", false},
		{Family{Common: 3}, "Common3", false},
	} {
		d := &Device{family: c.f, info: metalshim.Info{Name: "GPU"}}
		err := d.Simdgroups()
		var e *FamilyError
		if got := c.f.String(); got != c.want || (err == nil) != c.ok || !c.ok && !errors.As(err, &e) {
			t.Errorf("%+v: %s, %v", c.f, got, err)
		}
	}
}

func TestOpenWithoutMetal(t *testing.T) {
	if runtime.GOOS == "darwin" {
		t.Skip("SKIP: needs a system without Metal")
	}
	_, err := Open(context.Background(), Options{})
	if err == nil || !strings.Contains(err.Error(), EnvStandIn) || !strings.Contains(err.Error(), runtime.GOOS+" has no Metal") {
		t.Errorf("%v", err)
	}
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Open(gone, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestCacheFolder(t *testing.T) {
	dir := t.TempDir()
	f, err := folder(filepath.Join(dir, "absent"))
	if err != nil || f.Files != 0 || f.Bytes != 0 || !f.Changed.IsZero() {
		t.Errorf("absent: %+v, %v", f, err)
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, age := range map[string]time.Duration{"a": time.Hour, "in/b": 0} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, make([]byte, 1<<20), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	f, err = folder(dir)
	if err != nil || f.Files != 2 || f.Bytes != 2<<20 || !f.Changed.Equal(at) {
		t.Errorf("two files: %+v, %v", f, err)
	}
	if want := dir + ": 2 files, 2.10 MB, changed 2026-01-02T03:04:05Z"; f.String() != want {
		t.Errorf("%s, want %s", f, want)
	}
}

func TestBuildNumber(t *testing.T) {
	for text, want := range map[string]string{
		"Version 14.5 (Build 23F79)":    "23F79",
		"Version 15.0 (Build 24A5264n)": "24A5264n",
		"版本14.5（版号23F79）":               "23F79",
		"Version 11.0":                  "",
	} {
		got := ""
		if m := buildAtEnd.FindStringSubmatch(text); m != nil {
			got = m[1]
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// TestClock: a device's time is told on Go's clock, and a stage that was not
// passed has none.
func TestClock(t *testing.T) {
	const ago, slack = time.Minute, 5 * time.Millisecond // two clocks
	before := time.Now()
	at := clock()
	passed := at((uptime() - ago).Seconds())
	if passed.Before(before.Add(-ago-slack)) || passed.After(time.Now().Add(-ago+slack)) {
		t.Errorf("a minute ago was %v ago", time.Since(passed))
	}
	if zero := at(0); !zero.IsZero() {
		t.Errorf("a stage that was not passed was at %v", zero)
	}
}

func TestFactsString(t *testing.T) {
	for _, c := range []struct {
		facts Facts
		want  string
	}{
		{Facts{System: "14.5.0", Build: "23F79", Device: "Apple M2", Family: Family{Apple: 8, Mac: 2, Common: 3, Metal: 3}, Language: "3.1", NoResidency: "this system has none"},
			"macOS 14.5.0 (23F79), Apple M2, Apple8, Mac2, Metal3, MSL 3.1, no residency set: this system has none, thermal state nominal, low power mode off"},
		{Facts{System: "15.1.2", Device: "GPU", Family: Family{Common: 2}, Language: "3.2", Thermal: ThermalSerious, LowPower: true},
			"macOS 15.1.2, GPU, Common2, MSL 3.2, buffers in a residency set, thermal state serious, low power mode on"},
	} {
		if got := c.facts.String(); got != c.want {
			t.Errorf("%s\nwant %s", got, c.want)
		}
	}
}

// Whatever a log is, reading it gives places within it and no more.
func FuzzDiagnostics(f *testing.F) {
	f.Add("program_source:3:5: error: use of undeclared identifier 'flot'\n    flot x;\n    ^\n")
	f.Add(":1:1: error: \nfile:99999999999999999999:1: warning: x\r\n")
	f.Fuzz(func(t *testing.T, log string) {
		for _, d := range diagnostics(log, "real.metal") {
			if d.Line < 0 || d.Column < 0 || d.File == "program_source" || d.File == "" || strings.ContainsAny(d.Message, "\n") || !strings.Contains(log, d.Message) {
				t.Errorf("%+v", d)
			}
		}
	})
}

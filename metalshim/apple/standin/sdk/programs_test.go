//go:build linux && (amd64 || arm64)

package sdk_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/introgen/introgen/metalshim/apple/standin/sdk"
	"github.com/introgen/introgen/metalshim/apple/standin/sdk/sdktest"
)

// limit is how long a program may take; what hangs is ended by it.
const limit = 60 * time.Second

// result is what a program left.
type result struct {
	out, errs string
	err       error
}

func run(t *testing.T, program string, env []string, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	if ctx.Err() != nil {
		err = errors.Join(err, ctx.Err())
	}
	return result{out.String(), errs.String(), err}
}

// good runs a program of testdata that checks itself and says ok.
func good(t *testing.T, name string, env []string, args ...string) {
	t.Helper()
	r := run(t, sdktest.Compile(t, filepath.Join("testdata", name+".c")), env, args...)
	if r.out != "ok\n" || r.err != nil || r.errs != "" {
		t.Errorf("%s: %v\n%s%s", name, r.err, r.out, r.errs)
	}
}

func TestExample(t *testing.T) {
	r := run(t, sdktest.Compile(t, "../../../../examples/metal-c/add.c"), nil)
	if r.out != "999 + 1998 = 2997\n" || r.err != nil || r.errs != "" {
		t.Errorf("%v\n%s%s", r.err, r.out, r.errs)
	}
}

func TestLenient(t *testing.T)  { good(t, "lenient", nil) }
func TestLeaks(t *testing.T)    { good(t, "leaks", nil) }
func TestThreads(t *testing.T)  { good(t, "threads", nil) }
func TestHandlers(t *testing.T) { good(t, "handlers", nil) }
func TestGrowth(t *testing.T)   { good(t, "growth", nil) }
func TestFull(t *testing.T)     { good(t, "full", nil) }
func TestReplaced(t *testing.T) { good(t, "replaced", []string{envDevice + "=idle"}) }
func TestMany(t *testing.T)     { good(t, "many", []string{envDevice + "=idle"}) }

func TestMemory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "weights")
	var b []byte
	for i := range 1 << 14 {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(i)))
	}
	if err := os.WriteFile(file, b, 0o400); err != nil {
		t.Fatal(err)
	}
	good(t, "memory", nil, file)
}

func TestMirrors(t *testing.T) { good(t, "mirrors", nil) }

func TestForks(t *testing.T) {
	good(t, "forks", nil)
	r := run(t, sdktest.Compile(t, "testdata/forks.c"), nil, "inherit")
	const want = "introgen-metal: .*this process was forked from one that uses Metal, and uses objects it has inherited: a child makes a device of its own\n"
	if r.out != "ok\n" || r.err != nil || !regexp.MustCompile("^"+want+"$").MatchString(r.errs) {
		t.Errorf("%v\n%s%s", r.err, r.out, r.errs)
	}
}

func TestLost(t *testing.T) {
	program := sdktest.Compile(t, "testdata/lost.c")
	for _, how := range []string{"early", "late", "killed"} {
		t.Run(how, func(t *testing.T) {
			pid := filepath.Join(t.TempDir(), "pid")
			r := run(t, program, []string{envPID + "=" + pid}, how, pid)
			told := strings.Count(r.errs, "\n")
			if want := map[string]int{"late": 1, "killed": 1}[how]; r.out != "ok\n" || r.err != nil || told != want {
				t.Errorf("%v, %d lines\n%s%s", r.err, told, r.out, r.errs)
			}
		})
	}
}

// What is not there ends the program in one line that names it.
func TestUnknown(t *testing.T) {
	program := sdktest.Compile(t, "testdata/unknown.c")
	for _, c := range []struct{ to, selector, want string }{
		{"object", "newTextureWithNothing", `introgen-metal: unknown selector -\[StandinDevice newTextureWithNothing\]\n`},
		{"object", "newHeapWithDescriptor:", `introgen-metal: unknown selector -\[StandinDevice newHeapWithDescriptor:\]: Metal has it, but this library does not\n`},
		{"class", "frobnicate", `introgen-metal: unknown selector -\[NSString frobnicate\]\n`},
		{"released", "contents", `introgen-metal: contents: use after release of StandinBuffer #\d+\n`},
	} {
		r := run(t, program, []string{envDevice + "=idle"}, c.to, c.selector)
		var exit *exec.ExitError
		if !errors.As(r.err, &exit) || exit.Success() || r.out != "" || !regexp.MustCompile("^"+c.want+"$").MatchString(r.errs) {
			t.Errorf("%s %s: %v %q %q, want %s", c.to, c.selector, r.err, r.out, r.errs, c.want)
		}
	}
}

// Where there is no device, the program is told so, and a line says why.
func TestNoDevice(t *testing.T) {
	program := sdktest.Compile(t, "../../../../examples/metal-c/add.c")
	for server, want := range map[string]string{
		"/nowhere/introgen": "introgen-metal: no device: /nowhere/introgen cannot be run: No such file or directory; introgen sdk puts it there, or INTROGEN_METAL_SERVER names another introgen\n",
		"/bin/true":         "introgen-metal: the device is gone: the process that stood for the GPU has ended, or the program has closed its socket\n",
	} {
		r := run(t, program, []string{"INTROGEN_METAL_SERVER=" + server})
		if r.err == nil || r.out != "" || r.errs != want+"no Metal device: \n" {
			t.Errorf("%s: %v %q %q", server, r.err, r.out, r.errs)
		}
	}
	r := run(t, program, []string{envHello + "=77"})
	if want := "introgen-metal: no device: the introgen beside this library speaks version 77 of their messages, the library version 1; write the SDK again: introgen sdk DIR\nno Metal device: \n"; r.err == nil || r.errs != want {
		t.Errorf("%v %q", r.err, r.errs)
	}
	r = run(t, program, []string{"INTROGEN_CLANG=/nowhere/clang"})
	if r.err == nil || !strings.HasPrefix(r.errs, "introgen-metal: no device: clang: INTROGEN_CLANG=/nowhere/clang cannot be run") {
		t.Errorf("%v %q", r.err, r.errs)
	}
}

// gone waits until a process has ended.
func gone(pid int) bool {
	for range 400 {
		if state, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat")); err != nil || bytes.Contains(state, []byte(") Z ")) {
			return true
		}
		time.Sleep(5 * time.Millisecond)
	}
	return false
}

// An interrupt of the whole group does not end the device; the program's end does.
func TestSignals(t *testing.T) {
	program := sdktest.Compile(t, "testdata/signals.c")
	file := filepath.Join(t.TempDir(), "pid")
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, program)
	cmd.Env = append(os.Environ(), envPID+"="+file)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 6)
	if _, err := out.Read(line); err != nil || string(line) != "ready\n" {
		t.Fatalf("%v %q %s", err, line, &errs)
	}
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if n, err := out.Read(line); err != nil || string(line[:n]) != "ok\n" {
		t.Errorf("%v %q %s", err, line, &errs)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(string(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil { // it is there, and stays
		t.Error(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = cmd.Wait() // it was killed
	if !gone(pid) {
		t.Error("the device lives on")
	}
}

func TestWriteAgain(t *testing.T) {
	dir, err := sdktest.Folder()
	if err != nil {
		t.Skipf("SKIP: needs a C compiler: %v", err)
	}
	if err := sdk.Write(t.Context(), dir, os.Args[0]); err != nil {
		t.Error(err)
	}
	for _, name := range append([]string{"libintrogen-metal.so"}, sdk.Names...) {
		if st, err := os.Stat(filepath.Join(dir, "lib", name)); err != nil || st.Size() < 10000 {
			t.Errorf("%s: %v", name, err)
		}
	}
	config, err := os.ReadFile(filepath.Join(dir, "cargo", "config.toml"))
	if err != nil || !bytes.Contains(config, []byte("link-arg=-Wl,-rpath,"+dir)) {
		t.Errorf("%v\n%s", err, config)
	}
}

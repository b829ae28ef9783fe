package lanes

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// testClang returns clang 19, or skips.
func testClang(t testing.TB) string {
	t.Helper()
	for _, c := range []string{os.Getenv("INTROGEN_CLANG"), "clang-19", "clang"} {
		if c == "" {
			continue
		}
		out, err := exec.Command(c, "--version").Output()
		if err == nil && strings.Contains(string(out), "clang version 19.") {
			return c
		}
	}
	t.Skip("SKIP: needs clang 19 as $INTROGEN_CLANG, clang-19 or clang; kernels are not run")
	return ""
}

// languageFlags compile a one-lane kernel, with LaneFlags.
var languageFlags = strings.Fields(`-std=c++17 -x c++ -S -emit-llvm -march=native -fPIC -fvisibility=hidden
	-fno-exceptions -fno-rtti -fno-math-errno -fno-trapping-math -fno-signed-zeros -freciprocal-math
	-fno-strict-float-cast-overflow -Xclang -ffloat16-excess-precision=none -Xclang -fbfloat16-excess-precision=none -ffp-contract=fast -fno-strict-aliasing -fno-stack-protector -Wno-everything`)

// run starts clang under a time limit with stdin and returns its output.
func clangRun(t testing.TB, stdin string, args ...string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, testClang(t), args...)
	cmd.Stdin = strings.NewReader(stdin)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("clang %s: %v\n%s", strings.Join(args, " "), err, errs.String())
	}
	return out
}

// oneLane compiles a kernel's C++ to one-lane IR.
func oneLane(t testing.TB, src string) string {
	t.Helper()
	h, err := os.ReadFile("testdata/kernel.h")
	if err != nil {
		t.Fatal(err)
	}
	return string(clangRun(t, Header+string(h)+src, append(append(slices.Clone(languageFlags), LaneFlags...), "-", "-o", "-")...))
}

var runner struct {
	once sync.Once
	obj  string
}

// runnerObject compiles testdata/runner.c once a test run.
func runnerObject(t testing.TB) string {
	t.Helper()
	testClang(t)
	runner.once.Do(func() {
		dir, err := os.MkdirTemp("", "lanes")
		if err != nil {
			t.Fatal(err)
		}
		runner.obj = filepath.Join(dir, "runner.o")
		clangRun(t, "", "-O1", "-c", "testdata/runner.c", "-o", runner.obj)
	})
	if runner.obj == "" {
		t.Fatal("the runner did not compile")
	}
	return runner.obj
}

func TestMain(m *testing.M) {
	code := m.Run()
	if runner.obj != "" {
		os.RemoveAll(filepath.Dir(runner.obj))
	}
	os.Exit(code)
}

// Transform reads a kernel and makes its simdgroup function.
func Transform(text string, o Options) (string, error) {
	k, err := Read(text)
	if err != nil {
		return "", err
	}
	return k.Transform(o)
}

// program is a transformed kernel with the runner, ready to run.
type program string

// build transforms IR and links it, for this machine unless march says another.
func build(t testing.TB, ir string, o Options, march ...string) program {
	t.Helper()
	out, err := Transform(ir, o)
	if err != nil {
		t.Fatal(err)
	}
	return link(t, out, march...)
}

// link makes a program of a transformed kernel.
func link(t testing.TB, out string, march ...string) program {
	t.Helper()
	dir := t.TempDir()
	ll, exe := filepath.Join(dir, "k.ll"), filepath.Join(dir, "k")
	if err := os.WriteFile(ll, []byte(out), 0o600); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"-march=native", "-no-pie"}, march...)
	args = append(args, slices.DeleteFunc(slices.Clone(Flags), func(f string) bool { return f == "-x" || f == "ir" || f == "-fPIC" })...)
	args = append(args, Scheduling(out)...)
	args = append(args, "-x", "ir", ll, "-x", "none", runnerObject(t), "-lm", "-o", exe)
	clangRun(t, "", args...)
	return program(exe)
}

// dispatch is one run: threads of a threadgroup, threadgroups, and buffers in
// and out.
type dispatch struct {
	tgd, ntg [3]uint32
	stop     bool
	bufs     []any // slices of fixed-size numbers, overwritten by the run
}

// run runs the kernel and fills the buffers. It reports whether the kernel was
// stopped by the flag.
func (p program) run(t testing.TB, d dispatch) (stopped bool) {
	t.Helper()
	for i := range d.ntg {
		d.tgd[i], d.ntg[i] = max(d.tgd[i], 1), max(d.ntg[i], 1)
	}
	var in bytes.Buffer
	put := func(v any) {
		if err := binary.Write(&in, binary.LittleEndian, v); err != nil {
			t.Fatal(err)
		}
	}
	put(d.tgd)
	put(d.ntg)
	put(map[bool]uint32{true: 1}[d.stop])
	put(uint32(len(d.bufs)))
	for _, b := range d.bufs {
		put(uint32(binary.Size(b)))
		put(b)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, string(p))
	cmd.Stdin = &in
	out, err := cmd.Output()
	if e, ok := err.(*exec.ExitError); ok && e.ExitCode() == 9 {
		stopped, err = true, nil
	}
	if err != nil {
		t.Fatalf("kernel: %v", err)
	}
	r := bytes.NewReader(out)
	for _, b := range d.bufs {
		if err := binary.Read(r, binary.LittleEndian, b); err != nil {
			t.Fatal(err)
		}
	}
	return stopped
}

// forms runs a test on a kernel's masked form and on its fast one.
func forms(t *testing.T, src string, test func(t *testing.T, p program)) {
	t.Helper()
	ir := oneLane(t, src)
	for _, o := range []Options{{Scalar: true}, {}} {
		t.Run(fmt.Sprintf("scalar=%v", o.Scalar), func(t *testing.T) { test(t, build(t, ir, o)) })
	}
}

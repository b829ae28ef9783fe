//go:build linux && (amd64 || arm64)

package code_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/introgen/introgen/metalshim/soft/clang"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/compileplan"
	"github.com/introgen/introgen/results/recording"
)

// The pages run as programs against the stand-in of Metal, and what `introgen record`
// sees of them is the plan that they were made of, with what is made beside each other.

const root = "../../.."

func TestMain(m *testing.M) {
	os.Setenv("INTROGEN_KEEP", "0") // the recordings here are nobody's
	os.Exit(m.Run())
}

// done runs a command and returns what it wrote to stdout.
func done(t *testing.T, env []string, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.WaitDelay = time.Second
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		if unreachable.MatchString(errs.String()) {
			t.Skipf("SKIP: needs the crates' registry: %s", errs.String())
		}
		t.Fatalf("%s: %v\n%s%s", name, err, out.String(), errs.String())
	}
	return out.String()
}

// unreachable is what Cargo says where the registry does not answer.
var unreachable = regexp.MustCompile(`(?i)failed to (download|fetch) |could not resolve host|spurious network error|unable to update registry|you may be in offline mode`)

// sdk is a folder with the stand-in, and the introgen that wrote it.
func sdk(t *testing.T) (dir, introgen string) {
	t.Helper()
	if testing.Short() {
		t.Skip("SKIP: needs time to build")
	}
	introgen, err := filepath.Abs(root + "/bin/introgen")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(introgen); err != nil {
		t.Skip("SKIP: needs bin/introgen: make setup")
	}
	if _, err := clang.Find(t.Context()); err != nil {
		t.Skipf("SKIP: needs clang 19: %v", err)
	}
	dir = filepath.Join(t.TempDir(), "sdk")
	done(t, nil, introgen, "sdk", dir)
	return dir, introgen
}

// sources is a folder with the sources of the plan's libraries, of which one is missing
// and one does not compile.
func sources(t *testing.T, p *compileplan.Plan, missing, broken int) string {
	t.Helper()
	dir := t.TempDir()
	for i := range p.Libraries {
		text := source
		if i == broken {
			text = "kernel void special( {"
		}
		if i == missing {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, strconv.Itoa(i)), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestRust builds the page with the crates that candle stands on, and runs it.
func TestRust(t *testing.T) {
	dir, introgen := sdk(t)
	if err := exec.CommandContext(t.Context(), "cargo", "--version").Run(); err != nil {
		t.Skipf("SKIP: needs cargo: %v", err)
	}
	p := hostile()
	crate := filepath.Join(t.TempDir(), "warm-up")
	if err := os.CopyFS(crate, os.DirFS("testdata/crate")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(crate, "src", "warm_up.rs"), written(t, "rust", p), 0o644); err != nil {
		t.Fatal(err)
	}
	program := strings.TrimSpace(done(t, []string{"METAL_SDK=" + dir}, root+"/scripts/metal-crate", crate, "debug"))
	check(t, introgen, program, p)
}

// TestCpp builds the page with metal-cpp, and runs it.
func TestCpp(t *testing.T) {
	dir, introgen := sdk(t)
	headers, err := exec.CommandContext(t.Context(), root+"/scripts/metal-cpp").Output()
	if err != nil {
		t.Skip("SKIP: needs metal-cpp: scripts/metal-cpp brings it")
	}
	compiler := ""
	for _, name := range []string{"clang++-19", "clang++"} {
		if path, err := exec.LookPath(name); err == nil && compiler == "" {
			compiler = path
		}
	}
	if compiler == "" {
		t.Skip("SKIP: needs clang++")
	}
	p := hostile()
	work := t.TempDir()
	if err := os.CopyFS(work, os.DirFS("testdata/cpp")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(work, "warm_up.cpp"), written(t, "cpp", p), 0o644); err != nil {
		t.Fatal(err)
	}
	in := func(name string) string { return filepath.Join(work, name) }
	done(t, nil, compiler, "-x", "c", "-c", in("observers.c"), "-o", in("observers.o"))
	done(t, nil, compiler, "-std=c++17", "-Wall", "-Wextra", "-Werror", "-fblocks", "-I"+in("apple"), "-isystem", dir+"/include", "-isystem", strings.TrimSpace(string(headers)),
		in("main.cpp"), in("observers.o"), "-o", in("warm-up"), "-L"+dir+"/lib", "-lMetal", "-lobjc", "-lFoundation", "-lBlocksRuntime", "-Wl,-rpath,"+dir+"/lib")
	check(t, introgen, in("warm-up"), p)
}

// check runs a program that was built with a page, and holds what it made to the plan.
func check(t *testing.T, introgen, program string, p *compileplan.Plan) {
	t.Helper()
	cache := "INTROGEN_CACHE=" + t.TempDir()
	file := filepath.Join(t.TempDir(), "run"+recording.Ending)
	out := done(t, []string{cache}, introgen, "record", "-o", file, "--", program, sources(t, p, -1, -1))
	var want strings.Builder
	for _, l := range p.Libraries {
		fmt.Fprintln(&want, l.Name)
	}
	for _, r := range p.Order() {
		l := p.Libraries[r.Library]
		fmt.Fprintln(&want, l.Name, l.Pipelines[r.Pipeline].Function, 32)
	}
	want.WriteString("ok\n")
	if out != want.String() {
		t.Errorf("it made\n%s\nwant\n%s", out, want.String())
	}
	f, err := recording.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	run, err := compileplan.Run(breakdown.Of(f))
	if err != nil {
		t.Fatal(err)
	}
	again, err := compileplan.Of(run)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := exactly(again), exactly(p); !reflect.DeepEqual(got, want) {
		t.Errorf("recorded was %v, want %v", got, want)
	}
	beside := 0
	var end time.Duration
	for _, c := range run.Metal().Libraries { // in the order of their begin
		if c.Start < end {
			beside++
		}
		end = max(end, c.Start+c.Time)
	}
	if beside < len(p.Libraries)/2 {
		t.Errorf("%d of %d libraries were made beside another", beside, len(p.Libraries))
	}

	out = done(t, []string{cache}, program, sources(t, p, 1, 2))
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	said := strings.Join(lines[len(lines)-1:], "")
	if !strings.HasPrefix(said, "first: ") || !strings.Contains(said, "there is no source of") {
		t.Errorf("without a source it ends with %q", said)
	}
	if !strings.Contains(out, "program_source") && !strings.Contains(out, "error") {
		t.Errorf("it does not say that a source does not compile:\n%s", out)
	}
}

// exactly are the pipelines of a plan by library, function and bits, sorted by library.
func exactly(p *compileplan.Plan) map[string]int {
	out := map[string]int{}
	for _, l := range p.Libraries {
		for _, x := range l.Pipelines {
			out[fmt.Sprintf("%q %s %v", l.Name, x.Function, x.Constants)]++
		}
	}
	return out
}

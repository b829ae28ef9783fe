//go:build linux && (amd64 || arm64)

package resident

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/introgen/introgen/metalshim/soft/clang"
	"golang.org/x/sys/unix"
)

// compilers are the machine's, resident.
func compilers(t *testing.T) *Compilers {
	t.Helper()
	tools, err := clang.Find(t.Context())
	if err != nil {
		t.Skipf("SKIP: needs clang: %v", err)
	}
	c := New(tools, func(ctx context.Context) ([]byte, error) { return Compile(ctx, tools) })
	t.Cleanup(c.Close)
	err = c.Try(t.Context())
	if errors.Is(err, ErrStatic) || errors.Is(err, ErrScript) {
		t.Skipf("SKIP: needs a clang that takes a preload: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// stage is a compiler run on text.
func stage(c *Compilers, text string, args ...string) Command {
	argv := append(append([]string{}, c.tools.Compiler...), "--no-default-config", "-fno-crash-diagnostics")
	return Command{Command: clang.Command{Argv: append(append(argv, args...), "-o", "-", "-"), Stdin: []byte(text), Limit: time.Minute}}
}

// process runs the command as a process.
func process(t *testing.T, cmd Command) (clang.Output, error) {
	t.Helper()
	var none Compilers
	return none.Run(t.Context(), cmd)
}

func file(t *testing.T, content []byte) *os.File {
	t.Helper()
	f, err := memory(content)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// address is where code lies, which the system chooses anew for each process.
var address = regexp.MustCompile(`0x[0-9a-f]{12,}`)

// equal runs the command as a process and, several times, in a resident compiler.
func equal(t *testing.T, c *Compilers, name string, cmd Command) clang.Output {
	t.Helper()
	want, wrong := process(t, cmd)
	for range 3 {
		got, done, err := c.resident(t.Context(), cmd)
		if !done {
			t.Fatalf("%s: not run in a resident compiler: %v", name, err)
		}
		said, says := address.ReplaceAllString(string(got.Stderr), "0x"), address.ReplaceAllString(string(want.Stderr), "0x")
		if fmt.Sprint(err) != fmt.Sprint(wrong) || !bytes.Equal(got.Stdout, want.Stdout) || said != says {
			t.Errorf("%s: %d bytes, %.300q, %v; a process writes %d bytes, %.300q, %v", name, len(got.Stdout), said, err, len(want.Stdout), says, wrong)
		}
	}
	return want
}

// TestEqual: every stage gives what a process gives: output, messages, exit code.
func TestEqual(t *testing.T) {
	c := compilers(t)
	overlay := `{"version":0,"redirecting-with":"redirect-only","roots":[{"type":"directory","name":"/m","contents":[{"type":"file","name":"a.h","external-contents":"/proc/self/fd/4"}]}]}`
	same := []*os.File{file(t, []byte(overlay)), file(t, []byte("#define A 42\n"))}
	for i, text := range []string{"#include <a.h>\nint x = A;\n", "int y;\n", "#include <b.h>\n", "#error no\n", ""} {
		cmd := stage(c, text, "-ivfsoverlay", clang.FilePath(0), "-isystem", "/m", "-E", "-nostdinc", "-x", "c++")
		cmd.Same = same
		out := equal(t, c, fmt.Sprint("preprocess ", i), cmd)
		if i == 0 && !strings.Contains(string(out.Stdout), "int x = 42;") {
			t.Errorf("%s", out.Stdout)
		}
	}
	// Files of the same path and another content.
	cmd := stage(c, "#include <a.h>\nint x = A;\n", "-ivfsoverlay", clang.FilePath(0), "-isystem", "/m", "-E", "-nostdinc", "-x", "c++")
	cmd.Same = []*os.File{same[0], file(t, []byte("#define A 43\n"))}
	if out := equal(t, c, "preprocess anew", cmd); !strings.Contains(string(out.Stdout), "int x = 43;") {
		t.Errorf("%s", out.Stdout)
	}
	library := "template <class T> T twice(T a) { return a + a; }\nextern \"C\" int two(int a) { return twice(a); }\n"
	bits := equal(t, c, "bitcode", stage(c, library, "-x", "c++", "-O2", "-Xclang", "-disable-llvm-passes", "-emit-llvm", "-c")).Stdout
	other := equal(t, c, "bitcode", stage(c, strings.Replace(library, "a + a", "a - a", 1), "-x", "c++", "-O2", "-Xclang", "-disable-llvm-passes", "-emit-llvm", "-c")).Stdout
	for i, b := range [][]byte{bits, other, []byte("no bitcode")} {
		cmd := stage(c, "extern \"C\" { int two(int); int four(int a) { return two(two(a)); } }", "-x", "c++", "-O2", "-S", "-emit-llvm",
			"-Xclang", "-mlink-builtin-bitcode", "-Xclang", clang.FilePath(0))
		cmd.Files = []*os.File{file(t, b)}
		equal(t, c, fmt.Sprint("link ", i), cmd)
	}
	ir := "define i32 @f(i32 %a) {\n  %b = mul i32 %a, %a\n  ret i32 %b\n}\n"
	equal(t, c, "object", stage(c, ir, "-x", "ir", "-O2", "-fPIC", "-march=native", "-Wno-override-module", "-c"))
	// A header that is looked for before the source is read, and read after.
	pch := equal(t, c, "header", stage(c, "inline int three() { return 3; }\n", "-x", "c++-header", "-O2", "-Xclang", "-emit-pch")).Stdout
	cmd = stage(c, "int six() { return three() + three(); }\n", "-x", "c++", "-include-pch", clang.FilePath(0), "-O2", "-S")
	cmd.Same = []*os.File{file(t, pch)}
	if out := equal(t, c, "precompiled header", cmd); !strings.Contains(string(out.Stdout), "six") {
		t.Errorf("%s", out.Stdout)
	}
	equal(t, c, "no IR", stage(c, "define", "-x", "ir", "-O2", "-c"))
	equal(t, c, "assembly", stage(c, ir, "-x", "ir", "-S"))
	equal(t, c, "warning", stage(c, "int f() { return 1 / 0; }", "-x", "c++", "-Wall", "-c"))
	equal(t, c, "unknown argument", stage(c, "int x;", "-x", "c++", "-fsyntax-only"))
	equal(t, c, "crash", stage(c, "#pragma clang __debug crash\n", "-x", "c++", "-c"))
	equal(t, c, "trap", stage(c, "#pragma clang __debug llvm_fatal_error\n", "-x", "c++", "-c"))
}

const endless = "constexpr long f(long n) { long s = 0; for (long i = 0; i < n; i++) s += i % 7; return s; }\nconstexpr long x = f(1l << 40);\n"

// slow is a command that computes for hours.
func slow(c *Compilers) Command {
	return stage(c, endless, "-x", "c++", "-std=c++17", "-fsyntax-only", "-fconstexpr-steps=2147483647")
}

// descendants are the processes below this one, by /proc.
func descendants(t *testing.T, of int) (out []int) {
	t.Helper()
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", of))
	for _, path := range tasks {
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		for _, word := range strings.Fields(string(text)) {
			var pid int
			fmt.Sscan(word, &pid)
			out = append(append(out, pid), descendants(t, pid)...)
		}
	}
	return out
}

// gone waits until none of the processes is left, not as a zombie either.
func gone(t *testing.T, pids []int) {
	t.Helper()
	var left []int
	for range 500 {
		left = left[:0]
		for _, pid := range pids {
			if syscall.Kill(pid, 0) == nil {
				left = append(left, pid)
			}
		}
		if len(left) == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%v are left of %v", left, pids)
}

// TestStopped: a run that is cancelled or takes too long is killed, and the
// server goes on.
func TestStopped(t *testing.T) {
	c := compilers(t)
	before := descendants(t, os.Getpid())
	cmd := slow(c)
	cmd.Limit = 300 * time.Millisecond
	_, done, err := c.resident(t.Context(), cmd)
	_, process := process(t, cmd)
	if !done || !errors.Is(err, clang.ErrLimit) || err.Error() != process.Error() {
		t.Errorf("limit: %t, %v; a process: %v", done, err, process)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	cmd.Limit = time.Minute
	if _, done, err := c.resident(ctx, cmd); !done || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("cancelled: %t, %v", done, err)
	}
	if _, _, err := c.resident(ctx, cmd); err != nil {
		t.Errorf("cancelled before: %v", err)
	}
	// The server of these arguments is the only one that stays.
	if after := descendants(t, os.Getpid()); len(after) != len(before)+1 {
		t.Errorf("processes: %v, before %v", after, before)
	}
	short := cmd
	short.Stdin = []byte("int x;")
	equal(t, c, "after that", short)
	pids := descendants(t, os.Getpid())
	c.Close()
	gone(t, pids)
	if out, err := c.Run(t.Context(), short); err != nil || len(out.Stdout) > 0 {
		t.Errorf("a process after Close: %v", err)
	}
	if _, done, err := c.resident(t.Context(), short); done || !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %t, %v", done, err)
	}
}

// TestAtOnce: many at once, more than one server, none waits for another.
func TestAtOnce(t *testing.T) {
	c := compilers(t)
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			if _, err := c.Run(ctx, slow(c)); !errors.Is(err, context.Canceled) {
				t.Errorf("slow: %v", err)
			}
		})
	}
	for i := range 16 {
		all.Go(func() {
			text := fmt.Sprintf("int f%d() { return %d; }", i, i)
			cmd := stage(c, text, "-x", "c++", fmt.Sprintf("-O%d", i%3), "-S")
			want, err := process(t, cmd)
			if err != nil {
				t.Error(err)
			}
			for range 3 {
				got, done, err := c.resident(t.Context(), cmd)
				if !done || err != nil || !bytes.Equal(got.Stdout, want.Stdout) {
					t.Errorf("%d: %t, %v, %q, not %q", i, done, err, got.Stdout, want.Stdout)
				}
			}
		})
	}
	time.Sleep(500 * time.Millisecond)
	cancel()
	all.Wait()
}

// TestManyArguments: more argument lists than servers are kept.
func TestManyArguments(t *testing.T) {
	c := compilers(t)
	for i := range maxServers + 3 {
		equal(t, c, fmt.Sprint(i), stage(c, "int x = N;", "-x", "c++", fmt.Sprintf("-DN=%d", i), "-S"))
	}
	r, err := c.started(t.Context())
	if err != nil || len(r.servers) != maxServers {
		t.Errorf("%d servers, %v", len(r.servers), err)
	}
	long := stage(c, "int x;", "-x", "c++", "-DN="+strings.Repeat("x", maxMessage), "-S")
	if _, done, _ := c.resident(t.Context(), long); done {
		t.Error("arguments longer than a message were sent")
	}
	if _, err := c.Run(t.Context(), long); err != nil {
		t.Error(err)
	}
}

// TestDeaths: whatever dies, a process takes its place, and it is started once
// more.
func TestDeaths(t *testing.T) {
	for _, what := range []string{"server", "root"} {
		c := compilers(t)
		cmd := stage(c, "int x;", "-x", "c++", "-S")
		for range starts {
			// The dead are noticed one by one.
			for range 3 {
				if _, done, _ := c.resident(t.Context(), cmd); done {
					break
				}
			}
			out := equal(t, c, what, cmd)
			victims := descendants(t, os.Getpid())
			if len(victims) != 2 {
				t.Fatalf("processes: %v", victims)
			}
			if what == "server" {
				victims = victims[1:]
			}
			syscall.Kill(victims[0], syscall.SIGKILL)
			gone(t, victims)
			if again, err := c.Run(t.Context(), cmd); err != nil || !bytes.Equal(again.Stdout, out.Stdout) {
				t.Errorf("after the death of the %s: %v", what, err)
			}
		}
		if _, done, _ := c.resident(t.Context(), cmd); done {
			t.Errorf("the %s was started a third time", what)
		}
		if again, err := c.Run(t.Context(), cmd); err != nil || len(again.Stdout) == 0 {
			t.Errorf("after two deaths of the %s: %v", what, err)
		}
		c.Close()
	}
	// While something runs.
	c := compilers(t)
	go func() {
		for range 1000 {
			if all := descendants(t, os.Getpid()); len(all) == 3 {
				syscall.Kill(all[1], syscall.SIGKILL)
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
	}()
	if _, done, err := c.resident(t.Context(), slow(c)); done || !errors.Is(err, errLost) {
		t.Errorf("the server was killed: %t, %v", done, err)
	}
	for range 500 {
		if len(descendants(t, os.Getpid())) == 1 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("the child outlives its server: %v", descendants(t, os.Getpid()))
}

// TestParentKilled: nothing outlives the process that asked for it.
func TestParentKilled(t *testing.T) {
	if os.Getenv("RESIDENT_TEST_CHILD") != "" {
		c := compilers(t)
		go c.Run(t.Context(), slow(c))
		for range 1000 {
			if all := descendants(t, os.Getpid()); len(all) == 3 {
				fmt.Println("running", all)
				time.Sleep(time.Minute)
			}
			time.Sleep(5 * time.Millisecond)
		}
		t.Fatal("nothing runs")
	}
	compilers(t).Close() // skips where there is none
	cmd := exec.Command(os.Args[0], "-test.run=^TestParentKilled$")
	cmd.Env = append(os.Environ(), "RESIDENT_TEST_CHILD=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var a, b, d int
	_, err = fmt.Fscanf(out, "running [%d %d %d]", &a, &b, &d)
	cmd.Process.Kill()
	io.Copy(io.Discard, out)
	cmd.Wait()
	if err != nil {
		t.Fatal(err)
	}
	gone(t, []int{a, b, d})
}

// TestFullTable: where no more files can be opened nothing hangs, and all is well
// when there is room again.
func TestFullTable(t *testing.T) {
	c := compilers(t)
	cmd := stage(c, "int x;", "-x", "c++", "-S")
	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	var taken []*os.File
	small := before
	small.Cur = 64
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &small); err != nil {
		t.Fatal(err)
	}
	for {
		f, err := os.Open("/dev/null")
		if err != nil {
			break
		}
		taken = append(taken, f)
	}
	for free := range 8 {
		if _, done, err := c.resident(t.Context(), cmd); done && err != nil {
			t.Errorf("%d descriptors are free: %v", free, err)
		}
		taken[free].Close()
	}
	for _, f := range taken[8:] {
		f.Close()
	}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Run(t.Context(), cmd); err != nil {
		t.Error(err)
	}
}

// TestSealed: a resident compiler sees no variable of this process but the sealed
// ones, and lies in the folder of the others.
func TestSealed(t *testing.T) {
	t.Setenv("CPATH", "/seen")
	c := compilers(t)
	equal(t, c, "one", stage(c, "int x;", "-x", "c++", "-S"))
	for _, pid := range descendants(t, os.Getpid()) {
		dir, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid))
		if err != nil || dir != "/" {
			t.Errorf("it runs in %s, %v", dir, err)
		}
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if err != nil || strings.Contains(string(text), "CPATH") {
			t.Errorf("it was started with %q, %v", text, err)
		}
		// Its own are all but what this process has inherited and hands on.
		var own []string
		for range 100 {
			own = own[:0]
			fds, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range fds {
				to, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/%s", pid, f.Name()))
				ours, _ := os.Readlink("/proc/self/fd/" + f.Name())
				if to != ours {
					own = append(own, f.Name()+": "+to)
				}
			}
			if len(own) <= 4 { // the last run's socket may be about to be closed
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if len(own) > 4 {
			t.Errorf("it holds %q", own)
		}
	}
}

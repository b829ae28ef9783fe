//go:build unix

package clang

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// script writes an executable shell script and returns its path.
func script(t *testing.T, dir, name, body string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func says(version string) string {
	return "echo '" + version + "'"
}

func TestFindNamed(t *testing.T) {
	dir := t.TempDir()
	lld := script(t, dir, "ld.lld", "exit 1")
	good := script(t, dir, "good", says("Debian clang version 19.1.7 (3~deb12u1)"))
	for _, c := range []struct {
		name, path string
		is         error
		want       string
	}{
		{"absent", filepath.Join(dir, "none"), os.ErrNotExist, "none"},
		{"older", script(t, dir, "older", says("clang version 18.1.3")), ErrVersion, "clang version 18.1.3, clang 19 is needed"},
		{"newer", script(t, dir, "newer", says("clang version 20.0.0")), ErrVersion, "20.0.0"},
		{"apple", script(t, dir, "apple", says("Apple clang version 19.0.0 (clang-1900)")), ErrVersion, "Apple's clang"},
		{"no clang", script(t, dir, "cat", "echo gcc 12"), ErrVersion, "does not answer as clang does"},
		{"fails", script(t, dir, "fails", "exit 3"), nil, "exit code 3"},
		{"libraries", script(t, dir, "lost", "[ -n \"$LD_LIBRARY_PATH\" ] || { echo 'clang: error while loading shared libraries: libLLVM.so' >&2; exit 127; }"),
			nil, "exit code 127: clang: error while loading shared libraries: libLLVM.so (a compiler is started without LD_LIBRARY_PATH"},
		{"killed", script(t, dir, "killed", "kill -9 $$"), ErrKilled, "killed"},
	} {
		t.Setenv(EnvPath, c.path)
		tools, err := Find(context.Background())
		if err == nil {
			err = tools.Identify(context.Background())
		}
		var e *Error
		if !errors.As(err, &e) || c.is != nil && !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "apt-get install clang-19 lld-19") {
			t.Errorf("%s: %v, want %q and what to install", c.name, err, c.want)
		}
	}
	t.Setenv(EnvPath, good)
	tools, err := Find(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if err := tools.Identify(context.Background()); err != nil || tools.Version != "19.1.7" {
		t.Errorf("version %q, error %v", tools.Version, err)
	}
	if !reflect.DeepEqual(tools.Linker, []string{lld}) {
		t.Errorf("linker %v, want the one beside", tools.Linker)
	}
	stamp := tools.Stamp
	script(t, dir, "good", says("clang version 19.1.8"))
	if tools, err := Find(context.Background()); err != nil || tools.Stamp == stamp {
		t.Errorf("another executable has the same stamp %q, error %v", stamp, err)
	}
}

// Without a name: clang-19, then clang of version 19, then ziglang.
func TestFindOnPath(t *testing.T) {
	t.Setenv(EnvPath, "")
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	ctx := context.Background()
	if _, err := Find(ctx); !errors.Is(err, ErrAbsent) || !strings.Contains(err.Error(), "ziglang==0.14.1") {
		t.Errorf("nothing there: %v", err)
	}
	script(t, dir, "clang", says("clang version 19.1.7"))
	if _, err := Find(ctx); !errors.Is(err, ErrAbsent) || !strings.Contains(err.Error(), "no linker ld.lld") {
		t.Errorf("a clang without lld: %v", err)
	}
	lld := script(t, dir, "ld.lld-19", "exit 1")
	script(t, dir, "clang", says("clang version 14.0.6"))
	if _, err := Find(ctx); !errors.Is(err, ErrVersion) || !strings.Contains(err.Error(), "14.0.6") {
		t.Errorf("an old clang: %v", err)
	}
	zig := script(t, dir, "zig", says("clang version 19.1.7 (zig)"))
	script(t, dir, "python3", "echo "+zig)
	tools, err := Find(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{zig, "clang"}; !reflect.DeepEqual(tools.Compiler, want) || !reflect.DeepEqual(tools.Linker, []string{zig, "ld.lld"}) {
		t.Errorf("compiler %v, linker %v, want zig's", tools.Compiler, tools.Linker)
	}
	clang := script(t, dir, "clang", says("clang version 19.1.0"))
	if tools, err := Find(ctx); err != nil || tools.Compiler[0] != clang || tools.Version != "19.1.0" {
		t.Errorf("a clang 19: %+v, %v", tools, err)
	}
	first := script(t, dir, "clang-19", "exit 1")
	if tools, err := Find(ctx); err != nil || tools.Compiler[0] != first || !reflect.DeepEqual(tools.Linker, []string{lld}) {
		t.Errorf("clang-19: %+v, %v", tools, err)
	}
}

// gone waits until a process has ended; a zombie has.
func gone(pid int) bool {
	for range 100 {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil && syscall.Kill(pid, 0) != nil {
			return true
		}
		if _, after, ok := strings.Cut(string(stat), ") "); ok && after[0] == 'Z' {
			return true
		}
		time.Sleep(10 * time.Millisecond)
	}
	return false
}

// A compiler that hangs is killed with everything it has started.
func TestRunKillsGroup(t *testing.T) {
	dir := t.TempDir()
	for _, how := range []string{"limit", "cancel"} {
		pidFile := filepath.Join(dir, how)
		hang := script(t, dir, "hang-"+how, "sleep 100 & echo $! > "+pidFile+".part; mv "+pidFile+".part "+pidFile+"; wait")
		ctx, cancel := context.WithCancel(context.Background())
		c := Command{Argv: []string{hang}}
		if how == "limit" {
			c.Limit = 300 * time.Millisecond
		}
		go func() {
			for how == "cancel" {
				if _, err := os.Stat(pidFile); err == nil {
					cancel()
					return
				}
				time.Sleep(5 * time.Millisecond)
			}
		}()
		begun := time.Now()
		_, err := Run(ctx, c)
		cancel()
		if how == "limit" && !errors.Is(err, ErrLimit) || how == "cancel" && !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v", how, err)
		}
		if took := time.Since(begun); took > 20*time.Second {
			t.Errorf("%s: it took %v", how, took)
		}
		text, err := os.ReadFile(pidFile)
		if err != nil {
			t.Skipf("SKIP: needs a machine on which a shell starts within %v", c.Limit)
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil {
			t.Fatal(err)
		}
		if !gone(pid) {
			t.Errorf("%s: the grandchild %d still runs", how, pid)
		}
	}
}

func TestRunOutput(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte(" and more"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	both := script(t, dir, "both", "cat; cat "+FilePath(0)+"; echo oh >&2; exit 7")
	out, err := Run(context.Background(), Command{Argv: []string{both}, Stdin: []byte("in"), Files: []*os.File{f}})
	var exit *ExitError
	if !errors.As(err, &exit) || exit.Code != 7 || exit.Stderr != "oh\n" || string(out.Stdout) != "in and more" {
		t.Errorf("out %q, error %v", out.Stdout, err)
	}
	if _, err := Run(context.Background(), Command{Argv: []string{filepath.Join(dir, "none")}}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no such program: %v", err)
	}
}

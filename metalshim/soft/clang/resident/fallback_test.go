//go:build linux && (amd64 || arm64)

package resident

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/introgen/introgen/metalshim/soft/clang"
	"golang.org/x/sys/unix"
)

// found is what Find finds where path names the compiler.
func found(t *testing.T, path string) *Compilers {
	t.Helper()
	t.Setenv(clang.EnvPath, path)
	tools, err := clang.Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c := New(tools, func(ctx context.Context) ([]byte, error) { return Compile(ctx, tools) })
	t.Cleanup(c.Close)
	return c
}

// TestProcessInstead: a script is not made resident, nor is what is closed or was
// never opened, and a process runs. It finds its files.
func TestProcessInstead(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"clang-19": "cat " + clang.FilePath(0) + " " + clang.FilePath(1) + " -", "ld.lld": "exit 1"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	c := found(t, filepath.Join(dir, "clang-19"))
	if err := c.Try(t.Context()); !errors.Is(err, ErrScript) {
		t.Errorf("a script: %v", err)
	}
	cmd := Command{Same: []*os.File{file(t, []byte("same "))}, Command: clang.Command{Argv: c.tools.Compiler, Stdin: []byte("input"),
		Files: []*os.File{file(t, []byte("file "))}}}
	for range 2 {
		if out, err := c.Run(t.Context(), cmd); err != nil || string(out.Stdout) != "same file input" {
			t.Errorf("%q, %v", out.Stdout, err)
		}
		c.Close()
	}
	var none Compilers
	none.Close()
	if out, err := none.Run(t.Context(), cmd); err != nil || string(out.Stdout) != "same file input" {
		t.Errorf("%q, %v", out.Stdout, err)
	}
}

// TestReplaced: a compiler that has been replaced is not used any more, and what
// is resident of it ends.
func TestReplaced(t *testing.T) {
	compilers(t).Close() // skips where there is none
	tools, err := clang.Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "a folder: with a name", "clang-19")
	if err := os.Mkdir(filepath.Dir(link), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(tools.Path, link); err != nil {
		t.Fatal(err)
	}
	c := found(t, link)
	if err := c.Try(t.Context()); err != nil {
		t.Fatal(err)
	}
	cmd := stage(c, "int x;", "-x", "c++", "-S")
	equal(t, c, "before", cmd)
	pids := descendants(t, os.Getpid())
	if len(pids) != 2 {
		t.Errorf("processes: %v", pids)
	}
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(link, []byte("#!/bin/sh\necho another\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, done, err := c.resident(t.Context(), cmd); done || !errors.Is(err, ErrChanged) {
		t.Errorf("replaced: %t, %v", done, err)
	}
	gone(t, pids)
	if out, err := c.Run(t.Context(), cmd); err != nil || string(out.Stdout) != "another\n" {
		t.Errorf("the new one: %q, %v", out.Stdout, err)
	}
}

// TestNoPreload: what cannot be compiled, or does not make the compiler stop,
// leaves it to processes.
func TestNoPreload(t *testing.T) {
	compilers(t).Close()
	for want, build := range map[string]func(context.Context) ([]byte, error){
		"no space":                func(context.Context) ([]byte, error) { return nil, errors.New("no space") },
		"does not take a preload": func(context.Context) ([]byte, error) { return []byte("no object"), nil },
	} {
		tools, err := clang.Find(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		c := New(tools, build)
		defer c.Close()
		if err := c.Try(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		if out, err := c.Run(t.Context(), stage(c, "int x;", "-x", "c++", "-S")); err != nil || len(out.Stdout) == 0 {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// FuzzMessage: a message says what the command says, or is refused.
func FuzzMessage(f *testing.F) {
	f.Add(uint32(kindOnce), uint64(1), "clang\x01-c")
	f.Add(uint32(kindServe), uint64(1<<63), "")
	f.Fuzz(func(t *testing.T, kind uint32, limit uint64, args string) {
		r := request{kind, limit, strings.Split(args, "\x01")}
		b, err := r.bytes()
		if strings.Contains(args, "\x00") || len(args)+17 > maxMessage || len(r.args) > maxArguments {
			if !errors.Is(err, errMessage) {
				t.Fatalf("%d arguments of %d bytes: %v", len(r.args), len(args), err)
			}
			return
		}
		if err != nil || len(b) != 16+len(args)+1 || strings.ReplaceAll(string(b[16:len(b)-1]), "\x00", "\x01") != args {
			t.Fatalf("%q: %q, %v", args, b, err)
		}
	})
}

// TestLimitedFiles: files in memory are bound by what `ulimit -f` allows, and the pipe
// of a process is not. What does not fit is made by a process, and what fits is not.
func TestLimitedFiles(t *testing.T) {
	c := compilers(t)
	large := stage(c, "char x[1 << 20] = {1};", "-x", "c", "-c")
	small := stage(c, "int x;", "-x", "c", "-c")
	equal(t, c, "without a limit", large)
	c.Close()

	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	lower := before
	lower.Cur = 512 << 10
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &lower); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &before); err != nil {
			t.Error(err)
		}
	}()
	c = compilers(t)
	for range 3 {
		if out, err := c.Run(t.Context(), large); err != nil || len(out.Stdout) < 1<<20 {
			t.Errorf("%d bytes, %v", len(out.Stdout), err)
		}
	}
	equal(t, c, "after that", small)
}

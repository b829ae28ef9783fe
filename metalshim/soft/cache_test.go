package soft

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/soft/clang"
	"github.com/introgen/introgen/trace/names"
)

const tiny = `#include <metal_stdlib>
using namespace metal;
kernel void seven(device float* x) { x[0] = 7; }
`

// openAt opens a device of its own on a cache folder.
func openAt(t testing.TB, o Options) *Device {
	t.Helper()
	d, err := Open(context.Background(), o)
	skipWithout(t, err)
	t.Cleanup(func() { d.Close() })
	return d
}

// states compiles tiny and says where the library and the pipeline came from.
// It fails if the kernel does not do what it says.
func states(t testing.TB, d *Device, text string) (lib, pipe metalshim.Evidence) {
	t.Helper()
	return statesFrom(t, d, d.NewLibrary, text)
}

// statesFrom is states of what another than the device makes.
func statesFrom(t testing.TB, d *Device, newLibrary func(context.Context, metalshim.Source) (metalshim.Library, error), text string) (lib, pipe metalshim.Evidence) {
	t.Helper()
	l, err := newLibrary(context.Background(), metalshim.Source{Name: "tiny", Text: text})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Release()
	p, err := l.NewPipeline(context.Background(), "seven", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Release()
	x := buffer32(t, d, 0)
	if err := run(t, d, func(e metalshim.Encoder) error {
		e.SetPipeline(p)
		e.SetBuffer(0, x, 0)
		return e.DispatchThreads(one(1), one(1))
	}); err != nil {
		t.Fatal(err)
	}
	if v := floats(x)[0]; v != 7 {
		t.Fatalf("the kernel gave %v, want 7", v)
	}
	return l.Evidence(), p.Evidence()
}

func TestColdAndWarm(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	var notes []string
	o := Options{CacheDir: dir, Note: func(_, s string) { notes = append(notes, s) }}
	want := func(when string, text string, state string) {
		t.Helper()
		d := openAt(t, o)
		lib, pipe := states(t, d, text)
		if lib.State != state || pipe.State != state || lib.Bytes == 0 || pipe.Bytes == 0 {
			t.Errorf("%s: library %+v, pipeline %+v, want %s", when, lib, pipe, state)
		}
	}
	want("cold", tiny, names.CacheMiss)
	want("warm", tiny, names.CacheHit)
	want("with a nonce", tiny+"// 1\n", names.CacheMiss)
	want("warm after a nonce", tiny, names.CacheHit)
	if len(notes) != 0 {
		t.Errorf("notes %q", notes)
	}

	// Damage to every entry in turn: rebuilt, with a note, and whole again.
	entries, err := filepath.Glob(filepath.Join(dir, "*.entry"))
	if err != nil || len(entries) < 4 {
		t.Fatalf("entries %v, %v", entries, err)
	}
	for _, path := range entries {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		b[len(b)/3] ^= 1
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d := openAt(t, o)
	lib, pipe := states(t, d, tiny)
	for _, e := range []metalshim.Evidence{lib, pipe} {
		if e.State != names.CacheMiss || !strings.Contains(e.Note, "rebuilt") || !strings.Contains(e.Note, "digest does not match") {
			t.Errorf("a damaged entry: %+v", e)
		}
	}
	if len(notes) < 3 { // the runtime, the library and the pipeline
		t.Errorf("notes %q", notes)
	}
	want("after the repair", tiny, names.CacheHit)
}

// Several processes that want the same library and pipeline at once get them,
// and one of them makes them.
func TestParallelProcesses(t *testing.T) {
	if dir := os.Getenv("SOFT_TEST_CACHE"); dir != "" {
		d := openAt(t, Options{CacheDir: dir, Workers: 1})
		lib, pipe := states(t, d, tiny)
		fmt.Printf("STATES %s %s\n", lib.State, pipe.State)
		return
	}
	openAt(t, Options{Workers: 1}) // skips where there is no compiler
	dir := filepath.Join(t.TempDir(), "cache")
	var all strings.Builder
	var children []*exec.Cmd
	for range 3 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestParallelProcesses$", "-test.v")
		cmd.Env = append(os.Environ(), "SOFT_TEST_CACHE="+dir)
		out, err := os.CreateTemp(t.TempDir(), "out")
		if err != nil {
			t.Fatal(err)
		}
		cmd.Stdout, cmd.Stderr = out, out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		children = append(children, cmd)
	}
	for _, cmd := range children {
		err := cmd.Wait()
		text, _ := os.ReadFile(cmd.Stdout.(*os.File).Name())
		if err != nil {
			t.Errorf("%v\n%s", err, text)
		}
		all.Write(text)
	}
	if n := strings.Count(all.String(), "STATES"); n != 3 {
		t.Errorf("%d of 3 processes have their states", n)
	}
	if lib, pipe := strings.Count(all.String(), "STATES miss"), strings.Count(all.String(), " miss\n"); lib != 1 || pipe != 1 {
		t.Errorf("the library was made %d times, the pipeline %d times, want once:\n%s", lib, pipe, all.String())
	}
}

func TestUnusableCache(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var notes []string
	d := openAt(t, Options{CacheDir: filepath.Join(file, "below"), Note: func(_, s string) { notes = append(notes, s) }})
	lib, pipe := states(t, d, tiny)
	if lib.State != names.CacheOff || pipe.State != names.CacheOff || !strings.Contains(lib.Note, "not a directory") {
		t.Errorf("library %+v, pipeline %+v, want the cache off", lib, pipe)
	}
	if len(notes) != 1 || !strings.Contains(notes[0], "no cache of compiled kernels") {
		t.Errorf("notes %q", notes)
	}
	if _, ok := d.CacheDir(); ok {
		t.Error("there is a folder of no cache")
	}
	open := filepath.Join(t.TempDir(), "open")
	os.Mkdir(open, 0o700)
	os.Chmod(open, 0o777)
	if _, err := Open(context.Background(), Options{CacheDir: open}); err == nil || !strings.Contains(err.Error(), "others may write to it") {
		t.Errorf("a folder that anybody may write to: %v", err)
	}
}

// wrapper makes INTROGEN_CLANG a script that runs body where the compiler
// preprocesses, and the compiler itself otherwise.
func wrapper(t *testing.T, body string) {
	t.Helper()
	tools, err := clang.Find(context.Background())
	skipWithout(t, err)
	path := filepath.Join(t.TempDir(), "clang")
	text := "#!/bin/sh\ncase \"$*\" in *-E*) " + body + ";; esac\nexec " + strings.Join(tools.Compiler, " ") + " \"$@\"\n"
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv(clang.EnvPath, path)
}

func TestCompilerTrouble(t *testing.T) {
	for _, c := range []struct {
		name, body string
		is         error
		want       string
	}{
		{"killed", "kill -9 $$", clang.ErrKilled, "the compiler was killed"},
		{"hangs", "sleep 100", clang.ErrLimit, "time limit reached"},
		{"breaks", "echo 'clang: error: out of memory' >&2; exit 1", nil, "out of memory"},
	} {
		wrapper(t, c.body)
		limit := 20 * time.Second
		if c.name == "hangs" {
			limit = 3 * time.Second
		}
		dir := filepath.Join(t.TempDir(), "cache")
		d, err := Open(context.Background(), Options{CacheDir: dir, CompileLimit: limit, Workers: 1})
		if errors.Is(err, clang.ErrLimit) {
			t.Skip("SKIP: needs a machine that compiles the runtime within 3 s")
		}
		if err != nil {
			t.Fatal(err)
		}
		_, err = d.NewLibrary(context.Background(), metalshim.Source{Name: "tiny", Text: tiny})
		var e *metalshim.CompileError
		if !errors.As(err, &e) || c.is != nil && !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "library-*")); len(left) != 0 {
			t.Errorf("%s: left in the cache: %v", c.name, left)
		}
		d.Close()
	}
}

// What a compiler makes that was replaced after the device was opened is not kept
// under the key of the one before.
func TestCompilerReplaced(t *testing.T) {
	wrapper(t, "true")
	dir := filepath.Join(t.TempDir(), "cache")
	d := openAt(t, Options{CacheDir: dir, Workers: 1})
	path := os.Getenv(clang.EnvPath)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(text, "# another one\n"...), 0o755); err != nil {
		t.Fatal(err)
	}
	lib, pipe := states(t, d, tiny)
	for _, e := range []metalshim.Evidence{lib, pipe} {
		if e.State != names.CacheMiss || !strings.Contains(e.Note, "not kept: the compiler has been replaced") {
			t.Errorf("%+v", e)
		}
	}
	for _, kind := range []string{"library-*", "pipeline-*"} {
		if left, _ := filepath.Glob(filepath.Join(dir, kind)); len(left) != 0 {
			t.Errorf("kept: %v", left)
		}
	}
	// The next process finds the new one, and keeps what it makes.
	next := openAt(t, Options{CacheDir: dir, Workers: 1})
	if lib, _ := states(t, next, tiny); lib.State != names.CacheMiss || lib.Note != "" {
		t.Errorf("the next process: %+v", lib)
	}
}

// A compile that is cancelled ends at once and leaves nothing: no entry
// and no lock.
func TestCancelledCompile(t *testing.T) {
	started := filepath.Join(t.TempDir(), "started")
	wrapper(t, "if [ ! -e "+started+" ]; then touch "+started+"; sleep 100; fi")
	dir := filepath.Join(t.TempDir(), "cache")
	d := openAt(t, Options{CacheDir: dir, Workers: 1})
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		for range 2000 {
			if _, err := os.Stat(started); err == nil {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		cancel()
	}()
	if _, err := d.NewLibrary(ctx, metalshim.Source{Name: "tiny", Text: tiny}); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v, want cancelled", err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*library*")); len(left) != 0 {
		t.Errorf("left in the cache: %v", left)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*.part")); len(left) != 0 {
		t.Errorf("left in the cache: %v", left)
	}
	if lib, _ := states(t, d, tiny); lib.State != names.CacheMiss {
		t.Errorf("the next attempt: %+v", lib)
	}
}

func TestForm(t *testing.T) {
	t.Setenv(EnvForm, "fibers")
	if _, err := Open(context.Background(), Options{}); err == nil || !strings.Contains(err.Error(), `INTROGEN_SOFT="fibers": it must be lanes or scalar`) {
		t.Errorf("error %v", err)
	}
}

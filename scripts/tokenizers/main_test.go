package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/introgen/introgen/system/terminal"
)

// fixture is a job with a module of one file, and a cargo that is a script.
type fixture struct {
	*job
	out   bytes.Buffer
	calls string // a file with a line for each call of cargo
}

// newFixture makes a cargo that runs script after it has noted its arguments.
// serve answers for the releases; nil is a server that has nothing.
func newFixture(t *testing.T, script string, serve http.HandlerFunc) *fixture {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	f := &fixture{calls: filepath.Join(dir, "calls")}
	write("module/Cargo.toml", "[package]", 0o444)
	write("bin/cc", "#!/bin/sh\necho cc 1\n", 0o755)
	write("bin/cargo", "#!/bin/sh\n[ \"$1\" != --version ] || { echo cargo 1; exit; }\necho \"$@\" >>'"+f.calls+"'\n"+script, 0o755)
	t.Setenv("PATH", filepath.Join(dir, "bin")+":"+os.Getenv("PATH"))
	if serve == nil {
		serve = http.NotFound
	}
	server := httptest.NewServer(serve)
	t.Cleanup(server.Close)
	f.job = &job{
		module:   module{Version: "v1.2.3", Dir: filepath.Join(dir, "module")},
		dir:      filepath.Join(dir, "cache", "lib", "tokenizers-v1.2.3"),
		releases: server.URL,
		patience: 5 * time.Second,
		meter:    terminal.NewMeter(&f.out, terminal.Lines),
		check:    func(context.Context, string) error { return nil },
	}
	return f
}

// works is a cargo that leaves a library.
const works = `[ "$1" != build ] || {
	[ -w Cargo.toml ] || exit 9
	echo "   Compiling onig v6.5.1" >&2
	mkdir -p "$6/release"
	echo built >"$6/release/libtokenizers.a"
}
`

func (f *fixture) cargoCalls() int {
	b, _ := os.ReadFile(f.calls)
	return bytes.Count(b, []byte("\n"))
}

// expect checks the library's text, and that nothing else is left than it and
// the lock.
func (f *fixture) expect(t *testing.T, want string) {
	t.Helper()
	got, err := os.ReadFile(filepath.Join(f.dir, library))
	if err != nil || string(got) != want {
		t.Errorf("library is %q, %v; want %q", got, err, want)
	}
	left, _ := filepath.Glob(filepath.Dir(f.dir) + "/*")
	if len(left) != 2 {
		t.Errorf("left in the cache: %q", left)
	}
}

func (f *fixture) expectNone(t *testing.T) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(f.dir, library)); err == nil {
		t.Error("a library is installed")
	}
}

// archive is a tar.gz of one file.
func archive(t *testing.T, name, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	err := errors.Join(w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text))}),
		func() error { _, err := w.Write([]byte(text)); return err }(), w.Close(), z.Close())
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func serveBytes(b []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1.2.3/libtokenizers."+releasePlatform()+".tar.gz" {
			w.Write(b)
		}
	}
}

func TestPrebuilt(t *testing.T) {
	f := newFixture(t, works, serveBytes(archive(t, "libtokenizers.a", "prebuilt")))
	if err := f.bring(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.expect(t, "prebuilt")
	if n := f.cargoCalls(); n != 0 {
		t.Errorf("cargo was called %d times", n)
	}
}

// TestBuild: whatever is wrong with the prebuilt library, cargo builds one.
func TestBuild(t *testing.T) {
	good := archive(t, "libtokenizers.a", strings.Repeat("prebuilt", 1000))
	for name, serve := range map[string]http.HandlerFunc{
		"absent":       nil,
		"not gzip":     serveBytes([]byte("<html>")),
		"cut off":      serveBytes(good[:len(good)-9]),
		"without file": serveBytes(archive(t, "README", "x")),
		"silent": func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusOK)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, works, serve)
			if name == "silent" {
				f.patience = 100 * time.Millisecond
			}
			if err := f.bring(t.Context()); err != nil {
				t.Fatal(err)
			}
			f.expect(t, "built\n")
			if !strings.Contains(f.out.String(), "no prebuilt library: ") {
				t.Errorf("why there is no prebuilt library is not told: %s", &f.out)
			}
			// A second time there is nothing to do.
			calls := f.cargoCalls()
			if err := f.bring(t.Context()); err != nil || f.cargoCalls() != calls {
				t.Errorf("the second time: %v, %d calls of cargo, before %d", err, f.cargoCalls(), calls)
			}
		})
	}
}

// TestPrebuiltThatDoesNotLink: the library is tried before it is installed.
func TestPrebuiltThatDoesNotLink(t *testing.T) {
	f := newFixture(t, works, serveBytes(archive(t, "libtokenizers.a", "prebuilt")))
	f.check = func(_ context.Context, dir string) error {
		if b, err := os.ReadFile(filepath.Join(dir, library)); err != nil || string(b) == "prebuilt" {
			return fmt.Errorf("undefined reference: %w", errors.Join(err))
		}
		return nil
	}
	if err := f.bring(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.expect(t, "built\n")
}

func TestFailures(t *testing.T) {
	for name, c := range map[string]struct{ script, want string }{
		"cargo fails":        {"echo 'error: no space left' >&2; exit 101\n", "cargo fetch: exit status 101: error: no space left"},
		"cargo leaves none":  {"exit 0\n", "cargo left no library"},
		"cargo build breaks": {"[ \"$1\" = fetch ] || { echo 'error: linker' >&2; exit 1; }\n", "cargo build: exit status 1: error: linker"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, c.script, nil)
			err := f.bring(t.Context())
			if err == nil || !strings.Contains(err.Error(), "there is no libtokenizers.a v1.2.3 for this machine") {
				t.Errorf("error %v", err)
			}
			if !strings.Contains(f.out.String(), c.want) {
				t.Errorf("said:\n%s\nwant %q", &f.out, c.want)
			}
			f.expectNone(t)
		})
	}
}

// TestInterrupted: cargo and what it started end with the program, and the next
// call succeeds.
func TestInterrupted(t *testing.T) {
	if _, err := exec.LookPath("sleep"); err != nil {
		t.Skip("SKIP: needs the program sleep")
	}
	f := newFixture(t, "[ -e \"$6/stopped\" ] || [ \"$1\" = fetch ] || { mkdir -p \"$6\"; : >\"$6/stopped\"; sleep 60 & wait; }\n"+works, nil)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		stopped := filepath.Join(f.dir+".parts", "target", "stopped")
		for ctx.Err() == nil {
			if _, err := os.Stat(stopped); err == nil {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		cancel()
	}()
	start := time.Now()
	err := f.bring(ctx)
	if err == nil || !strings.Contains(err.Error(), "interrupted; the same command goes on") {
		t.Errorf("error %v", err)
	}
	if d := time.Since(start); d > 30*time.Second {
		t.Errorf("stopped only after %v", d)
	}
	f.expectNone(t)
	if err := f.bring(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.expect(t, "built\n")
}

// TestTwoAtOnce: the second waits for the first and finds the library.
func TestTwoAtOnce(t *testing.T) {
	f := newFixture(t, "sleep 0.3\n"+works, nil)
	second := *f.job
	second.meter = nil
	done := make(chan error)
	go func() { done <- second.bring(t.Context()) }()
	err1, err2 := f.bring(t.Context()), <-done
	if err1 != nil || err2 != nil || f.cargoCalls() != 2 {
		t.Errorf("errors %v, %v; %d calls of cargo, want 2: one fetch, one build", err1, err2, f.cargoCalls())
	}
	f.expect(t, "built\n")
}

func TestWithoutCompiler(t *testing.T) {
	f := newFixture(t, works, nil)
	t.Setenv("PATH", t.TempDir())
	err := f.bring(t.Context())
	if err == nil || !strings.Contains(err.Error(), "needs a C compiler") {
		t.Errorf("error %v", err)
	}
}

func TestLastLines(t *testing.T) {
	if got := lastLines("a\n\n b \nc\n", 2); got != "b | c" {
		t.Errorf("got %q", got)
	}
}

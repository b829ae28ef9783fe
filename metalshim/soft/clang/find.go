// Package clang finds the compiler that the soft Metal driver needs and runs
// it: with a time limit, and killed as a whole when its context is cancelled.
//
// The driver's lanes pass reads the text of LLVM 19's intermediate language,
// so clang 19 is needed and no other.
package clang

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"
)

// Major is the version of clang that is needed.
const Major = "19"

// EnvPath names the compiler to be used: a clang or a zig binary.
const EnvPath = "INTROGEN_CLANG"

// Install says how to get the compiler.
const Install = "install clang 19: `apt-get install clang-19 lld-19` as root, or `pip install ziglang==0.14.1` without root, or run `make setup`, which does one of them; or name a clang 19 in " + EnvPath

// Toolchain is a compiler and a linker.
type Toolchain struct {
	Compiler []string // command that takes clang's arguments
	Linker   []string // command that takes ld.lld's arguments
	Path     string   // the compiler's executable, links resolved
	Version  string   // such as "19.1.7"; "" until Identify or Remembered has set it
	// Stamp says which executables these are: equal stamps, equal compilers, once
	// Identify has said what stands behind one that is Wrapped.
	Stamp string
	// Wrapped says that the compiler is a script: which program it runs, it says
	// itself alone.
	Wrapped bool

	path, found string // where it was found, and its stamp then

	mu    sync.Mutex
	looks []look // at all that the stamp hangs on, while it was found
}

// Changed says that the executables are no longer those that were found. As long
// as nothing has happened to their files that costs a look at each.
func (t *Toolchain) Changed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.looks != nil && same(t.looks) {
		return false
	}
	now := t.look()
	again, err := at(t.path)
	if err != nil || again.found != t.found {
		return true
	}
	t.looks = now
	return false
}

// look looks at the files of the executables and at those in whose place others
// could come.
func (t *Toolchain) look() []look {
	out := []look{lookAt(t.path)}
	add := func(path string) { out = append(out, lookAt(path)) }
	for _, path := range []string{t.Path, t.Linker[0], filepath.Join(filepath.Dir(t.Path), "ld.lld")} {
		add(path)
		if target, err := resolved(path); err == nil {
			libraries(target, add)
		}
	}
	return out
}

// Error says why there is no usable compiler and what to do.
type Error struct {
	Reason string
	Err    error // ErrAbsent, ErrVersion or what running it gave
}

func (e *Error) Error() string { return "clang: " + e.Reason + "; " + Install }

// Unwrap returns the kind of failure.
func (e *Error) Unwrap() error { return e.Err }

// Kinds of failure, for errors.Is.
var (
	ErrAbsent  = errors.New("no clang or no lld was found")
	ErrVersion = errors.New("clang of another major version")
)

// Find looks for the compiler: what INTROGEN_CLANG names, else clang-19 or a
// clang on PATH, else the zig of PyPI's package ziglang. It does not run a
// clang it finds on PATH as clang-19, nor the one that is named: Identify
// does.
func Find(ctx context.Context) (*Toolchain, error) {
	if named := os.Getenv(EnvPath); named != "" {
		path, err := exec.LookPath(named)
		if err != nil {
			return nil, &Error{fmt.Sprintf("%s=%s cannot be run: %v", EnvPath, named, err), err}
		}
		return at(path)
	}
	if path, err := exec.LookPath("clang-" + Major); err == nil {
		return at(path)
	}
	var refused error
	if path, err := exec.LookPath("clang"); err == nil {
		t, err := at(path)
		if err == nil {
			if err = t.Identify(ctx); err == nil {
				return t, nil
			}
		}
		refused = err // a ziglang may still serve
	}
	if zig := ziglang(ctx); zig != "" {
		return at(zig)
	}
	if refused != nil {
		return nil, refused
	}
	return nil, &Error{"no clang-" + Major + " or clang on PATH and no ziglang in python3", ErrAbsent}
}

// ziglang is the path of the zig executable of PyPI's package ziglang, or "".
func ziglang(ctx context.Context) string {
	python, err := exec.LookPath("python3")
	if err != nil {
		return ""
	}
	out, err := Run(ctx, Command{
		Argv:  []string{python, "-c", "import os, ziglang; print(os.path.join(os.path.dirname(ziglang.__file__), 'zig'))"},
		Limit: 30 * time.Second,
		Whole: true,
	})
	if err != nil {
		return ""
	}
	path := strings.TrimSpace(string(out.Stdout))
	if s, err := os.Stat(path); err != nil || s.IsDir() {
		return ""
	}
	return path
}

// at is the toolchain whose compiler lies at path.
func at(path string) (*Toolchain, error) {
	t, err := toolchain(path)
	if err == nil {
		t.path, t.found = path, t.Stamp
	}
	return t, err
}

func toolchain(path string) (*Toolchain, error) {
	target, err := resolved(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	t := &Toolchain{Path: target, Wrapped: isScript(target)}
	if t.Stamp, err = Stamp(target); err != nil {
		return nil, unreadable(path, err)
	}
	if strings.HasPrefix(filepath.Base(target), "zig") {
		// zig is clang and lld in one: `zig clang`, `zig ld.lld`.
		t.Compiler = []string{target, "clang"}
		t.Linker = []string{target, "ld.lld"}
		return t, nil
	}
	// The compiler runs in another folder than this process.
	if path, err = filepath.Abs(path); err != nil {
		return nil, unreadable(path, err)
	}
	t.Compiler = []string{path}
	lld := t.companion("ld.lld", "ld.lld-"+Major, "ld.lld")
	if lld == "" {
		return nil, &Error{fmt.Sprintf("%s has no linker ld.lld beside it, and there is none on PATH", path), ErrAbsent}
	}
	t.Linker = []string{lld}
	of, err := Stamp(lld)
	if err != nil {
		return nil, unreadable(lld, err)
	}
	t.Stamp += "; " + of
	return t, nil
}

func unreadable(path string, err error) error {
	return &Error{fmt.Sprintf("%s cannot be read: %v", path, err), err}
}

// companion is the program of LLVM's that goes with the compiler: beside it, else
// the first of names on PATH; "" where there is none.
func (t *Toolchain) companion(beside string, names ...string) string {
	if own := filepath.Join(filepath.Dir(t.Path), beside); executable(own) {
		return own
	}
	for _, n := range names {
		if found, err := exec.LookPath(n); err == nil {
			if found, err = filepath.Abs(found); err == nil {
				return found
			}
		}
	}
	return ""
}

// Disassembler is the llvm-objdump of the compiler's version, or "": one of another
// version may not know what this one writes.
func (t *Toolchain) Disassembler() string {
	return t.companion("llvm-objdump", "llvm-objdump-"+Major)
}

func executable(path string) bool {
	s, err := os.Stat(path)
	return err == nil && !s.IsDir() && s.Mode()&0o111 != 0
}

var versionText = regexp.MustCompile(`clang version (\d+)(\.\d+)*`)

// Identify asks the compiler for its version and refuses another than 19.
func (t *Toolchain) Identify(ctx context.Context) error {
	argv := append(append([]string{}, t.Compiler...), "--version")
	out, err := Run(ctx, Command{Argv: argv, Limit: 30 * time.Second})
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return &Error{fmt.Sprintf("%s --version: %v%s", t.Path, err, unstarted(err)), err}
	}
	m := versionText.FindStringSubmatch(string(out.Stdout))
	if m == nil {
		return &Error{fmt.Sprintf("%s --version does not answer as clang does", t.Path), ErrVersion}
	}
	if m[1] != Major {
		return &Error{fmt.Sprintf("%s is %s, clang %s is needed", t.Path, m[0], Major), ErrVersion}
	}
	if strings.HasPrefix(string(out.Stdout), "Apple ") {
		return &Error{fmt.Sprintf("%s is Apple's clang, whose versions are its own", t.Path), ErrVersion}
	}
	t.Version = strings.TrimPrefix(m[0], "clang version ")
	if t.Wrapped {
		t.unwrap(string(out.Stdout))
	}
	return nil
}

// unstarted says more of a program that finds its shared libraries by a variable,
// which is not handed on.
func unstarted(err error) string {
	var exit *ExitError
	if !errors.As(err, &exit) || !strings.Contains(exit.Stderr, "shared librar") {
		return ""
	}
	first, _, _ := strings.Cut(strings.TrimSpace(exit.Stderr), "\n")
	return fmt.Sprintf(": %s (a compiler is started without LD_LIBRARY_PATH and all other variables: name a script in %s that sets what it needs)", first, EnvPath)
}

var installed = regexp.MustCompile(`(?m)^InstalledDir: (.+)$`)

// unwrap adds to the stamp what stands behind a script: all that it answered,
// and the compilers in the folder in which it says that it is installed.
func (t *Toolchain) unwrap(answer string) {
	t.Stamp += "; " + answer
	m := installed.FindStringSubmatch(answer)
	if m == nil {
		return
	}
	for _, name := range []string{"clang-" + Major, "clang", "zig"} {
		if s, err := Stamp(filepath.Join(m[1], name)); err == nil {
			t.Stamp += "; " + s
		}
	}
}

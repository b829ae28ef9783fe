// Package clibrary compiles the project's own C sources into shared objects
// that a process loads, once, and keeps them in the user's cache. Since they
// are run, they lie in a folder that is private to the user, and each is
// compared with a copy that carries a digest before its path is given out.
package clibrary

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/introgen/introgen/metalshim/soft/cache"
	"github.com/introgen/introgen/metalshim/soft/clang"
	"github.com/introgen/introgen/system/files"
)

// ErrCompiler means that there is no C compiler, for errors.Is.
var ErrCompiler = errors.New("no C compiler")

// compileLimit is how long the compiler may take; it needs about a second.
const compileLimit = 2 * time.Minute

// Targets are clang's names for the architectures, on Linux.
var Targets = map[string]string{"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}

// Library is a shared object to be.
type Library struct {
	Name string // of its folder in the user's cache: "standin"
	Text string // its C source, whole
	// Flags are the compiler's for an architecture. On a Mac, where one file
	// holds both, they are asked for "".
	Flags func(arch string) []string
	Link  []string // more words for the linker
}

// Build compiles it for this machine, unless it has been before, and returns
// its path. On Linux it uses the clang that the soft driver uses, else cc; on a
// Mac cc, for both of its architectures.
func (l Library) Build(ctx context.Context) (string, error) {
	if runtime.GOOS == "darwin" {
		return l.build(ctx, "")
	}
	return l.build(ctx, runtime.GOARCH)
}

// BuildFor compiles it for another architecture of Linux: amd64 or arm64.
func (l Library) BuildFor(ctx context.Context, arch string) (string, error) {
	return l.build(ctx, arch)
}

func (l Library) build(ctx context.Context, arch string) (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("%s: %w", l.Name, err)
	}
	compile, stamp, err := l.compiler(ctx, arch)
	if err != nil {
		return "", err
	}
	kept, err := cache.Open(filepath.Join(base, "introgen", l.Name), 0)
	if err != nil {
		return "", fmt.Errorf("%s: %w", l.Name, err)
	}
	key := cache.KeyOf(runtime.GOOS, arch, stamp, strings.Join(l.Flags(arch), "\x00"), strings.Join(l.Link, "\x00"), l.Text)
	const kind = "object"
	entry, err := kept.Get(kind, key)
	var object []byte
	if err == nil {
		object = entry.Payload
	} else if object, err = l.made(kept.Dir(), compile); err == nil {
		err = kept.Put(kind, key, object, nil)
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", l.Name, err)
	}
	path := filepath.Join(kept.Dir(), key.String()[:32]+suffix())
	if same(path, object) {
		return path, nil
	}
	if err := files.Write(path, object, files.Options{Mode: 0o700, Unsynced: true}); err != nil {
		return "", fmt.Errorf("%s: %w", l.Name, err)
	}
	return path, nil
}

func suffix() string {
	if runtime.GOOS == "darwin" {
		return ".dylib"
	}
	return ".so"
}

// same says whether the file holds the object: a regular file, no link.
func same(path string, object []byte) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() != int64(len(object)) {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	there, err := io.ReadAll(f)
	return err == nil && bytes.Equal(there, object)
}

// made compiles in a folder of its own: other processes may do the same.
func (l Library) made(dir string, compile compiled) ([]byte, error) {
	work, err := os.MkdirTemp(dir, "build")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(work)
	out := filepath.Join(work, l.Name+suffix())
	if err := compile(l.Text, work, out); err != nil {
		return nil, err
	}
	return os.ReadFile(out)
}

// compiled makes a shared object of text, with dir for its own files.
type compiled func(text, dir, out string) error

// compiler returns what compiles, and what tells this compiler from another.
func (l Library) compiler(ctx context.Context, arch string) (compile compiled, stamp string, err error) {
	flags := l.Flags(arch)
	if arch == "" {
		both := []string{"-arch", "arm64", "-arch", "x86_64", "-dynamiclib"}
		return l.systemCompiler(ctx, flags, both, nil)
	}
	tools, err := clang.Find(ctx)
	if err == nil && tools.Wrapped {
		err = tools.Identify(ctx) // what stands behind it
	}
	if err == nil {
		return func(text, dir, out string) error {
			object := filepath.Join(dir, l.Name+".o")
			if err := Run(ctx, text, slices.Concat(tools.Compiler, flags, []string{"--target=" + Targets[arch], "-c", "-o", object, "-"})); err != nil {
				return err
			}
			return Run(ctx, "", slices.Concat(tools.Linker, l.Link, []string{"-shared", "-o", out, object}))
		}, tools.Stamp, nil
	}
	if arch != runtime.GOARCH {
		return nil, "", fmt.Errorf("%w for %s: %w", ErrCompiler, arch, err)
	}
	return l.systemCompiler(ctx, flags, []string{"-shared"}, err)
}

// systemCompiler is the system's cc; other says why another compiler, which was
// preferred, did not serve.
func (l Library) systemCompiler(ctx context.Context, flags, link []string, other error) (compiled, string, error) {
	cc, err := exec.LookPath("cc")
	if err != nil && other != nil {
		return nil, "", fmt.Errorf("%w: no cc (%w), and %w", ErrCompiler, err, other)
	}
	if err != nil {
		return nil, "", fmt.Errorf("%w: no cc (%w): run `xcode-select --install`", ErrCompiler, err)
	}
	stamp, err := clang.Stamp(cc)
	if err != nil {
		return nil, "", fmt.Errorf("%w: %s cannot be read: %w", ErrCompiler, cc, err)
	}
	for _, word := range l.Link {
		link = append(link, "-Xlinker", word)
	}
	return func(text, dir, out string) error {
		// A file: with two architectures the compiler reads it twice.
		source := filepath.Join(dir, l.Name+".c")
		if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
			return err
		}
		return Run(ctx, "", slices.Concat([]string{cc}, flags, link, []string{"-o", out, source}))
	}, stamp, nil
}

// Run runs a compiler with text on its input. What it says is in the error.
func Run(ctx context.Context, text string, argv []string) error {
	_, err := clang.Run(ctx, clang.Command{Argv: argv, Stdin: []byte(text), Limit: compileLimit})
	var exit *clang.ExitError
	if errors.As(err, &exit) {
		return fmt.Errorf("%s: %w:\n%s", argv[0], err, exit.Stderr)
	}
	return err
}

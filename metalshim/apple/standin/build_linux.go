//go:build linux && (amd64 || arm64)

package standin

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/introgen/introgen/metalshim/soft/clang"
)

// compileLimit is how long the compiler may take; it needs about a second.
const compileLimit = 2 * time.Minute

// targets are clang's names for the architectures.
var targets = map[string]string{"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}

// Build compiles the stand-in, unless it has been before, and returns the path
// of the shared object, in the user's cache. It uses the clang that the soft
// driver uses, else cc. Without either its error is ErrCompiler.
func Build(ctx context.Context) (string, error) { return build(ctx, testLibrary(runtime.GOARCH)) }

// LibraryName is the SONAME of what BuildLibrary makes.
const LibraryName = "libintrogen-metal.so"

// BuildLibrary compiles the library that programs are linked with or loaded with,
// as Build does the stand-in of tests.
func BuildLibrary(ctx context.Context) (string, error) {
	arch := runtime.GOARCH
	return build(ctx, object{arch, programSource(), append(flags(arch), programFlags...),
		[]string{"-soname", LibraryName, "-z", "nodelete", "-z", "now", "--build-id=none"}})
}

// object is a shared object to be built.
type object struct {
	arch, text  string
	flags, link []string // of the compiler, and of the linker
}

func testLibrary(arch string) object { return object{arch: arch, text: source(), flags: flags(arch)} }

func build(ctx context.Context, o object) (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("stand-in: %w", err)
	}
	dir = filepath.Join(dir, "introgen", "standin")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("stand-in: %w", err)
	}
	compile, stamp, err := compiler(ctx, o.arch)
	if err != nil {
		return "", err
	}
	digest := sha256.Sum256([]byte(strings.Join([]string{o.arch, stamp, strings.Join(o.flags, " "), strings.Join(o.link, " "), o.text}, "\x00")))
	path := filepath.Join(dir, fmt.Sprintf("%x.so", digest[:16]))
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	// Other processes may do the same; each writes a file of its own.
	work, err := os.MkdirTemp(dir, "build")
	if err != nil {
		return "", fmt.Errorf("stand-in: %w", err)
	}
	defer os.RemoveAll(work)
	made := filepath.Join(work, "standin.so")
	if err := compile(o, work, made); err != nil {
		return "", fmt.Errorf("stand-in: %w", err)
	}
	if err := os.Rename(made, path); err != nil {
		return "", fmt.Errorf("stand-in: %w", err)
	}
	return path, nil
}

// compiler returns a function that makes a shared object, with dir for its own
// files, and what tells this compiler from another.
func compiler(ctx context.Context, arch string) (compile func(o object, dir, out string) error, stamp string, err error) {
	tools, err := clang.Find(ctx)
	if err == nil && tools.Wrapped {
		err = tools.Identify(ctx) // what stands behind it
	}
	if err == nil {
		return func(o object, dir, out string) error {
			compiled := filepath.Join(dir, "standin.o")
			if err := run(ctx, o.text, slices.Concat(tools.Compiler, o.flags, []string{"--target=" + targets[arch], "-c", "-o", compiled, "-"})); err != nil {
				return err
			}
			return run(ctx, "", slices.Concat(tools.Linker, o.link, []string{"-shared", "-o", out, compiled}))
		}, tools.Stamp, nil
	}
	cc, ccErr := exec.LookPath("cc")
	if ccErr != nil || arch != runtime.GOARCH {
		return nil, "", fmt.Errorf("%w: no cc (%w), and %w", ErrCompiler, ccErr, err)
	}
	stamp, ccErr = clang.Stamp(cc)
	if ccErr != nil {
		return nil, "", fmt.Errorf("%w: %s cannot be read: %w", ErrCompiler, cc, ccErr)
	}
	return func(o object, _, out string) error {
		argv := append([]string{cc}, o.flags...)
		for _, l := range o.link {
			argv = append(argv, "-Xlinker", l)
		}
		return run(ctx, o.text, append(argv, "-shared", "-o", out, "-"))
	}, stamp, nil
}

func run(ctx context.Context, text string, argv []string) error {
	_, err := clang.Run(ctx, clang.Command{Argv: argv, Stdin: []byte(text), Limit: compileLimit})
	var exit *clang.ExitError
	if errors.As(err, &exit) {
		return fmt.Errorf("%s: %w:\n%s", argv[0], err, exit.Stderr)
	}
	return err
}

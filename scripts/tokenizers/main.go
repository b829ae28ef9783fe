// Command tokenizers brings libtokenizers.a, which the build tag hf links, into
// the user's cache: the archive that the module's release has for the platform
// where it can be fetched, else what cargo builds from the module's source. It
// can be stopped and called again at any time.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/system/files"
	"github.com/introgen/introgen/system/terminal"
	"github.com/introgen/introgen/system/tools"
)

const (
	modulePath = "github.com/daulet/tokenizers"
	library    = "libtokenizers.a"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "tokenizers:", err)
		os.Exit(1)
	}
}

// run finds out what to bring, and where to, and brings it.
func run(ctx context.Context) error {
	m, err := findModule(ctx)
	if err != nil {
		return err
	}
	cache, err := files.Cache()
	if err != nil {
		return err
	}
	mode := terminal.Auto(os.Stderr)
	if mode == terminal.Silent {
		mode = terminal.Lines
	}
	j := &job{
		module:   m,
		dir:      filepath.Join(cache, "lib", fmt.Sprintf("tokenizers-%s-%s-%s", m.Version, runtime.GOOS, runtime.GOARCH)),
		releases: "https://github.com/daulet/tokenizers/releases/download",
		patience: 10 * time.Second,
		meter:    terminal.NewMeter(os.Stderr, mode),
		check:    linkCheck,
	}
	return j.bring(ctx)
}

// module is a Go module in the module cache, which is read-only.
type module struct {
	Version string
	Dir     string
	Error   string
}

// findModule asks go for the version that go.mod has, and its source.
func findModule(ctx context.Context) (m module, err error) {
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", modulePath)
	cmd.Stderr = os.Stderr
	out, runErr := cmd.Output()
	if err := json.Unmarshal(out, &m); err != nil {
		return m, fmt.Errorf("go mod download %s: %w", modulePath, errors.Join(runErr, err))
	}
	if m.Error != "" {
		return m, fmt.Errorf("go mod download %s: %s", modulePath, m.Error)
	}
	return m, runErr
}

// job is one call of the program.
type job struct {
	module   module
	dir      string // where the library goes; its parts lie beside it until it is whole
	releases string // URL of the folder that has one for each version
	patience time.Duration
	meter    *terminal.Meter
	check    func(ctx context.Context, dir string) error // that the library in dir links and works
}

// bring makes sure that the library is in j.dir.
func (j *job) bring(ctx context.Context) error {
	if err := os.MkdirAll(filepath.Dir(j.dir), 0o755); err != nil {
		return err
	}
	unlock, err := files.Lock(ctx, j.dir+".lock", func() {
		j.meter.Say("tokenizers: waiting for another process that brings the library")
	})
	if err != nil {
		return err
	}
	defer unlock()
	if st, err := os.Stat(filepath.Join(j.dir, library)); err == nil && st.Mode().IsRegular() {
		return nil
	}
	if _, err := tools.Find(ctx, "cc"); err != nil {
		return fmt.Errorf("%s needs a C compiler to be linked: %w", library, err)
	}
	parts := j.dir + ".parts"
	for _, source := range []func(context.Context, string) (string, error){j.fetch, j.build} {
		var lib string
		if lib, err = source(ctx, parts); err == nil {
			if err = j.check(ctx, filepath.Dir(lib)); err == nil {
				return j.install(lib, parts)
			}
			err = fmt.Errorf("%s does not work: %w", lib, err)
		}
		if ctx.Err() != nil {
			return errors.New("interrupted; the same command goes on where it stopped")
		}
		j.meter.Say("tokenizers: %v", err)
	}
	return fmt.Errorf("there is no %s %s for this machine", library, j.module.Version)
}

// install gives the library its place, and removes what it was made from.
func (j *job) install(lib, parts string) error {
	in, err := os.Open(lib)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := os.MkdirAll(j.dir, 0o755); err != nil {
		return err
	}
	path := filepath.Join(j.dir, library)
	out, err := files.Create(path, files.Options{})
	if err != nil {
		return err
	}
	defer out.Discard()
	n, err := io.Copy(out, in)
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	if err := out.Commit(); err != nil {
		return err
	}
	j.meter.Say("tokenizers: %s, %s", path, figures.Size(n))
	return os.RemoveAll(parts)
}

// linkCheck links a small program with the library in dir, and runs it.
func linkCheck(ctx context.Context, dir string) error {
	cmd := exec.CommandContext(ctx, "go", "run", "-tags=hf", "./scripts/tokenizers/linkcheck")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=1", "CGO_LDFLAGS='-L"+dir+"' "+os.Getenv("CGO_LDFLAGS"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, lastLines(string(out), 5))
	}
	return nil
}

// lastLines returns the last n lines of s that are not empty, with " | " between.
func lastLines(s string, n int) string {
	var lines []string
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines[max(0, len(lines)-n):], " | ")
}

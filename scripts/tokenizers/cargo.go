package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/introgen/introgen/system/terminal"
	"github.com/introgen/introgen/system/tools"
)

// build has cargo build the library in parts, from a copy of the module's
// source since the module cache is read-only, and returns its path. The
// versions are those of the module's own Cargo.lock. What cargo has compiled
// stays in parts when it is stopped, and is used the next time.
func (j *job) build(ctx context.Context, parts string) (string, error) {
	cargo, err := tools.Find(ctx, "cargo")
	if err != nil {
		return "", fmt.Errorf("the library cannot be built: %w", err)
	}
	src := filepath.Join(parts, "src")
	if err := os.RemoveAll(src); err != nil {
		return "", err
	}
	if err := os.CopyFS(src, os.DirFS(j.module.Dir)); err != nil {
		return "", fmt.Errorf("cannot copy the module's source: %w", err)
	}
	target := filepath.Join(parts, "target")
	j.meter.Say("tokenizers: building %s %s (50 MB) with %s; about 3 minutes", library, j.module.Version, cargo.Version)
	for _, step := range [][]string{
		// A registry that cannot be reached is given up after 10 s.
		{"fetch", "--locked", "--config", "http.timeout=10", "--config", "net.retry=0"},
		{"build", "--locked", "--release", "--offline", "--target-dir", target},
	} {
		cmd := command(ctx, append(cargo.Argv, step...))
		cmd.Dir = src
		log := &cargoLog{meter: j.meter, began: time.Now()}
		cmd.Stderr = log
		if err := cmd.Run(); err != nil {
			return "", fmt.Errorf("cargo %s: %w: %s", step[0], err, lastLines(log.text.String(), 10))
		}
	}
	lib := filepath.Join(target, "release", library)
	if _, err := os.Stat(lib); err != nil {
		return "", fmt.Errorf("cargo left no library: %w", err)
	}
	return lib, nil
}

// command makes a command that is stopped with all that it started.
func command(ctx context.Context, argv []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error {
		err := syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
		if errors.Is(err, syscall.ESRCH) {
			return os.ErrProcessDone
		}
		return err
	}
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// cargoLog keeps what cargo says for the case that it fails, and tells now and
// then how far it is.
type cargoLog struct {
	meter  *terminal.Meter
	began  time.Time
	told   time.Time
	text   bytes.Buffer
	crates int
}

// tellEvery is how often progress is told.
const tellEvery = 10 * time.Second

// Write implements io.Writer.
func (l *cargoLog) Write(p []byte) (int, error) {
	l.text.Write(p)
	l.crates += strings.Count(string(p), "Compiling ")
	if now := time.Now(); l.crates > 0 && now.Sub(l.told) >= tellEvery {
		l.told = now
		l.meter.Say("tokenizers: crate %d, %v", l.crates, now.Sub(l.began).Round(time.Second))
	}
	return len(p), nil
}

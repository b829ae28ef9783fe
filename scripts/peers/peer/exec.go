package peer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Capture runs a process to its end, for limit at the longest, with env added to the
// environment, and returns what it printed, and its largest resident memory in MiB
// (0 where the system does not say, or it took less than this process).
func Capture(ctx context.Context, limit time.Duration, argv, env []string) (stdout string, peakMiB float64, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), env...)
	cmd.WaitDelay = time.Second
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	own := ownPeak()
	if err := cmd.Run(); err != nil {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			err = fmt.Errorf("stopped after %v: %w", limit, ctx.Err())
		} else if ctx.Err() != nil {
			err = ctx.Err()
		}
		return "", 0, fmt.Errorf("%s: %w%s", argv[0], err, lastLine(complaint.String()))
	}
	peakMiB = peakMemory(cmd.ProcessState)
	if peakMiB <= own {
		peakMiB = 0 // it may be this process's
	}
	return out.String(), peakMiB, nil
}

// lastLine is the end of what a failed program said, to follow its error.
func lastLine(s string) string {
	s = strings.TrimSpace(s)
	if s == "" {
		return ""
	}
	return ": " + s[strings.LastIndexByte(s, '\n')+1:]
}

// build runs a step of set-up with what it prints going to log, at the lowest
// priority where the system has `nice`: a build may take minutes.
func build(ctx context.Context, log io.Writer, dir string, env, argv []string) error {
	if nice, err := exec.LookPath("nice"); err == nil {
		argv = append([]string{nice, "-n", "19"}, argv...)
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	cmd.WaitDelay = time.Second
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return fmt.Errorf("%s: %w", strings.Join(argv, " "), err)
	}
	return nil
}

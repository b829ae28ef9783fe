package clang

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"time"
)

// Command is one run of a program.
type Command struct {
	Argv  []string
	Stdin []byte
	Files []*os.File    // inherited; it finds them as FilePath(0) and so on
	Limit time.Duration // it is killed after that; 0 is no limit
	// Whole has it see the environment and the folder of this process: for
	// programs that say where something lies. A compiler sees neither.
	Whole bool
}

// FilePath is the path under which a program finds Files[i].
func FilePath(i int) string { return fmt.Sprintf("/proc/self/fd/%d", 3+i) }

// Output is what it wrote.
type Output struct {
	Stdout, Stderr []byte
}

// Kinds of failure of Run, for errors.Is.
var (
	ErrLimit  = errors.New("time limit reached")
	ErrKilled = errors.New("the compiler was killed")
)

// ExitError says that the program ran and failed.
type ExitError struct {
	Code   int
	Stderr string
}

func (e *ExitError) Error() string { return fmt.Sprintf("exit code %d", e.Code) }

// OutputLimit bounds what is kept of a program's output, in bytes.
const OutputLimit = 64 << 20

type bounded struct{ bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	if room := OutputLimit - b.Len(); len(p) > room {
		b.Buffer.Write(p[:max(room, 0)])
		return 0, fmt.Errorf("the output exceeds %d bytes", OutputLimit)
	}
	return b.Buffer.Write(p)
}

// Limited is ctx with the command's time limit.
func (c Command) Limited(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.Limit > 0 {
		return context.WithTimeoutCause(ctx, c.Limit, ErrLimit)
	}
	return ctx, func() {}
}

// Stopped says why a run was ended from outside: by ctx, or by the time limit of
// Limited(ctx). It is nil where neither is over.
func (c Command) Stopped(ctx, limited context.Context) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(context.Cause(limited), ErrLimit):
		return fmt.Errorf("%s: %w after %v", c.Argv[0], ErrLimit, c.Limit)
	}
	return nil
}

// Failed is the error of a run that ended by itself, but not well: with an exit
// code, which is below 0 where it ended by a signal, of which state tells more.
func (c Command) Failed(code int, state string, out Output) error {
	if code < 0 {
		return fmt.Errorf("%s: %w (%s)", c.Argv[0], ErrKilled, state)
	}
	return &ExitError{code, string(out.Stderr)}
}

// Run runs c to its end. The program has a process group of its own, which is
// killed as a whole when ctx is cancelled or the limit is reached, and which
// the system kills when this process dies: no compiler is left behind.
func Run(ctx context.Context, c Command) (Output, error) {
	limited, cancel := c.Limited(ctx)
	defer cancel()
	// The death signal is tied to the thread that starts the program.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd := exec.CommandContext(limited, c.Argv[0], c.Argv[1:]...)
	cmd.ExtraFiles = c.Files
	if !c.Whole {
		cmd.Env, cmd.Dir = environment, "/"
	}
	cmd.Stdin = bytes.NewReader(c.Stdin)
	var stdout, stderr bounded
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	ownGroup(cmd)
	cmd.WaitDelay = 2 * time.Second
	err := cmd.Run()
	out := Output{stdout.Bytes(), stderr.Bytes()}
	if err == nil {
		return out, nil
	}
	if stopped := c.Stopped(ctx, limited); stopped != nil {
		return out, stopped
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return out, c.Failed(exit.ExitCode(), exit.ProcessState.String(), out)
	}
	return out, fmt.Errorf("%s: %w", c.Argv[0], err)
}

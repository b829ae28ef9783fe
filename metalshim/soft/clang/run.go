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

// outputLimit bounds what is kept of a program's output.
const outputLimit = 64 << 20

type bounded struct{ bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	if room := outputLimit - b.Len(); len(p) > room {
		b.Buffer.Write(p[:max(room, 0)])
		return 0, fmt.Errorf("the output exceeds %d bytes", outputLimit)
	}
	return b.Buffer.Write(p)
}

// Run runs c to its end. The program has a process group of its own, which is
// killed as a whole when ctx is cancelled or the limit is reached, and which
// the system kills when this process dies: no compiler is left behind.
func Run(ctx context.Context, c Command) (Output, error) {
	limited := ctx
	if c.Limit > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeoutCause(ctx, c.Limit, ErrLimit)
		defer cancel()
	}
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
	switch {
	case err == nil:
		return out, nil
	case ctx.Err() != nil:
		return out, ctx.Err()
	case errors.Is(context.Cause(limited), ErrLimit):
		return out, fmt.Errorf("%s: %w after %v", c.Argv[0], ErrLimit, c.Limit)
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if exit.ExitCode() < 0 {
			return out, fmt.Errorf("%s: %w (%v)", c.Argv[0], ErrKilled, exit.ProcessState)
		}
		return out, &ExitError{exit.ExitCode(), string(out.Stderr)}
	}
	return out, fmt.Errorf("%s: %w", c.Argv[0], err)
}

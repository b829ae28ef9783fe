// Package resident runs compilers without starting them anew. A compiler takes
// 20 to 30 ms before it looks at its source: its libraries, of 200 MB, are loaded
// and relocated, arguments are read, the target is set up. Here that is done
// once: a small preload (src/preload.c) has the compiler stop there and fork for
// each source. What comes out is what a process of its own writes.
//
// Where that is not possible a process is started for each run, as ever: until
// the preload is compiled, for a compiler that loads no libraries or is a script,
// after two deaths of the resident one, and on systems other than Linux.
package resident

import (
	"context"
	"errors"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/introgen/introgen/metalshim/soft/clang"
)

// Command is a run of the compiler.
type Command struct {
	clang.Command
	// Same are files that the program finds before Files, as clang.FilePath(0) and so
	// on, which nobody writes to any more. It may read them, or whether they are
	// there, once for all commands with the same arguments and the same Same. It must
	// not look for Files before it has read its standard input.
	Same []*os.File
}

// Compilers are the resident processes of a compiler. They may be used by several
// goroutines. The zero value starts a process for each run.
type Compilers struct {
	tools *clang.Toolchain
	build func(context.Context) ([]byte, error)

	mu    sync.Mutex
	begun chan struct{} // closed when the preload is there, or cannot be made; nil before the first run
	stop  context.CancelFunc
	off   error // why nothing is resident
	root  *root // nil before the preload is there
}

// New returns those of tools. Nothing is started before the first run. build is
// called once, beside the first runs, for the compiled preload: Compile makes it.
func New(tools *clang.Toolchain, build func(context.Context) ([]byte, error)) *Compilers {
	return &Compilers{tools: tools, build: build}
}

// Why there may be no resident programs, for errors.Is.
var (
	ErrClosed  = errors.New("the resident compilers have been closed")
	ErrChanged = errors.New("the compiler has been replaced since this process began")
	ErrStatic  = errors.New("it is linked statically, so that nothing can be loaded into it")
	ErrScript  = errors.New("it is a script")
	ErrSystem  = errors.New("compilers are resident on Linux alone, on amd64 and arm64")
	// errLost says that a resident process died before it told how a run ended.
	errLost = errors.New("it died")
)

// preloadWait is how long a run waits for the preload, which is in a cache but for
// the first time. Without it the run is a process.
const preloadWait = 10 * time.Millisecond

// Run runs c to its end, as clang.Run does. A command with a standard input shares
// a process up to there with all others of the same arguments.
func (c *Compilers) Run(ctx context.Context, cmd Command) (clang.Output, error) {
	if out, done, err := c.resident(ctx, cmd); done {
		return out, err
	}
	cmd.Files = slices.Concat(cmd.Same, cmd.Files)
	return clang.Run(ctx, cmd.Command)
}

// resident runs cmd in a resident process; done is false where there is none.
func (c *Compilers) resident(ctx context.Context, cmd Command) (out clang.Output, done bool, err error) {
	if c.tools == nil || cmd.Whole || !c.compiles(cmd.Argv) || ctx.Err() != nil {
		return out, false, nil
	}
	r, err := c.started(ctx)
	if err != nil {
		return out, false, err
	}
	if c.tools.Changed() {
		c.end(ErrChanged)
		return out, false, ErrChanged
	}
	out, err = r.run(ctx, cmd)
	if errors.Is(err, errLost) {
		return clang.Output{}, false, err
	}
	return out, true, err
}

// compiles says that argv is a run of the compiler.
func (c *Compilers) compiles(argv []string) bool {
	n := len(c.tools.Compiler)
	return len(argv) >= n && slices.Equal(argv[:n], c.tools.Compiler)
}

// started is the resident process. It is started where there is none.
func (c *Compilers) started(ctx context.Context) (*root, error) {
	if err := c.preload(ctx); err != nil {
		return nil, err
	}
	c.mu.Lock()
	r, off := c.root, c.off
	c.mu.Unlock()
	if off != nil {
		return nil, off
	}
	return r, r.ready(ctx)
}

// preload waits a moment for the preload, and has it made by the first call.
func (c *Compilers) preload(ctx context.Context) error {
	c.mu.Lock()
	if c.off != nil {
		defer c.mu.Unlock()
		return c.off
	}
	if c.begun == nil {
		begun := make(chan struct{})
		// It is for all runs, not for the one that comes first.
		making, stop := context.WithCancel(context.WithoutCancel(ctx))
		c.begun, c.stop = begun, stop
		go func() {
			defer close(begun)
			made, err := c.made(making)
			c.mu.Lock()
			defer c.mu.Unlock()
			switch {
			case c.off != nil: // closed meanwhile
			case err != nil:
				c.off = err
			default:
				c.root = newRoot(c.tools.Compiler, made)
			}
		}()
	}
	begun := c.begun
	c.mu.Unlock()
	moment := time.NewTimer(preloadWait)
	defer moment.Stop()
	select {
	case <-begun:
		return nil
	case <-moment.C:
		return context.DeadlineExceeded
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *Compilers) made(ctx context.Context) ([]byte, error) {
	if c.tools.Changed() {
		return nil, ErrChanged
	}
	if c.tools.Wrapped {
		return nil, ErrScript
	}
	if err := loads(c.tools.Path); err != nil {
		return nil, err
	}
	return c.build(ctx)
}

// end ends what is resident, and has processes run from now on, for a reason.
func (c *Compilers) end(why error) {
	c.mu.Lock()
	if c.off == nil {
		c.off = why
	}
	begun, stop := c.begun, c.stop
	c.mu.Unlock()
	if begun == nil {
		return
	}
	stop()
	<-begun
	c.mu.Lock()
	r := c.root
	c.mu.Unlock()
	if r != nil {
		r.close(why)
	}
}

// Close ends all resident processes, and waits for that. What is still to be run is
// run by processes.
func (c *Compilers) Close() {
	if c.tools != nil {
		c.end(ErrClosed)
	}
}

// Try starts what a first run would start, waits for the preload, and says why
// the compiler is not resident.
func (c *Compilers) Try(ctx context.Context) error {
	for {
		r, err := c.started(ctx)
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			continue
		}
		if err != nil {
			return err
		}
		_, err = r.run(ctx, Command{Command: clang.Command{Argv: append(slices.Clone(c.tools.Compiler), "--version")}})
		return err
	}
}

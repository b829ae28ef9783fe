package plan

import (
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
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/system/machine"
)

// Processes is the Executor that makes runs as child processes of this binary.
// They stay in this process's group, so that Ctrl-C on a terminal reaches them
// too; else they are ended by their number. It is used by one goroutine.
type Processes struct {
	// Path is the binary and Name what it is called by.
	Path, Name string

	began  time.Time
	watch  machine.Watch
	folder string            // for recordings and caches; "" until it is needed
	filled map[string]string // folders with a full cache, by fillKey
}

// How long a child that was asked to end may take. An interrupt that was typed
// has reached the child already: asked once more it would end at once and lose
// what it has not written.
const (
	graceTyped = time.Second
	graceEnd   = 3 * time.Second
)

// recordCommand is the command that records a program.
const recordCommand = "record"

// keptStderr is how much of the end of a child's stderr is kept.
const keptStderr = 4 << 10

// NewProcesses returns an executor for this binary.
func NewProcesses() (*Processes, error) {
	path, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("cannot find this program's own file, which is to be run again: %w", err)
	}
	return &Processes{Path: path, Name: os.Args[0], began: time.Now(), filled: map[string]string{}}, nil
}

// Now is the time since the executor was made.
func (p *Processes) Now() time.Duration { return time.Since(p.began) }

// Machine reads the machine's state since the reading before.
func (p *Processes) Machine() recording.Machine { return recording.Machine(p.watch.Read(0)) }

// Pause waits.
func (p *Processes) Pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Prepare runs a command with sh. What it prints is told where it fails.
func (p *Processes) Prepare(ctx context.Context, command string) error {
	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	cmd.WaitDelay = graceEnd
	endWithChildren(cmd)
	var said tail
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		if text := lastLine(said.String()); text != "" {
			return fmt.Errorf("%w: %s", err, text)
		}
		return err
	}
	return nil
}

// tail keeps the end of what is written to it.
type tail struct{ b []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.b = append(t.b, p...)
	if n := len(t.b) - keptStderr; n > 0 {
		t.b = slices.Delete(t.b, 0, n)
	}
	return len(p), nil
}

func (t *tail) String() string { return string(t.b) }

// Close removes the temporary files.
func (p *Processes) Close() error {
	if p.folder == "" {
		return nil
	}
	folder := p.folder
	p.folder = ""
	return os.RemoveAll(folder)
}

// Run makes a run.
func (p *Processes) Run(ctx context.Context, c Child) Outcome {
	out, err := p.run(ctx, c)
	if err != nil {
		out.Code = -1
		out.Error = err.Error()
	}
	return out
}

// scratch sees to the folder for the children's files. One that was removed
// meanwhile, by whoever tidies the system's folder for such, is made again, and
// with it the caches that were in it.
func (p *Processes) scratch() (err error) {
	if p.folder != "" {
		if _, err := os.Stat(p.folder); err == nil {
			return nil
		}
		clear(p.filled)
	}
	p.folder, err = newScratch(os.TempDir())
	return err
}

func (p *Processes) run(ctx context.Context, c Child) (out Outcome, err error) {
	if err := ctx.Err(); err != nil {
		return out, err
	}
	if err := p.scratch(); err != nil {
		return out, err
	}
	own, err := p.environment(c)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, own.remove()) }()
	if !c.Fill {
		if out.Prepared, err = p.prepared(ctx, c, own); err != nil {
			return out, err
		}
	}

	stderr, err := os.Create(filepath.Join(p.folder, "stderr"))
	if err != nil {
		return out, err
	}
	defer stderr.Close()
	path := filepath.Join(p.folder, "run"+recording.Ending)
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return out, err
	}

	cmd := exec.Command(p.Path)
	ours := []string{"-o", path}
	if c.Arm.Args[0] == recordCommand && !slices.Contains(c.Arm.Args, "--quiet") {
		ours = append(ours, "--quiet") // what the program says last is why it failed
	}
	args := own.args(c.Arm.Args)
	cmd.Args = slices.Concat([]string{p.Name}, args[:1], ours, args[1:])
	cmd.Env = own.env
	cmd.Stderr = stderr // a file, so that no goroutine of ours works while the child is measured
	cmd.SysProcAttr = endWithParent()
	// The request to end the child with its parent is the thread's that starts it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	out.Spawned = machine.Clock()
	if err := cmd.Start(); err != nil {
		return out, err
	}
	out.Hung = p.wait(ctx, cmd, c.Timeout, &out.Reaped)
	out.Code = cmd.ProcessState.ExitCode()
	out.Signal, out.MaxRSS = ending(cmd.ProcessState)
	out.Error = endOf(stderr)
	out.Recording, err = os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		err = nil // whoever reads the nothing says so
	}
	return out, err
}

// wait waits for the child's end, which a cancelled context or the timeout
// brings about: asked first, asked again, then killed.
func (p *Processes) wait(ctx context.Context, cmd *exec.Cmd, timeout time.Duration, reaped *int64) (hung bool) {
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // its state says it
		*reaped = machine.Clock()
		close(ended)
	}()
	late := time.NewTimer(timeout)
	defer late.Stop()
	select {
	case <-ended:
		return false
	case <-late.C:
		hung = true
	case <-ctx.Done():
		select {
		case <-ended:
			return false
		case <-time.After(graceTyped):
		}
	}
	// Asked twice, introgen kills the program that it records: killed itself it would
	// leave that behind.
	for range 2 {
		_ = cmd.Process.Signal(os.Interrupt) // it may have ended meanwhile
		select {
		case <-ended:
			return hung
		case <-time.After(graceEnd):
		}
	}
	_ = cmd.Process.Kill()
	<-ended
	return hung
}

// endOf is the end of a file.
func endOf(f *os.File) string {
	info, err := f.Stat()
	if err != nil {
		return ""
	}
	n := min(info.Size(), keptStderr)
	b, err := io.ReadAll(io.NewSectionReader(f, info.Size()-n, n))
	if err != nil {
		return ""
	}
	return strings.TrimRight(strings.ToValidUTF8(string(b), "�"), "\n")
}

// copyHalf copies every second entry of a cache.
func copyHalf(to, from string) error {
	if from == "" {
		return errors.New("no run has filled a cache, of which half was to be copied")
	}
	full, err := cache.Open(from, 0)
	if err != nil {
		return err
	}
	status, err := full.Status()
	if err != nil {
		return err
	}
	var names []string
	for _, item := range status.Items {
		names = append(names, item.Name)
	}
	slices.Sort(names)
	for i := 0; i < len(names); i += 2 {
		b, err := os.ReadFile(filepath.Join(from, names[i]))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(to, names[i]), b, 0o600); err != nil {
			return err
		}
	}
	return nil
}

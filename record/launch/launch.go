// Package launch runs a program as if nobody were between it and its user: stdin is
// its own, what it writes passes byte for byte and as soon as it comes, signals reach
// it, and it finds a terminal where its user has one. What passes is told.
package launch

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/system/machine"
	"github.com/introgen/introgen/system/terminal"
)

// Options are a program and its surroundings.
type Options struct {
	Path string   // of the file
	Args []string // from the name on by which it is called
	Env  []string

	Stdin          *os.File
	Stdout, Stderr io.Writer
	// Wrote is told of what the program wrote, after it was passed on, and when it
	// came on the machine's clock. Each stream calls it in order.
	Wrote func(stream string, at int64, b []byte)
}

// Running is a program that runs.
type Running struct {
	Spawned int64 // the machine's clock right before

	cmd     *exec.Cmd
	ended   chan struct{}
	ending  Ending
	copies  sync.WaitGroup
	drained chan struct{}
	mu      sync.Mutex
	last    time.Time // when something was read
	relay   *relay
	// unpassed says what could not be passed on.
	unpassed []string
	own      int64 // the most memory that this process had taken, in units of ru_maxrss
}

// Ending is how a program ended.
type Ending struct {
	At     int64          // on the machine's clock
	Code   int            // −1 where a signal ended it
	Signal syscall.Signal // that did
	MaxRSS int64          // bytes; 0 where unknown
}

// Name is the name of the signal that ended it, "" where none did.
func (e Ending) Name() string {
	if e.Signal == 0 {
		return ""
	}
	if name := unix.SignalName(e.Signal); name != "" {
		return name
	}
	return e.Signal.String()
}

// Status is what a shell would exit with.
func (e Ending) Status() int {
	if e.Signal != 0 {
		return 128 + int(e.Signal)
	}
	return e.Code
}

// Start starts a program.
func Start(o Options) (*Running, error) {
	r := &Running{ended: make(chan struct{}), drained: make(chan struct{})}
	r.cmd = &exec.Cmd{Path: o.Path, Args: o.Args, Env: o.Env, Stdin: o.Stdin}
	out, err := open(recording.StreamOut, o.Stdout)
	if err != nil {
		return nil, err
	}
	other, err := open(recording.StreamErr, o.Stderr)
	if err != nil {
		return nil, errors.Join(err, out.discard())
	}
	r.cmd.Stdout, r.cmd.Stderr = out.theirs, other.theirs
	r.relay = listen(r, out, other)
	var own syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &own) == nil {
		r.own = own.Maxrss
	}
	r.Spawned = machine.Clock()
	if err := r.cmd.Start(); err != nil {
		r.relay.stop()
		return nil, errors.Join(fmt.Errorf("program %q cannot be started: %w", o.Path, err), out.discard(), other.discard())
	}
	r.relay.begin()
	for _, s := range []*stream{out, other} {
		_ = s.theirs.Close() // the program has it
		r.copies.Go(func() { s.copy(r, o.Wrote) })
	}
	go func() {
		r.copies.Wait()
		close(r.drained)
	}()
	go r.wait()
	return r, nil
}

// PID is the number of its process.
func (r *Running) PID() int { return r.cmd.Process.Pid }

// Ended is closed when the program has ended.
func (r *Running) Ended() <-chan struct{} { return r.ended }

// Drained is closed when nobody holds its streams any more, and all is passed on.
func (r *Running) Drained() <-chan struct{} { return r.drained }

// Stopped is closed when a signal asks for the end and the program has ended.
func (r *Running) Stopped() <-chan struct{} { return r.relay.stopped }

// Killed is closed when the program was killed, since it was asked twice to end.
func (r *Running) Killed() <-chan struct{} { return r.relay.killed }

// Unpassed says what of the program's output could not be passed on, and why. That
// nobody reads it any more is no fault.
func (r *Running) Unpassed() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.unpassed)
}

// Quiet is how long nothing has come.
func (r *Running) Quiet() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return time.Since(r.last)
}

// Ending is how the program has ended.
func (r *Running) Ending() Ending {
	<-r.ended
	return r.ending
}

// Close gives signals back their effect.
func (r *Running) Close() { r.relay.stop() }

func (r *Running) wait() {
	_ = r.cmd.Wait() // its state says it
	r.ending.At = machine.Clock()
	s := r.cmd.ProcessState
	r.ending.Code = s.ExitCode()
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		r.ending.Signal = w.Signal()
	}
	// A process begins as a copy of this one, and what that takes counts with it.
	if u, ok := s.SysUsage().(*syscall.Rusage); ok && u.Maxrss > r.own {
		r.ending.MaxRSS = u.Maxrss * rssUnit
	}
	r.read()
	close(r.ended)
}

func (r *Running) read() {
	r.mu.Lock()
	r.last = time.Now()
	r.mu.Unlock()
}

// stream is one of the program's, on its way to the user.
type stream struct {
	name         string
	ours, theirs *os.File // the ends to read and to write
	to           io.Writer
	shown        *os.File // the user's terminal; nil where it is none
}

// open makes a pipe, or a terminal where the user has one.
func open(name string, to io.Writer) (*stream, error) {
	s := &stream{name: name, to: to}
	var err error
	if terminal.Is(to) {
		s.shown = to.(*os.File)
		if s.ours, s.theirs, err = openTerminal(s.shown); err != nil {
			return nil, fmt.Errorf("no terminal for the program's %s: %w", name, err)
		}
		s.resize()
		return s, nil
	}
	if s.ours, s.theirs, err = os.Pipe(); err != nil {
		return nil, fmt.Errorf("no pipe for the program's %s: %w", name, err)
	}
	return s, nil
}

func (s *stream) discard() error { return errors.Join(s.ours.Close(), s.theirs.Close()) }

// copy passes on what comes. Where nobody reads it any more the program is told as
// it would be without us: its next write finds a closed pipe.
func (s *stream) copy(r *Running, wrote func(string, int64, []byte)) {
	defer s.ours.Close()
	b := make([]byte, 64<<10)
	for {
		n, err := s.ours.Read(b)
		at := machine.Clock()
		if n > 0 {
			r.read()
			_, failed := s.to.Write(b[:n])
			if wrote != nil {
				wrote(s.name, at, b[:n])
			}
			if failed != nil {
				r.fail(s.name, failed)
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// fail notes that a stream cannot be written.
func (r *Running) fail(stream string, err error) {
	if errors.Is(err, syscall.EPIPE) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unpassed = append(r.unpassed, fmt.Sprintf("what the program wrote on %s could not be passed on: %v; its next write there finds a closed pipe", stream, err))
}

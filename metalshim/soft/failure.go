package soft

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/soft/native"
)

// EnvTimeout sets the time limit of a command buffer, as ParseTimeout reads it.
const EnvTimeout = "INTROGEN_COMMAND_BUFFER_TIMEOUT"

// stall is how long none of a command buffer's threadgroups may complete, unless
// a time limit is set. A threadgroup takes milliseconds, so that a kernel without
// end is told from a long prompt on a slow machine, whose command buffers may
// take many minutes: the whole has no limit by itself.
const stall = 20 * time.Second

// ParseTimeout reads a time limit of a command buffer: how long it may run, 0 for
// ever. knob, a flag or a variable, is named in the error.
func ParseTimeout(knob, text string) (time.Duration, error) {
	limit, err := time.ParseDuration(text)
	if err != nil || limit < 0 {
		return 0, fmt.Errorf("%s %q: how long a command buffer may run is a time with its unit, such as 10s or 5m, or 0 for no limit", knob, text)
	}
	return limit, nil
}

// Limited are the limits of Options for a time limit of a command buffer.
func Limited(timeout time.Duration) (kernel, buffer time.Duration) {
	if timeout == 0 {
		return -1, -1
	}
	return -1, timeout
}

func limitsFromEnv() (kernel, buffer time.Duration, err error) {
	text, set := os.LookupEnv(EnvTimeout)
	if !set {
		return stall, -1, nil
	}
	timeout, err := ParseTimeout(EnvTimeout, text)
	if err != nil {
		return 0, 0, err
	}
	kernel, buffer = Limited(timeout)
	return kernel, buffer, nil
}

// limits of a command buffer.
func (d *Device) limits() native.Limits {
	return native.Limits{Stall: max(0, d.o.KernelLimit), Total: max(0, d.o.BufferLimit)}
}

// execute runs c, when its turn has come, unless the device has been stopped.
func (d *Device) execute(c *commands, nanos []int64) (begun time.Time, out native.Outcome, err error) {
	d.turn.Lock()
	defer d.turn.Unlock()
	begun = time.Now()
	if err := c.q.takes(c); err != nil {
		return begun, out, err
	}
	if err := d.set(c); err != nil {
		return begun, out, err
	}
	defer func() { _ = d.set(nil) }() // which cannot fail
	out, err = d.pool.Run(c.list, nanos, d.limits())
	if err == nil && out.Status != native.OK {
		err = c.failure(out)
		if out.Status == native.Timeout {
			c.q.ignore()
		}
	}
	return begun, out, err
}

// ignore has the queue not run what is committed by now: what stands behind a
// command buffer that has reached its time limit is most often more of the same,
// and reads what that has not written. Metal does so too.
func (q *queue) ignore() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ignored = q.committed
}

// takes is the error of a command buffer that the queue does not run.
func (q *queue) takes(c *commands) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if c.number > q.ignored {
		return nil
	}
	return &metalshim.CommandError{Reason: "it was not run, since one before it in its queue reached the time limit", Err: metalshim.ErrTimeout}
}

// set notes which command buffer runs.
func (d *Device) set(c *commands) error {
	d.runs.Lock()
	defer d.runs.Unlock()
	if c != nil && d.stopped {
		return &metalshim.CommandError{Reason: "it was stopped before it began", Err: context.Canceled}
	}
	d.running = c
	return nil
}

// Stop ends what runs, and lets nothing begin that was committed: the command
// buffers fail, with an error that is context.Canceled. A GPU cannot do that;
// nobody can wait for a kernel without end.
func (d *Device) Stop() {
	d.runs.Lock()
	d.stopped = true
	d.runs.Unlock()
	d.pool.Stop()
}

// Running says which dispatch is under way, and for how long; ok is false where
// nothing runs.
func (d *Device) Running() (what string, ran time.Duration, ok bool) {
	d.runs.Lock()
	defer d.runs.Unlock()
	command, ran, ok := d.pool.Running()
	if !ok || d.running == nil || command >= len(d.running.list) {
		return "", 0, false
	}
	return d.running.at(command).Place(), ran, true
}

// at says which dispatch a command is, in an error that has no reason yet.
func (c *commands) at(command int) *metalshim.CommandError {
	e := &metalshim.CommandError{}
	for i, p := range c.kernels {
		if p == nil {
			continue
		}
		e.Dispatches++
		if i <= command {
			e.Dispatch++
		}
	}
	if command < len(c.kernels) && c.kernels[command] != nil {
		e.Kernel, e.Library = c.kernels[command].Function, c.kernels[command].Of
	}
	return e
}

// failure is the error for a run that went wrong.
func (c *commands) failure(out native.Outcome) error {
	e := c.at(out.Command)
	switch out.Status {
	case native.Timeout:
		e.Err = metalshim.ErrTimeout
		switch {
		case out.Limit == 0:
			e.Reason, e.Err = "it was stopped", context.Canceled
		case out.Stalled:
			e.Reason = fmt.Sprintf("no threadgroup completed in %v, so that it may have no end; %s sets another time limit, 0 none", out.Limit, EnvTimeout)
		default:
			e.Reason = fmt.Sprintf("the command buffer has run for its time limit, %v", out.Limit)
		}
	case native.Fault:
		e.Err = metalshim.ErrPageFault
		e.Reason = fmt.Sprintf("it accessed address %#x%s", out.Address, c.near(out.Command, out.Address))
	case native.Arithmetic:
		e.Err = errors.New("integer division by zero")
	case native.NoMemory:
		e.Err = errors.New("no memory for its threads")
	default:
		e.Err = errors.New("it ran into code that cannot be reached")
	}
	return e
}

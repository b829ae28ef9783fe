// Package callfault wraps a Metal driver and delays or fails chosen calls, to
// show what a harness makes of them.
package callfault

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/introgen/introgen/faultrule"
	"github.com/introgen/introgen/metalshim"
)

// ErrInjected is the cause of every failure that this package makes.
var ErrInjected = faultrule.ErrInjected

// Call is a kind of call that can be disturbed.
type Call string

// Calls.
const (
	Library  Call = "lib"
	Pipeline Call = "pipe"
	Alloc    Call = "alloc"
	Commit   Call = "commit"
	Wait     Call = "wait"
)

// Rule disturbs one kind of call.
type Rule struct {
	Call  Call
	Name  string        // of the library or the function; "" is any
	N     int           // the N-th matching call, from 1; 0 is every one
	Delay time.Duration // before the call
	Fail  bool          // instead of the call
}

// Rules are what is planted, in the order in which they were given.
type Rules []Rule

const usage = "want rules separated by ';', each lib[=NAME], pipe[=NAME], alloc, commit or wait, then any of n=K, delay=DURATION, fail, separated by ','; such as lib=Reduce,delay=2s"

// Parse reads rules from text such as "lib=Reduce,delay=2s" or
// "alloc,n=3,fail;wait,n=2,delay=1s".
func Parse(text string) (Rules, error) { return faultrule.ParseAll(text, usage, parseRule) }

func parseRule(text string) (Rule, error) {
	var r Rule
	err := faultrule.Read(text, func(p faultrule.Part) error {
		r.Call, r.Name = Call(p.Key), p.Value
		switch r.Call {
		case Library, Pipeline:
			if p.Given && p.Value == "" {
				return fmt.Errorf("%s= without a name", p.Key)
			}
		case Alloc, Commit, Wait:
			if p.Given {
				return fmt.Errorf("%s takes no name", p.Key)
			}
		default:
			return fmt.Errorf("unknown call %q", p.Key)
		}
		return nil
	}, faultrule.Parts{N: &r.N, Delay: &r.Delay, Fail: &r.Fail}, nil)
	if err == nil && r.Delay == 0 && !r.Fail {
		err = errors.New("neither delay nor fail")
	}
	return r, err
}

// String is the rule as Parse reads it.
func (r Rule) String() string {
	first := string(r.Call)
	if r.Name != "" {
		first += "=" + r.Name
	}
	return faultrule.Text(first, r.N, r.Delay, "", r.Fail)
}

// Injector applies rules.
type Injector struct{ *faultrule.Planted[Rule] }

// New returns an injector of the rules, which has disturbed nothing yet.
func New(rules Rules) *Injector {
	return &Injector{faultrule.Plant(rules, func(r Rule) int { return r.N })}
}

// hit is called before a call is made. An error means that it is not to be
// made.
func (in *Injector) hit(ctx context.Context, call Call, name string) error {
	var delay time.Duration
	fail := false
	for _, r := range in.Hits(func(r Rule) bool { return r.Call == call && (r.Name == "" || r.Name == name) }) {
		delay, fail = delay+r.Delay, fail || r.Fail
	}
	if delay > 0 {
		select {
		case <-time.After(delay):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if fail {
		return ErrInjected
	}
	return nil
}

type device struct {
	metalshim.Device
	in *Injector
}

// Wrap returns dev with the injector's disturbances.
func (in *Injector) Wrap(dev metalshim.Device) metalshim.Device { return &device{dev, in} }

// CompileThreads passes on what the driver says.
func (d *device) CompileThreads() int { return metalshim.CompileThreads(d.Device) }

func (d *device) NewLibrary(ctx context.Context, src metalshim.Source) (metalshim.Library, error) {
	return d.in.library(ctx, src, d.Device.NewLibrary)
}

// NewArchive disturbs what comes from an archive as what the device makes.
func (d *device) NewArchive(path string) (metalshim.Archive, error) {
	a, err := metalshim.NewArchive(d.Device, path)
	if err != nil {
		return nil, err
	}
	return &archive{a, d.in}, nil
}

type archive struct {
	metalshim.Archive
	in *Injector
}

func (a *archive) NewLibrary(ctx context.Context, src metalshim.Source) (metalshim.Library, error) {
	return a.in.library(ctx, src, a.Archive.NewLibrary)
}

func (in *Injector) library(ctx context.Context, src metalshim.Source, from func(context.Context, metalshim.Source) (metalshim.Library, error)) (metalshim.Library, error) {
	if err := in.hit(ctx, Library, src.Name); err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		return nil, &metalshim.CompileError{Library: src.Name, Err: err}
	}
	l, err := from(ctx, src)
	if err != nil {
		return nil, err
	}
	return &library{l, in}, nil
}

func (d *device) NewBuffer(length int, mode metalshim.StorageMode) (metalshim.Buffer, error) {
	return d.allocate(length, func() (metalshim.Buffer, error) { return d.Device.NewBuffer(length, mode) })
}

func (d *device) NewBufferWithBytes(b []byte) (metalshim.Buffer, error) {
	return d.allocate(len(b), func() (metalshim.Buffer, error) { return d.Device.NewBufferWithBytes(b) })
}

// NewBufferNoCopy is an allocation as the others are.
func (d *device) NewBufferNoCopy(memory []byte) (metalshim.Buffer, error) {
	return d.allocate(len(memory), func() (metalshim.Buffer, error) { return metalshim.NewBufferNoCopy(d.Device, memory) })
}

func (d *device) allocate(length int, made func() (metalshim.Buffer, error)) (metalshim.Buffer, error) {
	if err := d.in.hit(context.Background(), Alloc, ""); err != nil {
		return nil, &metalshim.AllocationError{Length: int64(length), Err: err}
	}
	return made()
}

func (d *device) NewQueue() (metalshim.Queue, error) {
	q, err := d.Device.NewQueue()
	if err != nil {
		return nil, err
	}
	return &queue{q, d.in}, nil
}

type library struct {
	metalshim.Library
	in *Injector
}

func (l *library) NewPipeline(ctx context.Context, function string, constants []metalshim.Constant) (metalshim.Pipeline, error) {
	if err := l.in.hit(ctx, Pipeline, function); err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		return nil, &metalshim.CompileError{Library: l.Name(), Function: function, Err: err}
	}
	return l.Library.NewPipeline(ctx, function, constants)
}

type queue struct {
	metalshim.Queue
	in *Injector
}

func (q *queue) NewCommandBuffer() (metalshim.CommandBuffer, error) {
	c, err := q.Queue.NewCommandBuffer()
	if err != nil {
		return nil, err
	}
	return &commands{CommandBuffer: c, in: q.in}, nil
}

type commands struct {
	metalshim.CommandBuffer
	in *Injector

	mu     sync.Mutex
	failed error // what an injected failure of Wait left behind
}

func (c *commands) OnCompleted(f func(metalshim.CommandBuffer)) {
	c.CommandBuffer.OnCompleted(func(metalshim.CommandBuffer) { f(c) })
}

func (c *commands) Commit() error {
	if err := c.in.hit(context.Background(), Commit, ""); err != nil {
		return &metalshim.CommandError{Reason: "commit: " + err.Error(), Err: err}
	}
	return c.CommandBuffer.Commit()
}

// Wait waits for the real end even where it then fails: the work is on the
// device, whose memory must not go away.
func (c *commands) Wait(ctx context.Context) error {
	injected := c.in.hit(ctx, Wait, "")
	if err := c.CommandBuffer.Wait(ctx); err != nil || injected == nil {
		return err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failed = &metalshim.CommandError{Err: injected}
	return c.failed
}

func (c *commands) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failed != nil {
		return c.failed
	}
	return c.CommandBuffer.Err()
}

func (c *commands) Status() metalshim.Status {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failed != nil {
		return metalshim.Failed
	}
	return c.CommandBuffer.Status()
}

// KernelTimes passes on what the driver knows.
func (c *commands) KernelTimes() []metalshim.KernelTime {
	return metalshim.KernelTimes(c.CommandBuffer)
}

// CommandTimes passes on what the driver knows.
func (c *commands) CommandTimes() []metalshim.CommandTime {
	return metalshim.CommandTimes(c.CommandBuffer)
}

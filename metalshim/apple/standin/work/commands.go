package work

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/introgen/introgen/metalshim"
)

// CommandBuffer is a command buffer of the device, or one that failed before it
// got there. It is made by NewCommandBuffer.
type CommandBuffer struct {
	metalshim.CommandBuffer
	failed atomic.Pointer[Failure]
	ended  chan struct{} // of one that failed
}

// NewCommandBuffer makes one.
func NewCommandBuffer(q metalshim.Queue) (*CommandBuffer, error) {
	c, err := q.NewCommandBuffer()
	if err != nil {
		return nil, err
	}
	return &CommandBuffer{CommandBuffer: c, ended: make(chan struct{})}, nil
}

// Commit hands c to the device, unless it is to fail, as planted says. complete is
// called once, on any goroutine, when it has run or failed.
func (t *Table) Commit(c *CommandBuffer, planted *Failure, complete func()) {
	t.Flights.Add(1)
	done := func() {
		defer t.Flights.Done()
		complete()
	}
	fail := func(f *Failure) {
		c.failed.Store(f)
		go func() {
			defer close(c.ended)
			done()
		}()
	}
	if planted != nil {
		fail(planted)
		return
	}
	c.OnCompleted(func(metalshim.CommandBuffer) { done() })
	if err := c.CommandBuffer.Commit(); err != nil {
		fail(&Failure{CommandsDomain, 1, err.Error()})
	}
}

// WaitUntilCompleted returns when c has run or failed, which State tells.
func (c *CommandBuffer) WaitUntilCompleted() {
	if c.failed.Load() != nil {
		<-c.ended
		return
	}
	// The error is the command buffer's, which is asked for it.
	_ = c.Wait(context.Background())
}

// State is its MTLCommandBufferStatus, and why it failed where it did.
func (c *CommandBuffer) State() (metalshim.Status, *Failure) {
	if f := c.failed.Load(); f != nil {
		return metalshim.Failed, f
	}
	status := c.Status()
	if status != metalshim.Failed {
		return status, nil
	}
	f := &Failure{Domain: CommandsDomain, Code: codeOf(c.Err())}
	if err := c.Err(); err != nil {
		f.Text = err.Error()
	}
	return status, f
}

// codeOf is MTLCommandBufferError.
func codeOf(err error) int64 {
	switch {
	case errors.Is(err, metalshim.ErrTimeout):
		return 2
	case errors.Is(err, metalshim.ErrPageFault):
		return 3
	case errors.Is(err, metalshim.ErrOutOfMemory):
		return 8
	case errors.Is(err, metalshim.ErrDeviceLost):
		return 11
	}
	return 1 // internal
}

// Encoder is a compute encoder or a blit encoder. It is made by NewEncoder.
type Encoder struct {
	compute metalshim.Encoder
	blit    metalshim.Blit
}

// KindBlit is the kind of an encoder that is not a compute encoder, whose kind
// is its dispatch type.
const KindBlit = 2

// NewEncoder opens one.
func (c *CommandBuffer) NewEncoder(kind int) (e *Encoder, err error) {
	e = &Encoder{}
	if kind == KindBlit {
		e.blit, err = c.NewBlit()
	} else {
		e.compute, err = c.CommandBuffer.NewEncoder(metalshim.DispatchType(kind))
	}
	return e, err
}

// Operations of a Command, in the order of enum operation of c/standin.h.
const (
	SetPipeline = iota
	SetBuffer
	SetBytes
	SetMemory
	DispatchThreads
	DispatchGroups
	Barrier
	WaitFence
	UpdateFence
	Copy
	Fill
	End
)

// Command is one call of an encoder: struct command of c/standin.h.
type Command struct {
	Operation          uint64
	Object             uint64 // handle, 0 for none
	Index              uint64 // or a barrier's scope, or the value of a fill
	Offset, Length     uint64
	Other, OtherOffset uint64 // a copy's destination
	Bytes              []byte // of SetBytes
	Grid, Group        [3]uint64
}

// Encode passes on one command. An error means that the device refused it.
func (t *Table) Encode(e *Encoder, c *Command) error {
	if e.blit != nil {
		return t.encodeBlit(e.blit, c)
	}
	return t.encodeCompute(e.compute, c)
}

func size(v [3]uint64) metalshim.Size {
	return metalshim.Size{X: int(v[0]), Y: int(v[1]), Z: int(v[2])}
}

func (t *Table) encodeCompute(e metalshim.Encoder, c *Command) error {
	switch c.Operation {
	case SetPipeline:
		p, err := Find[metalshim.Pipeline](t, uintptr(c.Object))
		if err != nil {
			return err
		}
		e.SetPipeline(p)
	case SetBuffer:
		var b metalshim.Buffer
		if c.Object != 0 {
			var err error
			if b, err = Find[metalshim.Buffer](t, uintptr(c.Object)); err != nil {
				return err
			}
		}
		e.SetBuffer(int(c.Index), b, int(c.Offset))
	case SetBytes:
		e.SetBytes(int(c.Index), c.Bytes)
	case SetMemory:
		e.SetThreadgroupMemory(int(c.Index), int(c.Length))
	case DispatchThreads:
		return e.DispatchThreads(size(c.Grid), size(c.Group))
	case DispatchGroups:
		return e.DispatchThreadgroups(size(c.Grid), size(c.Group))
	case Barrier:
		e.MemoryBarrier(metalshim.BarrierScope(c.Index))
	case End:
		return e.EndEncoding()
	default:
		return t.fence(e, c)
	}
	return nil
}

func (t *Table) encodeBlit(e metalshim.Blit, c *Command) error {
	switch c.Operation {
	case Copy:
		from, err := Find[metalshim.Buffer](t, uintptr(c.Object))
		if err != nil {
			return err
		}
		to, err := Find[metalshim.Buffer](t, uintptr(c.Other))
		if err != nil {
			return err
		}
		e.Copy(to, int(c.OtherOffset), from, int(c.Offset), int(c.Length))
	case Fill:
		b, err := Find[metalshim.Buffer](t, uintptr(c.Object))
		if err != nil {
			return err
		}
		e.Fill(b, int(c.Offset), int(c.Length), byte(c.Index))
	case End:
		return e.EndEncoding()
	default:
		return t.fence(e, c)
	}
	return nil
}

// fence passes on what both kinds of encoders have.
func (t *Table) fence(e interface {
	WaitForFence(metalshim.Fence)
	UpdateFence(metalshim.Fence)
}, c *Command) error {
	f, err := Find[metalshim.Fence](t, uintptr(c.Object))
	if err != nil {
		return err
	}
	switch c.Operation {
	case WaitFence:
		e.WaitForFence(f)
	case UpdateFence:
		e.UpdateFence(f)
	default:
		return fmt.Errorf("an encoder has no operation %d", c.Operation)
	}
	return nil
}

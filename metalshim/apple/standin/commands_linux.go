//go:build linux && (amd64 || arm64)

package standin

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/ebitengine/purego"
	"golang.org/x/sys/unix"

	"github.com/introgen/introgen/metalshim"
)

// commandBuffer is a command buffer of the served device, or one that failed
// before it got there.
type commandBuffer struct {
	metalshim.CommandBuffer
	failed atomic.Pointer[Failure]
	ended  chan struct{} // of one that failed
}

// encoder is a compute encoder or a blit encoder.
type encoder struct {
	compute metalshim.Encoder
	blit    metalshim.Blit
}

func (s *Server) commands(queue uintptr) uintptr {
	c, err := at[metalshim.Queue](s, queue).NewCommandBuffer()
	if err != nil {
		return 0
	}
	return s.add(&commandBuffer{CommandBuffer: c, ended: make(chan struct{})})
}

func (s *Server) commit(handle, object uintptr) uintptr {
	c := at[*commandBuffer](s, handle)
	s.flights.Add(1)
	complete := func() {
		defer s.flights.Done()
		purego.SyscallN(s.l.completed, object)
	}
	fail := func(f *Failure) uintptr {
		c.failed.Store(f)
		go func() {
			defer close(c.ended)
			complete()
		}()
		return 0
	}
	if f := s.planted(AtCommit, ""); f != nil {
		return fail(f)
	}
	c.OnCompleted(func(metalshim.CommandBuffer) { complete() })
	if err := c.Commit(); err != nil {
		return fail(&Failure{Domain: "MTLCommandBufferErrorDomain", Code: 1, Text: err.Error()})
	}
	return 0
}

func (s *Server) wait(handle uintptr) uintptr {
	c := at[*commandBuffer](s, handle)
	if c.failed.Load() != nil {
		<-c.ended
		return 0
	}
	// The error is the command buffer's, which is asked for it.
	_ = c.Wait(context.Background())
	return 0
}

func (s *Server) status(handle uintptr) uintptr {
	c := at[*commandBuffer](s, handle)
	f := c.failed.Load()
	if f == nil {
		status := c.Status()
		if status != metalshim.Failed {
			return uintptr(status)
		}
		f = &Failure{Domain: "MTLCommandBufferErrorDomain", Code: codeOf(c.Err())}
		if err := c.Err(); err != nil {
			f.Text = err.Error()
		}
	}
	s.reply(*f)
	return uintptr(metalshim.Failed)
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

// times are seconds of the monotonic clock, which stands for the time since
// the machine started; 0 where a stage was not passed.
func (s *Server) times(handle uintptr, out *[4]float64) uintptr {
	t := at[*commandBuffer](s, handle).Times()
	var clock unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &clock); err != nil {
		return 0
	}
	now := time.Now()
	for i, t := range []time.Time{t.Committed, t.Scheduled, t.GPUStart, t.GPUEnd} {
		if !t.IsZero() {
			out[i] = float64(clock.Nano()-now.Sub(t).Nanoseconds()) / 1e9
		}
	}
	return 0
}

func (s *Server) encoder(commands, kind uintptr) uintptr {
	c := at[*commandBuffer](s, commands)
	e := &encoder{}
	var err error
	if kind == kindBlit {
		e.blit, err = c.NewBlit()
	} else {
		e.compute, err = c.NewEncoder(metalshim.DispatchType(kind))
	}
	if err != nil {
		s.reply(Failure{Text: err.Error()})
		return 0
	}
	return s.add(e)
}

// encode passes on one command; 1 means that the device refused it.
func (s *Server) encode(handle uintptr, c *cCommand) uintptr {
	e := at[*encoder](s, handle)
	var err error
	if e.blit != nil {
		err = s.blit(e.blit, c)
	} else {
		err = s.compute(e.compute, c)
	}
	if err != nil {
		s.reply(Failure{Text: err.Error()})
		return 1
	}
	return 0
}

func (s *Server) compute(e metalshim.Encoder, c *cCommand) error {
	size := func(v [3]uint64) metalshim.Size { return metalshim.Size{X: int(v[0]), Y: int(v[1]), Z: int(v[2])} }
	switch c.operation {
	case opPipeline:
		e.SetPipeline(at[metalshim.Pipeline](s, uintptr(c.object)))
	case opBuffer:
		var b metalshim.Buffer
		if c.object != 0 {
			b = at[metalshim.Buffer](s, uintptr(c.object))
		}
		e.SetBuffer(int(c.index), b, int(c.offset))
	case opBytes:
		e.SetBytes(int(c.index), unsafe.Slice(c.bytes, c.length))
	case opMemory:
		e.SetThreadgroupMemory(int(c.index), int(c.length))
	case opThreads:
		return e.DispatchThreads(size(c.grid), size(c.group))
	case opGroups:
		return e.DispatchThreadgroups(size(c.grid), size(c.group))
	case opBarrier:
		e.MemoryBarrier(metalshim.BarrierScope(c.index))
	case opWaitFence:
		e.WaitForFence(at[metalshim.Fence](s, uintptr(c.object)))
	case opUpdateFence:
		e.UpdateFence(at[metalshim.Fence](s, uintptr(c.object)))
	case opEnd:
		return e.EndEncoding()
	}
	return nil
}

func (s *Server) blit(e metalshim.Blit, c *cCommand) error {
	buffer := func(handle uint64) metalshim.Buffer { return at[metalshim.Buffer](s, uintptr(handle)) }
	switch c.operation {
	case opCopy:
		e.Copy(buffer(c.other), int(c.otherOffset), buffer(c.object), int(c.offset), int(c.length))
	case opFill:
		e.Fill(buffer(c.object), int(c.offset), int(c.length), byte(c.index))
	case opWaitFence:
		e.WaitForFence(at[metalshim.Fence](s, uintptr(c.object)))
	case opUpdateFence:
		e.UpdateFence(at[metalshim.Fence](s, uintptr(c.object)))
	case opEnd:
		return e.EndEncoding()
	}
	return nil
}

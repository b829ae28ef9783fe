//go:build linux && (amd64 || arm64)

package standin_test

import (
	"context"
	"fmt"
	"sync"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/shimtest"
)

// recorder is a device that writes down what its encoders are told, in words
// of its own: what arrived behind all the messages.
type recorder struct {
	shimtest.Device
	mu    sync.Mutex
	lines []string
}

func (r *recorder) add(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, fmt.Sprintf(format, args...))
}

func (r *recorder) NewLibrary(ctx context.Context, src metalshim.Source) (metalshim.Library, error) {
	l, err := r.Device.NewLibrary(ctx, src)
	r.add("library, math %d %d, version %s, macros %v", src.MathMode, src.MathFunctions, src.LanguageVersion, src.Macros)
	return recordingLibrary{l, r}, err
}

type recordingLibrary struct {
	metalshim.Library
	r *recorder
}

func (l recordingLibrary) NewPipeline(ctx context.Context, name string, constants []metalshim.Constant) (metalshim.Pipeline, error) {
	l.r.add("pipeline %s %v", name, constants)
	return l.Library.NewPipeline(ctx, name, constants)
}

func (r *recorder) NewQueue() (metalshim.Queue, error) {
	q, err := r.Device.NewQueue()
	return recordingQueue{q, r}, err
}

type recordingQueue struct {
	metalshim.Queue
	r *recorder
}

func (q recordingQueue) NewCommandBuffer() (metalshim.CommandBuffer, error) {
	c, err := q.Queue.NewCommandBuffer()
	return &recordingCommands{c, q.r}, err
}

type recordingCommands struct {
	metalshim.CommandBuffer
	r *recorder
}

func (c *recordingCommands) NewEncoder(t metalshim.DispatchType) (metalshim.Encoder, error) {
	e, err := c.CommandBuffer.NewEncoder(t)
	c.r.add("compute %d", t)
	return recordingEncoder{e, c.r}, err
}

func (c *recordingCommands) NewBlit() (metalshim.Blit, error) {
	b, err := c.CommandBuffer.NewBlit()
	c.r.add("blit")
	return recordingBlit{b, c.r}, err
}

type recordingEncoder struct {
	metalshim.Encoder
	r *recorder
}

func (e recordingEncoder) SetBuffer(i int, b metalshim.Buffer, offset int) {
	length := 0
	if b != nil {
		length = b.Len()
	}
	e.r.add("buffer %d: %d+%d", i, length, offset)
}

func (e recordingEncoder) SetBytes(i int, b []byte)               { e.r.add("bytes %d: %x", i, b) }
func (e recordingEncoder) SetThreadgroupMemory(i, n int)          { e.r.add("memory %d: %d", i, n) }
func (e recordingEncoder) WaitForFence(metalshim.Fence)           { e.r.add("wait for fence") }
func (e recordingEncoder) UpdateFence(metalshim.Fence)            { e.r.add("update fence") }
func (e recordingEncoder) MemoryBarrier(s metalshim.BarrierScope) { e.r.add("barrier %d", s) }

func (e recordingEncoder) DispatchThreads(n, per metalshim.Size) error {
	e.r.add("threads %v per %v", n, per)
	return nil
}

func (e recordingEncoder) DispatchThreadgroups(n, per metalshim.Size) error {
	e.r.add("groups %v per %v", n, per)
	return nil
}

type recordingBlit struct {
	metalshim.Blit
	r *recorder
}

func (b recordingBlit) Copy(dst metalshim.Buffer, to int, src metalshim.Buffer, from, n int) {
	b.r.add("copy %d+%d to %d+%d, %d bytes", src.Len(), from, dst.Len(), to, n)
}

func (b recordingBlit) Fill(dst metalshim.Buffer, at, n int, value byte) {
	b.r.add("fill %d+%d, %d bytes of %d", dst.Len(), at, n, value)
}

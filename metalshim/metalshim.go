// Package metalshim is Metal's compute API as Go interfaces, so that one
// engine runs on Apple's driver and on a software one. It keeps Metal's shape
// and words; it is not an abstraction over every GPU.
//
// A driver implements Device. Two decorators wrap any driver: Instrument, the
// only place where Metal calls are timed, and metalshim/callfault, which delays
// or fails chosen calls. The drivers are metalshim/soft and metalshim/apple;
// metalshim/drivers opens them by name.
//
// Rules that hold for every driver:
//   - An object that a New… method returns belongs to the caller until its
//     Release. Release of an object that a command buffer in flight still
//     uses is allowed: the command buffer holds on to it until it has
//     completed.
//   - A queue, its command buffers and their encoders are used by one
//     goroutine at a time. Everything else may be used by several.
//   - Encoder setters return nothing, as in Metal. The first misuse is kept
//     and returned by the next dispatch and by EndEncoding.
//   - Sizes, offsets and lengths are in bytes unless said otherwise.
package metalshim

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Size is MTLSize: a number of threads or threadgroups in each direction.
type Size struct{ X, Y, Z int }

// Count is the product of the three, or -1 where one of them is below 1 or
// the product leaves the range of 32 bits, the range of Metal's grid indices.
func (s Size) Count() int {
	const limit = 1<<32 - 1
	if s.X < 1 || s.Y < 1 || s.Z < 1 || s.X > limit || s.Y > limit/s.X || s.Z > limit/(s.X*s.Y) {
		return -1
	}
	return s.X * s.Y * s.Z
}

// Info describes a device. It does not change while the device is open.
type Info struct {
	Driver string // "soft", "apple"
	Name   string // the device's own name, "soft" or such as "Apple M2"
	Detail string // what stands behind it: "clang 19.1.7, AMD EPYC 9B45, 2 cores"; "" if nothing is to be said
	// Architecture is -[MTLDevice architecture].name, or "" where the device
	// has none (nil).
	Architecture string
	RegistryID   uint64

	MaxThreadsPerThreadgroup int   // threads
	MaxThreadgroupMemory     int   // bytes, static and dynamic together
	MaxBufferLength          int64 // bytes of one buffer
	UnifiedMemory            bool
}

// String names the device in output: "metal (soft: clang 19.1.7, …, 2 cores)".
func (i Info) String() string {
	switch {
	case i.Detail != "":
		return "metal (" + i.Driver + ": " + i.Detail + ")"
	case i.Name != "" && i.Name != i.Driver:
		return "metal (" + i.Driver + ": " + i.Name + ")"
	}
	return "metal (" + i.Driver + ")"
}

// Counts is how many objects of each kind have been made and not yet
// released. All zero at the end means that nothing leaked.
type Counts struct {
	Libraries, Pipelines, Buffers, Queues, CommandBuffers, Fences, Archives int
	BufferBytes                                                             int64
}

// Device is MTLDevice.
type Device interface {
	Info() Info
	// NewLibrary compiles MSL source. A source that does not compile is a
	// *CompileError. A cancelled ctx ends the compile where the driver can.
	NewLibrary(ctx context.Context, src Source) (Library, error)
	// NewBuffer makes a buffer of length bytes, length ≥ 1. Its content is
	// undefined. Too large or no memory left is an *AllocationError.
	NewBuffer(length int, mode StorageMode) (Buffer, error)
	// NewBufferWithBytes makes a shared buffer that holds a copy of b.
	NewBufferWithBytes(b []byte) (Buffer, error)
	NewQueue() (Queue, error)
	NewFence() (Fence, error)
	// Live counts the objects that are not yet released.
	Live() Counts
	// Close waits for what is in flight and frees the device. Objects that
	// are still live are then no longer usable.
	Close() error
}

// NoCopyBuffers is implemented by devices that can make a buffer of memory that
// is there already. Not every driver can.
type NoCopyBuffers interface {
	// NewBufferNoCopy makes a shared buffer of memory itself, which begins and
	// ends at page boundaries. It must stay mapped until the buffer is released
	// and all that uses it has completed, which Release does not wait for.
	NewBufferNoCopy(memory []byte) (Buffer, error)
}

// NewBufferNoCopy makes a buffer of memory on d, or says that d cannot: an
// *AllocationError that wraps errors.ErrUnsupported.
func NewBufferNoCopy(d Device, memory []byte) (Buffer, error) {
	can, ok := d.(NoCopyBuffers)
	if !ok {
		return nil, &AllocationError{Length: int64(len(memory)),
			Err: fmt.Errorf("the driver %s makes no buffers of memory that is not copied: %w", d.Info().Driver, errors.ErrUnsupported)}
	}
	return can.NewBufferNoCopy(memory)
}

// BufferWithBytes makes a shared buffer of d that holds a copy of b: what a
// driver's NewBufferWithBytes does. The copy is made here, so that a fault while b
// is read, as of a mapped file that has shrunk, is Go's to handle: it panics, which
// the caller may turn into an error, and nobody would know of the buffer.
func BufferWithBytes(d Device, b []byte) (Buffer, error) {
	made, err := d.NewBuffer(len(b), Shared)
	if err != nil {
		return nil, err
	}
	copied := false
	defer func() {
		if !copied {
			made.Release()
		}
	}()
	copy(made.Contents(), b)
	copied = true
	return made, nil
}

// Source is what a library is compiled from.
type Source struct {
	Name string // the library's name in traces, such as "Gemm"
	Text string
	File string // the file the text came from, used in diagnostics; "" if none
	CompileOptions
}

// CompileOptions is MTLCompileOptions, as far as candle sets it.
type CompileOptions struct {
	MathMode        MathMode
	MathFunctions   MathFunctions
	LanguageVersion string            // "3.1"; "" leaves the driver's default
	Macros          map[string]string // preprocessor macros
}

// MathMode is MTLMathMode, with Metal's values.
type MathMode int

// Math modes. Fast is Metal's own default.
const (
	MathSafe    MathMode = 0
	MathRelaxed MathMode = 1
	MathFast    MathMode = 2
)

// MathFunctions is MTLMathFloatingPointFunctions: which variant of sin, exp …
// a name without precise:: or fast:: stands for.
type MathFunctions int

// Variants of the math functions, with Metal's values.
const (
	FastFunctions    MathFunctions = 0
	PreciseFunctions MathFunctions = 1
)

// StorageMode is MTLStorageMode. Every buffer is of
// MTLHazardTrackingModeUntracked: order is the encoder's business, by
// barriers and fences.
type StorageMode int

// Storage modes, with Metal's values.
const (
	Shared  StorageMode = 0
	Private StorageMode = 2
)

func (m StorageMode) String() string {
	switch m {
	case Shared:
		return "shared"
	case Private:
		return "private"
	}
	return "storage mode unknown"
}

// Evidence is how one library or pipeline came to be.
type Evidence struct {
	State string // one of the cache states of package names
	Key   string // the cache's key, hexadecimal, or ""
	Bytes int64  // size of the compiled code, 0 if unknown
	Note  string // anything unusual, such as "damaged entry rebuilt"
	// Archive is why an archive that was asked for did not give it; "" where it did,
	// or where none was asked.
	Archive string
}

// Library is MTLLibrary.
type Library interface {
	Name() string
	// SourceBytes is the length of the text it was compiled from.
	SourceBytes() int
	// FunctionNames lists its kernels in the order of the source.
	FunctionNames() []string
	// NewPipeline makes function with constants into an executable pipeline.
	// An absent function is a *FunctionError, one that does not compile a
	// *CompileError.
	NewPipeline(ctx context.Context, function string, constants []Constant) (Pipeline, error)
	Evidence() Evidence
	Release()
}

// Pipeline is MTLComputePipelineState.
type Pipeline interface {
	Name() string // the function's name
	Library() string
	Constants() []Constant
	MaxThreadsPerThreadgroup() int // threads
	ThreadExecutionWidth() int     // lanes of a simdgroup
	StaticThreadgroupMemory() int  // bytes
	Evidence() Evidence
	Release()
}

// Buffer is MTLBuffer.
type Buffer interface {
	Len() int
	Mode() StorageMode
	// Contents is the memory of a shared buffer; nil if it is private. It is
	// valid until Release. What the GPU writes may be read once the command
	// buffer has completed.
	Contents() []byte
	Release()
}

// Fence is MTLFence.
type Fence interface{ Release() }

// Queue is MTLCommandQueue. Command buffers run in the order of their Commit.
type Queue interface {
	NewCommandBuffer() (CommandBuffer, error)
	Release()
}

// Status is MTLCommandBufferStatus.
type Status int

// Stages of a command buffer, with Metal's values.
const (
	NotEnqueued Status = 0
	Enqueued    Status = 1
	Committed   Status = 2
	Scheduled   Status = 3
	Completed   Status = 4
	Failed      Status = 5
)

func (s Status) String() string {
	names := [...]string{"not enqueued", "enqueued", "committed", "scheduled", "completed", "error"}
	if s < 0 || int(s) >= len(names) {
		return "unknown"
	}
	return names[s]
}

// Times is when a command buffer passed its stages; the zero time where it has
// not, or where the driver does not know.
type Times struct {
	Committed, Scheduled, GPUStart, GPUEnd time.Time
}

// CommandBuffer is MTLCommandBuffer.
type CommandBuffer interface {
	// NewEncoder opens a compute encoder. One encoder, compute or blit, may
	// be open at a time.
	NewEncoder(t DispatchType) (Encoder, error)
	NewBlit() (Blit, error)
	// OnCompleted registers f to be called, on any goroutine, once the
	// command buffer has completed or failed. It must be called before
	// Commit, and f must not wait for this queue.
	OnCompleted(f func(CommandBuffer))
	// Commit hands it to the device. All encoders must have ended.
	Commit() error
	// Wait returns when it has completed, with its error if it failed. A
	// cancelled ctx ends the wait, not the work.
	Wait(ctx context.Context) error
	Status() Status
	// Err is why it failed: a *CommandError; nil if it did not.
	Err() error
	Times() Times
	Release()
}

// KernelTime is what the dispatches of one kernel took in a command buffer.
type KernelTime struct {
	Kernel     string
	Dispatches int
	Time       time.Duration
}

// KernelTimer is implemented by command buffers of drivers that can time
// single dispatches. The answer is complete once the buffer has completed.
type KernelTimer interface {
	KernelTimes() []KernelTime
}

// KernelTimes is what the driver of c knows of them.
func KernelTimes(c CommandBuffer) []KernelTime {
	if k, ok := c.(KernelTimer); ok {
		return k.KernelTimes()
	}
	return nil
}

// DispatchType is MTLDispatchType.
type DispatchType int

// Dispatch types, with Metal's values. In a concurrent encoder dispatches may
// overlap unless a barrier stands between them.
const (
	Serial     DispatchType = 0
	Concurrent DispatchType = 1
)

// BarrierScope is MTLBarrierScope.
type BarrierScope int

// BarrierBuffers orders accesses to buffers, with Metal's value.
const BarrierBuffers BarrierScope = 1

// MaxBufferIndex is the number of buffer arguments that a kernel can have.
const MaxBufferIndex = 31

// Encoder is MTLComputeCommandEncoder. What is set stays set for the
// dispatches that follow in the same encoder.
type Encoder interface {
	SetLabel(label string)
	SetPipeline(p Pipeline)
	SetBuffer(index int, b Buffer, offset int)
	// SetBytes copies b, at most 4096 bytes, as argument index.
	SetBytes(index int, b []byte)
	SetThreadgroupMemory(index, length int)
	// DispatchThreadgroups runs groups × perGroup threads. An argument that
	// the kernel needs and that is not set, or a threadgroup that is too
	// large, is an *EncodeError.
	DispatchThreadgroups(groups, perGroup Size) error
	// DispatchThreads runs threads threads; groups at the upper edges may be
	// smaller than perGroup.
	DispatchThreads(threads, perGroup Size) error
	MemoryBarrier(scope BarrierScope)
	WaitForFence(f Fence)
	UpdateFence(f Fence)
	EndEncoding() error
}

// Blit is MTLBlitCommandEncoder.
type Blit interface {
	SetLabel(label string)
	Copy(dst Buffer, dstOffset int, src Buffer, srcOffset, n int)
	Fill(dst Buffer, offset, n int, value byte)
	WaitForFence(f Fence)
	UpdateFence(f Fence)
	EndEncoding() error
}

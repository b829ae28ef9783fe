// Package metal runs llama models on Metal, dispatch for dispatch as candle
// 0.11.0 does: package forward says what is done, this package does it through
// metalshim, on whatever driver stands behind that.
package metal

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/introgen/introgen/engine/metal/commandbuffer"
	"github.com/introgen/introgen/engine/metal/compile"
	"github.com/introgen/introgen/engine/metal/kernels"
	"github.com/introgen/introgen/engine/metal/pool"
	"github.com/introgen/introgen/metalshim"
)

// Options are the knobs of a device.
type Options struct {
	// CommandsPerBuffer is how many operations a command buffer holds, ≥ 0,
	// with candle's meaning (see commandbuffer.Counter). candle's default is
	// commandbuffer.DefaultPerBuffer.
	CommandsPerBuffer int
	// Kernels is where the libraries' source comes from; nil means the
	// project's own.
	Kernels *kernels.Set
	// Arithmetic is whose arithmetic the engines compute.
	Arithmetic Arithmetic
	// Positions is how many positions a run reaches, where the model turns heads
	// otherwise in long runs than in short ones; 0 is as many as the model allows.
	Positions int
	// Compile is how libraries and pipelines are compiled, and Threads how many are
	// compiled at once where they are not compiled one by one; 0 is what the device
	// says.
	Compile Compile
	Threads int
	// Archive, where not nil, is looked at before a library or a pipeline is
	// compiled. It stays the caller's.
	Archive metalshim.Archive
}

// Device is a Metal device with a queue, and with what outlives a model: the
// compiled libraries and pipelines, and the buffer pools. Models are built on
// it one after another. It is used by one goroutine at a time; what Options.Compile
// has it compile beside that one needs nothing of the caller.
type Device struct {
	ctx    context.Context // ends compiles and waits, which happen deep inside a forward pass
	metal  metalshim.Device
	set    *kernels.Set
	queue  metalshim.Queue
	from   source // of libraries
	failed error  // why the device is no longer usable

	arithmetic Arithmetic
	positions  int // that a run reaches

	compile   Compile
	threads   int                // that compile beside
	compiler  *compile.Scheduler // has all that was compiled
	pipelines []pipelineEntry    // those of it that were needed
	keep      kept               // the kernels that libraries are compiled with

	private, shared pool.Pool[*buffer]
	lastBuffer      int       // buffers are told apart by numbers
	borrowed        []*buffer // those of memory that is not the device's

	counter  commandbuffer.Counter
	hazards  commandbuffer.Hazards
	fences   commandbuffer.Fences[metalshim.Fence]
	current  metalshim.CommandBuffer
	inFlight []metalshim.CommandBuffer
	compute  *computeEncoder // the open one, or nil
	ended    []endedEncoder  // of the current command buffer
}

// source is what makes libraries: the device, or an archive on it.
type source interface {
	NewLibrary(ctx context.Context, src metalshim.Source) (metalshim.Library, error)
}

// pipelineEntry is a pipeline under candle's key, which does not hold the
// library: function names are unique among the libraries in use.
type pipelineEntry struct {
	function  string
	constants []metalshim.Constant
	pipeline  metalshim.Pipeline
}

// buffer is a Metal buffer and its number, or a part of one, which has the
// number of the whole.
type buffer struct {
	metalshim.Buffer
	id     int
	offset int // bytes into the Metal buffer at which it begins
}

// computeEncoder is an open encoder, its fence, and the buffers it writes.
type computeEncoder struct {
	metalshim.Encoder
	fence  metalshim.Fence
	writes []int
}

// endedEncoder is an encoder's fence, and the buffers that later encoders need
// no longer wait for once its command buffer is done: those that a compute
// encoder wrote, and none for a blit.
type endedEncoder struct {
	fence  metalshim.Fence
	writes []int
}

// NewDevice makes a queue on dev, which stays the caller's. ctx bounds all that
// is done through the result. Nothing is compiled yet.
func NewDevice(ctx context.Context, dev metalshim.Device, o Options) (*Device, error) {
	if o.CommandsPerBuffer < 0 {
		return nil, fmt.Errorf("metal: %d commands per buffer; it must be 0 or more", o.CommandsPerBuffer)
	}
	if o.Threads < 0 {
		return nil, fmt.Errorf("metal: %d compile threads; it must be 0 or more", o.Threads)
	}
	set := o.Kernels
	if set == nil {
		set = kernels.OwnSet()
	}
	queue, err := dev.NewQueue()
	if err != nil {
		return nil, fmt.Errorf("metal: %w", err)
	}
	d := &Device{
		ctx: ctx, metal: dev, from: dev, set: set, queue: queue,
		arithmetic: o.Arithmetic, positions: o.Positions,
		compile: o.Compile,
		counter: commandbuffer.Counter{PerBuffer: o.CommandsPerBuffer},
		fences:  commandbuffer.Fences[metalshim.Fence]{Release: metalshim.Fence.Release},
	}
	if o.Archive != nil {
		d.from = o.Archive
	}
	if d.current, err = queue.NewCommandBuffer(); err != nil {
		queue.Release()
		return nil, fmt.Errorf("metal: %w", err)
	}
	d.startCompiler(o.Threads)
	return d, nil
}

// Kernels are the kernels in use.
func (d *Device) Kernels() *kernels.Set { return d.set }

// CommandsPerBuffer is the setting in use.
func (d *Device) CommandsPerBuffer() int { return d.counter.PerBuffer }

// Close waits for what is in flight and frees all that the device has made.
// Models built on it are not used afterwards.
func (d *Device) Close() error {
	err := d.compiler.Stop()
	d.abandon()
	if d.failed == nil {
		err = errors.Join(err, d.reap())
	} else {
		d.releaseInFlight()
	}
	release := func(b *buffer) { d.releaseBuffer(b) }
	d.private.All(release)
	d.shared.All(release)
	d.giveBack(d.borrowed)
	d.fences.Clear()
	d.compiler.Release()
	if d.current != nil {
		d.current.Release()
	}
	d.queue.Release()
	return err
}

// take finds a free buffer of at least n bytes, or makes one.
func (d *Device) take(p *pool.Pool[*buffer], n int, mode metalshim.StorageMode) (*pool.Item[*buffer], error) {
	if item := p.Take(n); item != nil {
		return item, nil
	}
	b, err := d.metal.NewBuffer(pool.Class(n), mode)
	if err != nil {
		return nil, err
	}
	return p.Add(pool.Class(n), d.numbered(b)), nil
}

// upload makes a buffer that holds data.
func (d *Device) upload(data []byte) (*pool.Item[*buffer], error) {
	b, err := d.metal.NewBufferWithBytes(data)
	if err != nil {
		return nil, err
	}
	return d.shared.Add(len(data), d.numbered(b)), nil
}

func (d *Device) numbered(b metalshim.Buffer) *buffer {
	d.lastBuffer++
	return &buffer{Buffer: b, id: d.lastBuffer}
}

func (d *Device) releaseBuffer(b *buffer) {
	d.fences.Forget(b.id)
	b.Release()
}

// giveBack releases those of the buffers that are borrowed, once nothing in
// flight reads them.
func (d *Device) giveBack(buffers []*buffer) {
	for _, b := range slices.Clone(buffers) {
		if i := slices.Index(d.borrowed, b); i >= 0 {
			d.borrowed = slices.Delete(d.borrowed, i, i+1)
			d.releaseBuffer(b)
		}
	}
}

// sweep releases the buffers that are free.
func (d *Device) sweep() {
	d.private.Sweep(d.releaseBuffer)
	d.shared.Sweep(d.releaseBuffer)
}

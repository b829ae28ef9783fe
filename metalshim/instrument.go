package metalshim

import (
	"context"
	"fmt"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/introgen/introgen/trace"
)

// Names of the spans and counters that an instrumented device records.
const (
	SpanLibrary  = "LIB"    // source → library; Detail: the library, N: source bytes
	SpanPipeline = "PIPE"   // library + function + constants → pipeline; Detail: "library function", N: constants
	SpanEncode   = "encode" // an encoder, from opening to end; Detail: "compute" or "blit", N: dispatches
	SpanCommit   = "commit" // Detail "", N: dispatches in the command buffer
	SpanWait     = "wait"   // the CPU waits for a command buffer
	SpanGPU      = "gpu"    // the device ran a command buffer, by its own clock; N: dispatches
	SpanQueued   = "queued" // from commit to the start on the device

	CountDispatches     = "metal dispatches"      // of one command buffer, at its commit
	CountEncoders       = "metal encoders"        // of one command buffer, at its commit
	CountCommandBuffers = "metal command buffers" // 1 at each commit
	CountAllocated      = "metal buffer bytes"    // length of one new buffer
)

// InstrumentOptions says what an instrumented device does besides counting.
type InstrumentOptions struct {
	Recorder *trace.Recorder // where spans and counters go; nil records none
	// Nonce, where not empty, is appended to every source as a comment line,
	// so that no cache of compiled code can match. It must be one line.
	Nonce string
}

// LibraryRecord is one library that was compiled or loaded.
type LibraryRecord struct {
	Name        string
	SourceBytes int // without the nonce
	Functions   int // kernels in it
	Took        time.Duration
	Evidence    Evidence
}

// PipelineRecord is one pipeline that was made.
type PipelineRecord struct {
	Library, Function string
	Constants         []Constant
	Took              time.Duration
	Evidence          Evidence
}

// Tally is what has been done so far. Differences of two tallies describe a
// phase. GPU and Queued count only command buffers whose end has been seen,
// which is so for all that came before a Wait.
type Tally struct {
	CommandBuffers, Encoders, Blits, Dispatches, Barriers int64
	FenceWaits, FenceUpdates                              int64
	Allocations, AllocatedBytes                           int64
	// Encode is the time in which an encoder was open, compiling not counted.
	Encode, Commit, Wait time.Duration
	Compile              time.Duration // LIB and PIPE
	Queued, GPU          time.Duration
}

// Sub is what happened between o and t, field by field.
func (t Tally) Sub(o Tally) Tally {
	return Tally{
		t.CommandBuffers - o.CommandBuffers, t.Encoders - o.Encoders, t.Blits - o.Blits,
		t.Dispatches - o.Dispatches, t.Barriers - o.Barriers,
		t.FenceWaits - o.FenceWaits, t.FenceUpdates - o.FenceUpdates,
		t.Allocations - o.Allocations, t.AllocatedBytes - o.AllocatedBytes,
		t.Encode - o.Encode, t.Commit - o.Commit, t.Wait - o.Wait,
		t.Compile - o.Compile, t.Queued - o.Queued, t.GPU - o.GPU,
	}
}

// Instrumented is a Device that times everything done through it. No other
// part of the program times Metal calls.
type Instrumented struct {
	Device
	rec   *trace.Recorder
	nonce string

	mu        sync.Mutex
	tally     Tally
	libraries []LibraryRecord
	pipelines []PipelineRecord
	kernels   map[string]KernelTime
	inFlight  []*timedCommands // committed, times not yet taken
}

// Instrument wraps a device. The result's objects are to be used only with
// the result, except buffers, pipelines and fences, which are dev's own.
func Instrument(dev Device, o InstrumentOptions) (*Instrumented, error) {
	if strings.ContainsAny(o.Nonce, "\r\n\\") {
		return nil, fmt.Errorf("nonce %q: it must be one line without a backslash, as it becomes a comment in each source", o.Nonce)
	}
	return &Instrumented{Device: dev, rec: o.Recorder, nonce: o.Nonce, kernels: map[string]KernelTime{}}, nil
}

// Nonce is the text appended to the sources, or "".
func (d *Instrumented) Nonce() string { return d.nonce }

// Tally is what has been done so far.
func (d *Instrumented) Tally() Tally {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.harvest()
	return d.tally
}

// Libraries lists the libraries made so far, in order.
func (d *Instrumented) Libraries() []LibraryRecord {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]LibraryRecord(nil), d.libraries...)
}

// Pipelines lists the pipelines made so far, in order.
func (d *Instrumented) Pipelines() []PipelineRecord {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]PipelineRecord(nil), d.pipelines...)
}

// KernelTimes is the device's time by kernel, longest first; empty where the
// driver cannot tell.
func (d *Instrumented) KernelTimes() []KernelTime {
	d.mu.Lock()
	d.harvest()
	out := make([]KernelTime, 0, len(d.kernels))
	for _, k := range d.kernels {
		out = append(out, k)
	}
	d.mu.Unlock()
	sort.Slice(out, func(i, j int) bool {
		if out[i].Time != out[j].Time {
			return out[i].Time > out[j].Time
		}
		return out[i].Kernel < out[j].Kernel
	})
	return out
}

// NewLibrary appends the nonce, compiles and times it.
func (d *Instrumented) NewLibrary(ctx context.Context, src Source) (Library, error) {
	size := len(src.Text)
	if d.nonce != "" {
		src.Text += "\n// " + d.nonce + "\n"
	}
	begun := time.Now()
	span := d.rec.Begin(SpanLibrary, src.Name, int64(size))
	lib, err := d.Device.NewLibrary(ctx, src)
	span.End()
	took := time.Since(begun)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tally.Compile += took
	if err != nil {
		return nil, err
	}
	d.libraries = append(d.libraries, LibraryRecord{src.Name, size, len(lib.FunctionNames()), took, lib.Evidence()})
	return &timedLibrary{lib, d, size}, nil
}

func (d *Instrumented) allocated(b Buffer, err error) (Buffer, error) {
	if err != nil {
		return nil, err
	}
	n := int64(b.Len())
	d.mu.Lock()
	d.tally.Allocations++
	d.tally.AllocatedBytes += n
	d.mu.Unlock()
	d.rec.Count(CountAllocated, n)
	return b, nil
}

// NewBuffer counts the buffer and its bytes.
func (d *Instrumented) NewBuffer(length int, mode StorageMode) (Buffer, error) {
	return d.allocated(d.Device.NewBuffer(length, mode))
}

// NewBufferWithBytes counts the buffer and its bytes.
func (d *Instrumented) NewBufferWithBytes(b []byte) (Buffer, error) {
	return d.allocated(d.Device.NewBufferWithBytes(b))
}

// NewQueue returns a queue whose command buffers are timed.
func (d *Instrumented) NewQueue() (Queue, error) {
	q, err := d.Device.NewQueue()
	if err != nil {
		return nil, err
	}
	return &timedQueue{q, d}, nil
}

type timedLibrary struct {
	Library
	d    *Instrumented
	size int
}

func (l *timedLibrary) SourceBytes() int { return l.size }

func (l *timedLibrary) NewPipeline(ctx context.Context, function string, constants []Constant) (Pipeline, error) {
	d := l.d
	begun := time.Now()
	span := d.rec.Begin(SpanPipeline, l.Name()+" "+function, int64(len(constants)))
	p, err := l.Library.NewPipeline(ctx, function, constants)
	span.End()
	took := time.Since(begun)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tally.Compile += took
	if err != nil {
		return nil, err
	}
	d.pipelines = append(d.pipelines, PipelineRecord{l.Name(), function, p.Constants(), took, p.Evidence()})
	return p, nil
}

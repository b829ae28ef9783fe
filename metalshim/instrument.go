package metalshim

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// InstrumentOptions says what an instrumented device does besides counting.
type InstrumentOptions struct {
	Recorder *trace.Recorder // where spans and counters go; nil records none
	// Nonce, where not empty, is appended to every source as a comment line,
	// so that no cache of compiled code can match. It must be one line.
	Nonce string
	// Compiled, where not nil, is called when the thread that generates has waited
	// for a library or a pipeline, which it has made itself or awaited, and the span
	// of that has ended, with the time that it took.
	Compiled func(took time.Duration)
	// Operations keeps of every dispatch and copy what it was, and when it ran, until
	// TakeExecuted; it needs a Recorder.
	Operations bool
}

// LibraryRecord is one library that was compiled or loaded.
type LibraryRecord struct {
	Name        string
	SourceBytes int // without the nonce
	Functions   int // kernels in it
	Span        trace.ID
	Took        time.Duration
	Evidence    Evidence
}

// PipelineRecord is one pipeline that was made.
type PipelineRecord struct {
	Library, Function string
	Constants         []Constant
	Span              trace.ID
	Took              time.Duration
	Evidence          Evidence
}

// Instrumented is a Device that times everything done through it. No other
// part of the program times Metal calls.
type Instrumented struct {
	Device
	rec      *trace.Recorder
	nonce    string
	compiled func(time.Duration)

	mu        sync.Mutex
	libraries []LibraryRecord
	pipelines []PipelineRecord
	kernels   map[string]KernelTotal
	untimed   bool             // whether kernels ran whose times nobody tells
	inFlight  []*timedCommands // committed, times not yet taken

	keep       bool // the operations
	operations []OperationRecord
	numbers    map[OperationRecord]int // places in operations, from 1
	behind     []int                   // the operation that last came behind each, 0 none; at 0 the first one
	executed   []ExecutedRecord        // not yet handed out
}

// Instrument wraps a device. The result's objects are to be used only with
// the result, except buffers, pipelines and fences, which are dev's own.
func Instrument(dev Device, o InstrumentOptions) (*Instrumented, error) {
	if strings.ContainsAny(o.Nonce, "\r\n\\") {
		return nil, fmt.Errorf("nonce %q: it must be one line without a backslash, as it becomes a comment in each source", o.Nonce)
	}
	if o.Compiled == nil {
		o.Compiled = func(time.Duration) {}
	}
	return &Instrumented{Device: dev, rec: o.Recorder, nonce: o.Nonce, compiled: o.Compiled, kernels: map[string]KernelTotal{},
		keep: o.Operations && o.Recorder != nil, numbers: map[OperationRecord]int{}}, nil
}

// Nonce is the text appended to the sources, or "".
func (d *Instrumented) Nonce() string { return d.nonce }

// Libraries lists the libraries made so far, in order.
func (d *Instrumented) Libraries() []LibraryRecord {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.libraries)
}

// Pipelines lists the pipelines made so far, in order.
func (d *Instrumented) Pipelines() []PipelineRecord {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.pipelines)
}

// KernelTimes is the device's time by kernel, longest first, and what the kernels
// did; where the driver cannot tell times they are 0.
func (d *Instrumented) KernelTimes() []KernelTotal {
	d.mu.Lock()
	d.harvest()
	out := slices.Collect(maps.Values(d.kernels))
	untimed := d.untimed
	d.mu.Unlock()
	for i := range out {
		if untimed {
			out[i].Time = 0 // of some of its dispatches
		}
	}
	slices.SortFunc(out, func(a, b KernelTotal) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Kernel, b.Kernel))
	})
	return out
}

// NewLibrary appends the nonce, compiles and times it.
func (d *Instrumented) NewLibrary(ctx context.Context, src Source) (Library, error) {
	return d.newLibrary(ctx, src, d.Device.NewLibrary)
}

func (d *Instrumented) newLibrary(ctx context.Context, src Source, from func(context.Context, Source) (Library, error)) (Library, error) {
	size := len(src.Text)
	if d.nonce != "" {
		src.Text += "\n// " + d.nonce + "\n"
	}
	span := d.track(ctx).Begin(names.SpanLibrary, src.Name, int64(size))
	lib, err := from(ctx, src)
	took := span.End()
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	d.libraries = append(d.libraries, LibraryRecord{src.Name, size, len(lib.FunctionNames()), span.ID(), took, lib.Evidence()})
	d.mu.Unlock()
	d.made(ctx, took)
	return &timedLibrary{lib, d, size}, nil
}

func (d *Instrumented) counted(name string, b Buffer, err error) (Buffer, error) {
	if err != nil {
		return nil, err
	}
	d.rec.Count(name, int64(b.Len()))
	return b, nil
}

// NewBuffer counts the buffer and its bytes.
func (d *Instrumented) NewBuffer(length int, mode StorageMode) (Buffer, error) {
	b, err := d.Device.NewBuffer(length, mode)
	return d.counted(names.CountAllocated, b, err)
}

// NewBufferWithBytes counts the buffer and its bytes.
func (d *Instrumented) NewBufferWithBytes(b []byte) (Buffer, error) {
	made, err := d.Device.NewBufferWithBytes(b)
	return d.counted(names.CountAllocated, made, err)
}

// NewBufferNoCopy counts the buffer's bytes by themselves: no memory was taken.
func (d *Instrumented) NewBufferNoCopy(memory []byte) (Buffer, error) {
	b, err := NewBufferNoCopy(d.Device, memory)
	return d.counted(names.CountMapped, b, err)
}

// Begin opens a span of what is done for d on the CPU, such as bringing weights
// to it: inert where nobody instruments d.
func Begin(d Device, name, detail string, n int64) trace.Span {
	if timed, ok := d.(*Instrumented); ok {
		return timed.rec.Begin(name, detail, n)
	}
	return trace.Span{}
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
	span := d.track(ctx).Begin(names.SpanPipeline, l.Name()+" "+function, int64(len(constants)))
	p, err := l.Library.NewPipeline(ctx, function, constants)
	took := span.End()
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	d.pipelines = append(d.pipelines, PipelineRecord{l.Name(), function, p.Constants(), span.ID(), took, p.Evidence()})
	d.mu.Unlock()
	d.made(ctx, took)
	return p, nil
}

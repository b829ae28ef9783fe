// Package work does what the objects of the stand-in for Apple's libraries ask
// for, with a metalshim.Device. It knows objects by handles, which both sides of
// a server can hold: C in the same process, or a program beside it.
package work

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/introgen/introgen/metalshim"
)

// Failure is an NSError to be. The zero Failure is an error without a text, of
// the domain and the code that are usual where it happens.
type Failure struct {
	Domain string // "" stands for the usual domain and code
	Code   int64
	Text   string // its localizedDescription; for a library the compiler's log
}

// Domains of errors, as Apple names them.
const (
	LibraryDomain  = "MTLLibraryErrorDomain"
	PipelineDomain = "MTLPipelineErrorDomain"
	CommandsDomain = "MTLCommandBufferErrorDomain"
)

// familied is implemented by pipelines that know what GPU they need. Those of a
// later family than is shown are refused.
type familied interface {
	// AppleFamily is the first of Apple's GPU families that can run it, 0 for
	// all.
	AppleFamily() int
}

// Table is the objects of a device, by handle. It is made by New.
type Table struct {
	Device metalshim.Device
	// Family is the highest of Apple's GPU families that is shown, 0 for none.
	Family int

	mu      sync.Mutex
	objects map[uintptr]any
	last    uintptr
	// Flights counts command buffers, and queues that are being released.
	Flights sync.WaitGroup
}

// New is an empty table of d's objects.
func New(d metalshim.Device, family int) *Table {
	return &Table{Device: d, Family: family, objects: map[uintptr]any{}}
}

// Add gives an object the next handle.
func (t *Table) Add(o any) uintptr {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last++
	t.objects[t.last] = o
	return t.last
}

// Put gives an object the handle that the other side has chosen. It must not be
// in use.
func (t *Table) Put(handle uintptr, o any) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if old, used := t.objects[handle]; used {
		return fmt.Errorf("handle %d is given twice: it is a %T", handle, old)
	}
	t.objects[handle] = o
	return nil
}

// Len is how many objects there are.
func (t *Table) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.objects)
}

// Find is the object of a handle, an error where that is of another type.
func Find[T any](t *Table, handle uintptr) (T, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	o, ok := t.objects[handle].(T)
	if !ok {
		return o, fmt.Errorf("handle %d is a %T, not a %T", handle, t.objects[handle], *new(T))
	}
	return o, nil
}

// At is the object of a handle that cannot be wrong, since C keeps to what it
// was given: another type is a defect of the stand-in.
func At[T any](t *Table, handle uintptr) T {
	o, err := Find[T](t, handle)
	if err != nil {
		panic("stand-in: " + err.Error())
	}
	return o
}

// Release gives an object back. A queue waits for its command buffers, one of
// which may be what let go of it, so that nobody waits for the queue.
func (t *Table) Release(handle uintptr) {
	t.mu.Lock()
	o := t.objects[handle]
	delete(t.objects, handle)
	t.mu.Unlock()
	switch o := o.(type) {
	case metalshim.Queue:
		t.Flights.Go(o.Release)
	case interface{ Release() }:
		o.Release()
	}
}

// Version is MTLLanguageVersion as metalshim writes it; 0 is none.
func Version(v uint64) string {
	if v == 0 {
		return ""
	}
	return fmt.Sprintf("%d.%d", v>>16, v&0xffff)
}

// Library compiles.
func (t *Table) Library(ctx context.Context, src metalshim.Source) (metalshim.Library, *Failure) {
	l, err := t.Device.NewLibrary(ctx, src)
	if err != nil {
		return nil, &Failure{LibraryDomain, 3, "Compilation failed: \n\n" + logOf(err)}
	}
	return l, nil
}

// logOf is an error as Metal's compiler would put it: lines that begin with
// the place in the source.
func logOf(err error) string {
	var e *metalshim.CompileError
	if !errors.As(err, &e) || e.Err != nil {
		return err.Error()
	}
	if len(e.Diagnostics) == 0 {
		return e.Log
	}
	var b strings.Builder
	for _, d := range e.Diagnostics {
		fmt.Fprintln(&b, d)
	}
	return b.String()
}

// Names lists a library's functions, each with a newline.
func Names(l metalshim.Library) string {
	var b strings.Builder
	for _, n := range l.FunctionNames() {
		b.WriteString(n + "\n")
	}
	return b.String()
}

// Pipeline makes a function executable.
func (t *Table) Pipeline(ctx context.Context, l metalshim.Library, name string, values []metalshim.Constant) (metalshim.Pipeline, *Failure) {
	p, err := l.NewPipeline(ctx, name, values)
	if err != nil {
		return nil, &Failure{PipelineDomain, 1, logOf(err)}
	}
	if f, ok := p.(familied); ok && f.AppleFamily() > t.Family {
		p.Release()
		return nil, &Failure{"AGXMetal", 3, "Encountered unlowered function call to an operation of simdgroups"}
	}
	return p, nil
}

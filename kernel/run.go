package kernel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/introgen/introgen/kernel/array"
	"github.com/introgen/introgen/metalshim"
)

// Prepared is a launch whose pipeline and buffers are there.
type Prepared struct {
	Kernel   string
	Library  time.Duration // that it took to make it
	Pipeline time.Duration
	// LibraryCache and PipelineCache are the states of the driver's cache.
	LibraryCache, PipelineCache string
	Threads                     metalshim.Size // of a threadgroup
	launch                      Launch
	device                      metalshim.Device
	library                     metalshim.Library
	pipeline                    metalshim.Pipeline
	queue                       metalshim.Queue
	bound                       []bound
	buffers                     []metalshim.Buffer // of bound; nil where setBytes gives it
	memory                      []memory
}

// memory is threadgroup memory of an index.
type memory struct{ index, bytes int }

// Prepare compiles what the launch needs and makes its buffers. The caller closes
// what it returns.
func (s *Source) Prepare(ctx context.Context, d metalshim.Device, l Launch) (p *Prepared, err error) {
	p = &Prepared{Kernel: l.Kernel, launch: l, device: d}
	defer func() {
		if err != nil {
			p.Close()
			p = nil
		}
	}()
	listing := s.List()
	var k *Kernel
	if listing.Unread == "" {
		if k, err = listing.find(l.Kernel); err != nil {
			return p, err
		}
		p.Kernel = k.Name
	} else if l.Kernel == "" {
		return p, wrong("a kernel has to be named, as the declarations cannot be read: %s", listing.Unread)
	}
	if p.bound, err = l.bind(k, d.Info().MaxBufferLength); err != nil {
		return p, err
	}
	if p.memory, err = l.threadgroupMemory(k); err != nil {
		return p, err
	}
	constants, err := l.constants(listing.Constants)
	if err != nil {
		return p, err
	}
	if err := p.compile(ctx, s, constants); err != nil {
		return p, err
	}
	if err := p.threads(); err != nil {
		return p, err
	}
	for _, b := range p.bound {
		var buffer metalshim.Buffer
		if !b.bytes {
			if len(b.array.Data) == 0 {
				return p, wrong("%s is given %s: a buffer has at least one byte", b.name(), b.array)
			}
			if buffer, err = d.NewBufferWithBytes(b.array.Data); err != nil {
				return p, err
			}
		}
		p.buffers = append(p.buffers, buffer)
	}
	p.queue, err = d.NewQueue()
	return p, err
}

// find finds a kernel by its name.
func (l *Listing) find(name string) (*Kernel, error) {
	i := slices.IndexFunc(l.Kernels, func(k Kernel) bool { return k.Name == name })
	if i >= 0 {
		return &l.Kernels[i], nil
	}
	names := make([]string, len(l.Kernels))
	for i, k := range l.Kernels {
		names[i] = k.Name
	}
	if name == "" && len(names) == 1 {
		return &l.Kernels[0], nil
	}
	return nil, wrong("%w", &metalshim.FunctionError{Library: l.File, Function: name, Names: names})
}

func (p *Prepared) compile(ctx context.Context, s *Source, constants []metalshim.Constant) (err error) {
	began := time.Now()
	if p.library, err = p.device.NewLibrary(ctx, s.Metal()); err != nil {
		return s.explain(err)
	}
	p.Library, p.LibraryCache = time.Since(began), p.library.Evidence().State
	began = time.Now()
	p.pipeline, err = p.library.NewPipeline(ctx, p.Kernel, constants)
	p.Pipeline = time.Since(began)
	var function *metalshim.FunctionError
	if errors.As(err, &function) {
		return Misuse{err}
	}
	if err != nil {
		return s.explain(err)
	}
	p.PipelineCache = p.pipeline.Evidence().State
	return nil
}

// threads settles how many threads a threadgroup has.
func (p *Prepared) threads() error {
	p.Threads = p.launch.Threads
	if p.Threads == (metalshim.Size{}) {
		p.Threads = metalshim.Size{X: min(p.pipeline.ThreadExecutionWidth(), p.pipeline.MaxThreadsPerThreadgroup()), Y: 1, Z: 1}
	}
	if n, most := p.Threads.Count(), p.pipeline.MaxThreadsPerThreadgroup(); n < 1 || n > most {
		return wrong("%d threads in a threadgroup: kernel %s allows 1 to %d", n, p.Kernel, most)
	}
	return nil
}

func (l *Launch) threadgroupMemory(k *Kernel) (out []memory, err error) {
	for _, v := range l.ThreadgroupMemory {
		m := memory{}
		if m.index, _, err = argument(k, "threadgroup", v.Of); err != nil {
			return nil, wrong("threadgroup-memory %s: %w", v.Of, err)
		}
		if m.bytes, err = strconv.Atoi(v.Text); err != nil || m.bytes < 1 {
			return nil, wrong("threadgroup-memory %s=%s: a number of bytes from 1 on is wanted", v.Of, v.Text)
		}
		m.bytes = (m.bytes + 15) / 16 * 16 // what Metal takes
		out = append(out, m)
	}
	if k == nil {
		return out, nil
	}
	for _, a := range k.Arguments {
		if a.Kind == "threadgroup" && !a.Optional && !slices.ContainsFunc(out, func(m memory) bool { return m.index == a.Index }) {
			return nil, wrong("threadgroup memory %d, %s %s, is not given: --threadgroup-memory %[1]d=BYTES", a.Index, a.Type, a.Name)
		}
	}
	return out, nil
}

// Took is how long a run took.
type Took struct {
	Whole time.Duration // from commit to completion
	GPU   time.Duration // by the device's clock, 0 where it has none
}

// Run runs the launch times over in one command buffer.
func (p *Prepared) Run(ctx context.Context, times int) (took Took, err error) {
	c, err := p.queue.NewCommandBuffer()
	if err != nil {
		return took, err
	}
	defer c.Release()
	e, err := c.NewEncoder(metalshim.Serial)
	if err != nil {
		return took, err
	}
	e.SetPipeline(p.pipeline)
	for i, b := range p.bound {
		if b.bytes {
			e.SetBytes(b.index, b.array.Data)
		} else {
			e.SetBuffer(b.index, p.buffers[i], 0)
		}
	}
	for _, m := range p.memory {
		e.SetThreadgroupMemory(m.index, m.bytes)
	}
	var dispatched error
	for range times {
		if p.launch.Groups != (metalshim.Size{}) {
			dispatched = e.DispatchThreadgroups(p.launch.Groups, p.Threads)
		} else {
			dispatched = e.DispatchThreads(p.launch.Grid, p.Threads)
		}
		if dispatched != nil {
			break
		}
	}
	if err := e.EndEncoding(); dispatched != nil || err != nil {
		if dispatched != nil {
			return took, Misuse{dispatched}
		}
		return took, err
	}
	began := time.Now()
	if err := c.Commit(); err != nil {
		return took, err
	}
	if err := c.Wait(ctx); err != nil {
		return took, err
	}
	took.Whole = time.Since(began)
	if t := c.Times(); !t.GPUStart.IsZero() {
		took.GPU = t.GPUEnd.Sub(t.GPUStart)
	}
	return took, nil
}

// Result is what a buffer holds, as an array of the type and shape that it was given.
func (p *Prepared) Result(of string) (*array.Array, error) {
	n, notNumber := strconv.Atoi(of)
	for i, b := range p.bound {
		if p.buffers[i] == nil || !(notNumber == nil && b.index == n || b.of.Name != "" && b.of.Name == of) {
			continue
		}
		return &array.Array{Type: b.array.Type, Shape: b.array.Shape, Data: slices.Clone(p.buffers[i].Contents()[:len(b.array.Data)])}, nil
	}
	return nil, wrong("output %s: it is none of the buffers that --buffer gives", of)
}

// Groups is how many threadgroups there are, and their threads.
func (p *Prepared) Groups() string {
	size := func(s metalshim.Size) string { return fmt.Sprintf("%dx%dx%d", s.X, s.Y, s.Z) }
	if p.launch.Groups != (metalshim.Size{}) {
		return fmt.Sprintf("%s threadgroups of %s threads", size(p.launch.Groups), size(p.Threads))
	}
	return fmt.Sprintf("%s threads in threadgroups of %s", size(p.launch.Grid), size(p.Threads))
}

// Close releases all of it.
func (p *Prepared) Close() {
	if p.queue != nil {
		p.queue.Release()
	}
	for _, b := range p.buffers {
		if b != nil {
			b.Release()
		}
	}
	if p.pipeline != nil {
		p.pipeline.Release()
	}
	if p.library != nil {
		p.library.Release()
	}
}

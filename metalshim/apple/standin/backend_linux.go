//go:build linux && (amd64 || arm64)

package standin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/introgen/introgen/metalshim"
)

// backend is the functions that C calls, in the order of struct backend. They
// are made once: a callback cannot be given back.
var backend = sync.OnceValue(func() cBackend {
	return cBackend{
		purego.NewCallback(func(source *cSource) uintptr { return active.Load().library(source) }),
		purego.NewCallback(func(library uintptr) uintptr { return active.Load().names(library) }),
		purego.NewCallback(func(library uintptr, name *cText, constants *cConstant, count uintptr, facts *cPipelineFacts) uintptr {
			return active.Load().pipeline(library, name.String(), unsafe.Slice(constants, count), facts)
		}),
		purego.NewCallback(func(length, mode uintptr, from *byte, inPlace uintptr, contents *unsafe.Pointer) uintptr {
			return active.Load().buffer(int(length), metalshim.StorageMode(mode), from, inPlace != 0, contents)
		}),
		purego.NewCallback(func() uintptr { return active.Load().queue() }),
		purego.NewCallback(func() uintptr { return active.Load().fence() }),
		purego.NewCallback(func(queue uintptr) uintptr { return active.Load().commands(queue) }),
		purego.NewCallback(func(commands, object uintptr) uintptr { return active.Load().commit(commands, object) }),
		purego.NewCallback(func(commands uintptr) uintptr { return active.Load().wait(commands) }),
		purego.NewCallback(func(commands uintptr) uintptr { return active.Load().status(commands) }),
		purego.NewCallback(func(commands uintptr, times *[4]float64) uintptr { return active.Load().times(commands, times) }),
		purego.NewCallback(func(commands, kind uintptr) uintptr { return active.Load().encoder(commands, kind) }),
		purego.NewCallback(func(encoder uintptr, c *cCommand) uintptr { return active.Load().encode(encoder, c) }),
		purego.NewCallback(func(handle uintptr) uintptr { return active.Load().release(handle) }),
		purego.NewCallback(func(path *cText) uintptr { return active.Load().read(path.String()) }),
		purego.NewCallback(func(path, content *cText) uintptr { return active.Load().store(path.String(), content.String()) }),
		purego.NewCallback(func(point uintptr, name *cText) uintptr {
			return uintptr(bit(active.Load().planted(Point(point), name.String()) != nil))
		}),
	}
})

// reply leaves text, and an error's domain and code, for the thread that
// called.
func (s *Server) reply(f Failure) {
	purego.SyscallN(s.l.reply, uintptr(unsafe.Pointer(unsafe.StringData(f.Text))), uintptr(len(f.Text)),
		uintptr(unsafe.Pointer(unsafe.StringData(f.Domain))), uintptr(len(f.Domain)), uintptr(f.Code))
}

// planted asks the test for a failure at p.
func (s *Server) planted(p Point, name string) *Failure {
	if s.o.Plant == nil {
		return nil
	}
	s.mu.Lock()
	s.counts[p]++
	n := s.counts[p]
	s.mu.Unlock()
	f := s.o.Plant(p, n, name)
	if f != nil {
		s.reply(*f)
	}
	return f
}

// add gives an object a handle.
func (s *Server) add(o any) uintptr {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	s.objects[s.last] = o
	return s.last
}

// at is the object of a handle. C keeps to what it was given, so that another
// type is a defect of the stand-in.
func at[T any](s *Server, handle uintptr) T {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, ok := s.objects[handle].(T)
	if !ok {
		panic(fmt.Sprintf("stand-in: handle %d is a %T", handle, s.objects[handle]))
	}
	return o
}

func (s *Server) library(c *cSource) uintptr {
	src := metalshim.Source{Name: "program_source", File: "program_source", Text: c.text.String()}
	src.MathMode = metalshim.MathMode(c.math)
	src.MathFunctions = metalshim.MathFunctions(c.functions)
	if c.version != 0 {
		src.LanguageVersion = fmt.Sprintf("%d.%d", c.version>>16, c.version&0xffff)
	}
	if pairs := unsafe.Slice(c.macros, 2*c.macroCount); len(pairs) > 0 {
		src.Macros = map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			src.Macros[pairs[i].String()] = pairs[i+1].String()
		}
	}
	l, err := s.dev.NewLibrary(context.Background(), src)
	if err != nil {
		s.reply(Failure{Domain: "MTLLibraryErrorDomain", Code: 3, Text: "Compilation failed: \n\n" + logOf(err)})
		return 0
	}
	return s.add(l)
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

func (s *Server) names(handle uintptr) uintptr {
	var b strings.Builder
	for _, n := range at[metalshim.Library](s, handle).FunctionNames() {
		b.WriteString(n + "\n")
	}
	s.reply(Failure{Text: b.String()})
	return 0
}

func (s *Server) pipeline(library uintptr, name string, constants []cConstant, facts *cPipelineFacts) uintptr {
	values := make([]metalshim.Constant, len(constants))
	for i, c := range constants {
		values[i] = metalshim.Constant{Index: int(c.index), Type: metalshim.ConstantType(c.kind), Bits: c.bits}
	}
	p, err := at[metalshim.Library](s, library).NewPipeline(context.Background(), name, values)
	if err != nil {
		s.reply(Failure{Domain: "MTLPipelineErrorDomain", Code: 1, Text: logOf(err)})
		return 0
	}
	if f, ok := p.(familied); ok && f.AppleFamily() > s.family {
		p.Release()
		s.reply(Failure{Domain: "AGXMetal", Code: 3, Text: "Encountered unlowered function call to an operation of simdgroups"})
		return 0
	}
	*facts = cPipelineFacts{uint64(p.MaxThreadsPerThreadgroup()), uint64(p.ThreadExecutionWidth()), uint64(p.StaticThreadgroupMemory())}
	return s.add(p)
}

func (s *Server) buffer(length int, mode metalshim.StorageMode, from *byte, inPlace bool, contents *unsafe.Pointer) uintptr {
	if mode == 1 { // managed, which metalshim does not have; memory is one here
		mode = metalshim.Shared
	}
	var b metalshim.Buffer
	var err error
	// A device that cannot copies, which a test that writes to the memory
	// afterwards will notice.
	noCopy, can := s.dev.(metalshim.NoCopyBuffers)
	switch {
	case from == nil:
		b, err = s.dev.NewBuffer(length, mode)
	case inPlace && can:
		b, err = noCopy.NewBufferNoCopy(unsafe.Slice(from, length))
	default:
		b, err = s.dev.NewBufferWithBytes(unsafe.Slice(from, length))
	}
	if err != nil {
		return 0
	}
	switch memory := b.Contents(); {
	case inPlace:
		*contents = unsafe.Pointer(from)
	case memory != nil:
		*contents = unsafe.Pointer(&memory[0])
	}
	return s.add(b)
}

func (s *Server) queue() uintptr { return s.made(s.dev.NewQueue()) }
func (s *Server) fence() uintptr { return s.made(s.dev.NewFence()) }

// made gives a new object a handle, 0 where there is none.
func (s *Server) made(o any, err error) uintptr {
	if err != nil {
		return 0
	}
	return s.add(o)
}

// release gives an object back. A queue waits for its command buffers, one of
// which may be what let go of it, so that nobody waits for the queue.
func (s *Server) release(handle uintptr) uintptr {
	s.mu.Lock()
	o := s.objects[handle]
	delete(s.objects, handle)
	s.mu.Unlock()
	switch o := o.(type) {
	case metalshim.Queue:
		s.flights.Go(o.Release)
	case interface{ Release() }:
		o.Release()
	}
	return 0
}

func (s *Server) read(path string) uintptr {
	b, err := os.ReadFile(path)
	if err != nil {
		s.reply(Failure{Text: err.Error()})
		return 0
	}
	s.reply(Failure{Text: string(b)})
	return 1
}

func (s *Server) store(path, content string) uintptr {
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		s.reply(Failure{Text: err.Error()})
		return 0
	}
	return 1
}

//go:build linux && (amd64 || arm64)

package standin

import (
	"context"
	"os"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/apple/standin/work"
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

// made gives a new object a handle; where there is none, it leaves the failure.
func made[T any](s *Server, o T, f *work.Failure) uintptr {
	if f != nil {
		s.reply(*f)
		return 0
	}
	return s.t.Add(o)
}

// found gives a new object a handle, 0 where there is none.
func found[T any](s *Server, o T, err error) uintptr {
	if err != nil {
		return 0
	}
	return s.t.Add(o)
}

func (s *Server) library(c *cSource) uintptr {
	src := metalshim.Source{Name: "program_source", File: "program_source", Text: c.text.String()}
	src.MathMode = metalshim.MathMode(c.math)
	src.MathFunctions = metalshim.MathFunctions(c.functions)
	src.LanguageVersion = work.Version(c.version)
	if pairs := unsafe.Slice(c.macros, 2*c.macroCount); len(pairs) > 0 {
		src.Macros = map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			src.Macros[pairs[i].String()] = pairs[i+1].String()
		}
	}
	l, f := s.t.Library(context.Background(), src)
	return made(s, l, f)
}

// names leaves the names of a library's kernels, and returns what the cache said.
func (s *Server) names(handle uintptr) uintptr {
	l := work.At[metalshim.Library](s.t, handle)
	s.reply(Failure{Text: work.Names(l)})
	return uintptr(work.EvidenceCode(l.Evidence()))
}

func (s *Server) pipeline(library uintptr, name string, constants []cConstant, facts *cPipelineFacts) uintptr {
	values := make([]metalshim.Constant, len(constants))
	for i, c := range constants {
		values[i] = metalshim.Constant{Index: int(c.index), Type: metalshim.ConstantType(c.kind), Bits: c.bits}
	}
	p, f := s.t.Pipeline(context.Background(), work.At[metalshim.Library](s.t, library), name, values)
	if f == nil {
		*facts = cPipelineFacts{uint64(p.MaxThreadsPerThreadgroup()), uint64(p.ThreadExecutionWidth()), uint64(p.StaticThreadgroupMemory()),
			work.EvidenceCode(p.Evidence())}
	}
	return made(s, p, f)
}

func (s *Server) buffer(length int, mode metalshim.StorageMode, from *byte, inPlace bool, contents *unsafe.Pointer) uintptr {
	if mode == 1 { // managed, which metalshim does not have; memory is one here
		mode = metalshim.Shared
	}
	var b metalshim.Buffer
	var err error
	// A device that cannot copies, which a test that writes to the memory
	// afterwards will notice.
	noCopy, can := s.t.Device.(metalshim.NoCopyBuffers)
	switch {
	case from == nil:
		b, err = s.t.Device.NewBuffer(length, mode)
	case inPlace && can:
		b, err = noCopy.NewBufferNoCopy(unsafe.Slice(from, length))
	default:
		b, err = s.t.Device.NewBufferWithBytes(unsafe.Slice(from, length))
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
	return s.t.Add(b)
}

func (s *Server) queue() uintptr {
	q, err := s.t.Device.NewQueue()
	return found(s, q, err)
}

func (s *Server) fence() uintptr {
	f, err := s.t.Device.NewFence()
	return found(s, f, err)
}

func (s *Server) release(handle uintptr) uintptr {
	s.t.Release(handle)
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

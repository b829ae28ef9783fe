//go:build linux && (amd64 || arm64)

package standin

import (
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/apple/standin/work"
)

func (s *Server) commands(queue uintptr) uintptr {
	c, err := work.NewCommandBuffer(work.At[metalshim.Queue](s.t, queue))
	return found(s, c, err)
}

func (s *Server) commit(handle, object uintptr) uintptr {
	c := work.At[*work.CommandBuffer](s.t, handle)
	s.t.Commit(c, s.planted(AtCommit, ""), func() { purego.SyscallN(s.l.completed, object) })
	return 0
}

func (s *Server) wait(handle uintptr) uintptr {
	work.At[*work.CommandBuffer](s.t, handle).WaitUntilCompleted()
	return 0
}

func (s *Server) status(handle uintptr) uintptr {
	status, f := work.At[*work.CommandBuffer](s.t, handle).State()
	if f != nil {
		s.reply(*f)
	}
	return uintptr(status)
}

func (s *Server) times(handle uintptr, out *[4]float64) uintptr {
	*out = work.At[*work.CommandBuffer](s.t, handle).Seconds()
	return 0
}

func (s *Server) encoder(commands, kind uintptr) uintptr {
	e, err := work.At[*work.CommandBuffer](s.t, commands).NewEncoder(int(kind))
	if err != nil {
		s.reply(Failure{Text: err.Error()})
	}
	return found(s, e, err)
}

// encode passes on one command; 1 means that the device refused it.
func (s *Server) encode(handle uintptr, c *cCommand) uintptr {
	command := work.Command{
		Operation: c.operation, Object: c.object, Index: c.index, Offset: c.offset, Length: c.length,
		Other: c.other, OtherOffset: c.otherOffset, Grid: c.grid, Group: c.group,
	}
	if c.bytes != nil {
		command.Bytes = unsafe.Slice(c.bytes, c.length)
	}
	if err := s.t.Encode(work.At[*work.Encoder](s.t, handle), &command); err != nil {
		s.reply(Failure{Text: err.Error()})
		return 1
	}
	return 0
}

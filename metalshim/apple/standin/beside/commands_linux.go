//go:build linux && (amd64 || arm64)

package beside

import (
	"fmt"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/apple/standin/work"
)

// newEncoder is the operation that opens an encoder, in a list of commands.
const newEncoder = work.End + 1

// commit runs a command buffer: a queue's number, and its commands. What the device
// refuses fails it.
func (s *server) commit(number uint64, c *content) error {
	q, err := work.Find[metalshim.Queue](s.t, uintptr(c.word()))
	if err != nil {
		return err
	}
	b, err := work.NewCommandBuffer(q)
	if err != nil {
		return err
	}
	var planted *work.Failure
	if err := s.encode(b, c); err != nil {
		planted = &work.Failure{Domain: work.CommandsDomain, Code: 9, Text: err.Error()} // invalid resource
	}
	s.mu.Lock()
	s.running[number] = b
	s.mu.Unlock()
	if planted != nil {
		// Nothing of it is to run; it is given back with its encoder open.
		s.complete(number, b, metalshim.Failed, planted)
		return nil
	}
	s.t.Commit(b, nil, func() {
		status, f := b.State()
		s.complete(number, b, status, f)
	})
	return nil
}

// complete tells the program that a command buffer is over.
func (s *server) complete(number uint64, b *work.CommandBuffer, status metalshim.Status, f *work.Failure) {
	s.mu.Lock()
	delete(s.running, number)
	s.mu.Unlock()
	l := newLetter(completed, number).word(uint64(status))
	for _, t := range b.Seconds() {
		l = l.number(t)
	}
	if f == nil {
		f = &work.Failure{}
	}
	s.send(l.word(uint64(f.Code)).text(f.Domain).text(f.Text))
	b.Release()
}

// encode reads a list of commands, and passes them on.
func (s *server) encode(b *work.CommandBuffer, c *content) error {
	var e *work.Encoder
	var k work.Command
	for len(c.b) > 0 && c.err == nil {
		first := c.word()
		k = work.Command{Operation: first & 0xff, Index: first >> 8}
		switch k.Operation {
		case newEncoder:
			var err error
			if e, err = b.NewEncoder(int(k.Index)); err != nil {
				return err
			}
			continue
		case work.SetBuffer:
			k.Object, k.Offset = c.word(), c.word()
		case work.SetBytes:
			k.Length = c.word()
			k.Bytes = c.bytes(k.Length)
			c.bytes(-k.Length & 7)
		case work.SetPipeline, work.WaitFence, work.UpdateFence:
			k.Object = c.word()
		case work.SetMemory:
			k.Length = c.word()
		case work.DispatchThreads, work.DispatchGroups:
			k.Grid = [3]uint64{c.word(), c.word(), c.word()}
			k.Group = [3]uint64{c.word(), c.word(), c.word()}
		case work.Copy:
			k.Object, k.Offset, k.Other, k.OtherOffset, k.Length = c.word(), c.word(), c.word(), c.word(), c.word()
		case work.Fill:
			k.Object, k.Offset, k.Length = c.word(), c.word(), c.word()
		}
		if c.err != nil {
			return c.err
		}
		if e == nil {
			return fmt.Errorf("a command of kind %d stands before any encoder", k.Operation)
		}
		if err := s.t.Encode(e, &k); err != nil {
			return err
		}
	}
	return c.err
}

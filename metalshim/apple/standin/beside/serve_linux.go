//go:build linux && (amd64 || arm64)

package beside

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/apple/standin/work"
)

// server answers one program.
type server struct {
	socket int
	t      *work.Table

	mu      sync.Mutex // guards what follows
	running map[uint64]*work.CommandBuffer

	sending sync.Mutex        // held while a message is written
	buf     []byte            // what came and is not read yet
	files   []int             // descriptors that came and are not used yet
	regions map[uint64][]byte // of buffers, by number
	compile sync.WaitGroup
}

// Serve answers the program at the other end of the socket, until that has ended.
// dev is nil where there is no device, which f then says why.
func Serve(ctx context.Context, socket int, dev metalshim.Device, f Facts) error {
	s := &server{socket: socket, running: map[uint64]*work.CommandBuffer{}, regions: map[uint64][]byte{}}
	l := newLetter(hello, 0).word(version).text(f.Failure)
	if dev == nil {
		s.send(l)
		_, err := s.fill(headBytes) // until the program has read it
		return err
	}
	s.t = work.New(dev, f.AppleFamily)
	info := dev.Info()
	unified := uint64(0)
	if info.UnifiedMemory {
		unified = 1
	}
	s.send(l.text(info.Name).text(info.Architecture).word(registryID).word(uint64(info.MaxThreadsPerThreadgroup)).
		word(uint64(info.MaxThreadgroupMemory)).word(uint64(info.MaxBufferLength)).word(unified).word(uint64(1000 + f.AppleFamily)))
	ctx, cancel := context.WithCancel(ctx)
	err := s.read(ctx)
	cancel()
	s.compile.Wait()
	for _, file := range s.files {
		unix.Close(file)
	}
	return err
}

// registryID is the device's; any number will do.
const registryID = 0x1122334455667788

// send writes a message. A program that has ended does not read it.
func (s *server) send(l letter) {
	b := l.whole()
	s.sending.Lock()
	defer s.sending.Unlock()
	for len(b) > 0 {
		n, err := unix.SendmsgN(s.socket, b, nil, nil, unix.MSG_NOSIGNAL)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return
		}
		b = b[n:]
	}
}

// inboxBytes is how much is read at a time.
const inboxBytes = 256 << 10

// fill reads until n bytes are there; false means that the program has ended.
func (s *server) fill(n uint64) (bool, error) {
	control := make([]byte, unix.CmsgSpace(4*16))
	for uint64(len(s.buf)) < n {
		room := max(inboxBytes, min(n-uint64(len(s.buf)), max(16<<20, uint64(len(s.buf)))))
		if uint64(cap(s.buf)-len(s.buf)) < room {
			grown := make([]byte, len(s.buf), uint64(len(s.buf))+room)
			copy(grown, s.buf)
			s.buf = grown
		}
		got, controls, _, _, err := unix.Recvmsg(s.socket, s.buf[len(s.buf):cap(s.buf)], control, unix.MSG_CMSG_CLOEXEC)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.ECONNRESET) || err == nil && got == 0:
			return false, nil
		case err != nil:
			return false, fmt.Errorf("the program's socket: %w", err)
		}
		s.buf = s.buf[:len(s.buf)+got]
		if controls == 0 {
			continue
		}
		all, err := unix.ParseSocketControlMessage(control[:controls])
		if err != nil {
			return false, fmt.Errorf("the program's socket: %w", err)
		}
		for i := range all {
			files, err := unix.ParseUnixRights(&all[i])
			if err != nil {
				return false, fmt.Errorf("the program's socket: %w", err)
			}
			s.files = append(s.files, files...)
		}
	}
	return true, nil
}

// mostBytes is how long a message may be: more than any source or command buffer.
const mostBytes = 4 << 30

// read answers messages until the program has ended.
func (s *server) read(ctx context.Context) error {
	for {
		if there, err := s.fill(headBytes); !there {
			return err
		}
		kind, number := binary.LittleEndian.Uint64(s.buf), binary.LittleEndian.Uint64(s.buf[8:])
		n := binary.LittleEndian.Uint64(s.buf[16:])
		if kind == 0 || kind >= kindsAfter || n > mostBytes {
			return fmt.Errorf("the program's library sent a message of kind %d and %d bytes: it is of another version than this introgen", kind, n)
		}
		if there, err := s.fill(headBytes + n); !there {
			return err
		}
		c := &content{b: s.buf[headBytes : headBytes+n : headBytes+n]}
		// What is kept of a message is copied first: the room is used again.
		if err := s.take(ctx, kind, number, c); err != nil {
			return err
		}
		s.buf = s.buf[headBytes+n:]
		if len(s.buf) == 0 && cap(s.buf) < headBytes {
			s.buf = nil
		}
	}
}

// take acts on one message. An error is one of the program's library, which ends
// the service.
func (s *server) take(ctx context.Context, kind, number uint64, c *content) error {
	switch kind {
	case compile:
		return s.library(ctx, number, c)
	case pipeline:
		return s.pipeline(ctx, number, c)
	case buffer:
		return s.buffer(number, c)
	case queue:
		q, err := s.t.Device.NewQueue()
		if err != nil {
			return err
		}
		return s.t.Put(uintptr(number), q)
	case fence:
		f, err := s.t.Device.NewFence()
		if err != nil {
			return err
		}
		return s.t.Put(uintptr(number), f)
	case commit:
		return s.commit(number, c)
	case release:
		for len(c.b) > 0 {
			s.release(c.word())
		}
	case status:
		s.mu.Lock()
		b := s.running[c.word()]
		s.mu.Unlock()
		now := metalshim.Completed // it is over, and was told
		if b != nil {
			now, _ = b.State()
		}
		s.send(newLetter(answer, number).word(uint64(now)))
	}
	return c.err
}

// release gives an object back. The program holds a buffer until the command buffers
// that use it have completed, so that its memory is nobody's now.
func (s *server) release(number uint64) {
	s.t.Release(uintptr(number))
	if region, has := s.regions[number]; has {
		delete(s.regions, number)
		unmap(region)
	}
}

// answerLetter begins an answer: whether it went well, what the cache said, and
// the failure or the text that belongs to it.
func answerLetter(number uint64, e metalshim.Evidence, f *work.Failure, text string) letter {
	good := uint64(1)
	if f != nil {
		good, text = 0, f.Text
	} else {
		f = &work.Failure{}
	}
	return newLetter(answer, number).word(good).word(work.EvidenceCode(e)).word(uint64(f.Code)).text(f.Domain).text(text)
}

// library compiles, while other messages are answered.
func (s *server) library(ctx context.Context, number uint64, c *content) error {
	src := metalshim.Source{Name: "program_source", File: "program_source"}
	src.MathMode, src.MathFunctions = metalshim.MathMode(c.word()), metalshim.MathFunctions(c.word())
	src.LanguageVersion = work.Version(c.word())
	macros := c.word()
	src.Text = c.text()
	for ; macros > 0 && c.err == nil; macros-- {
		if src.Macros == nil {
			src.Macros = map[string]string{}
		}
		name := c.text()
		src.Macros[name] = c.text()
	}
	if c.err != nil {
		return c.err
	}
	s.compile.Go(func() {
		l, f := s.t.Library(ctx, src)
		var e metalshim.Evidence
		names := ""
		if f == nil {
			e, names = l.Evidence(), work.Names(l)
			if err := s.t.Put(uintptr(number), l); err != nil {
				f = &work.Failure{Domain: work.LibraryDomain, Code: 3, Text: err.Error()}
			}
		}
		s.send(answerLetter(number, e, f, names))
	})
	return nil
}

// pipeline makes a function executable, while other messages are answered.
func (s *server) pipeline(ctx context.Context, number uint64, c *content) error {
	library := uintptr(c.word())
	values := make([]metalshim.Constant, 0, 8)
	count := c.word()
	nameBytes := c.word()
	for ; count > 0 && c.err == nil; count-- {
		values = append(values, metalshim.Constant{Index: int(c.word()), Type: metalshim.ConstantType(c.word()), Bits: c.word()})
	}
	name := string(c.bytes(nameBytes))
	if c.err != nil {
		return c.err
	}
	l, err := work.Find[metalshim.Library](s.t, library)
	if err != nil {
		return err
	}
	s.compile.Go(func() {
		p, f := s.t.Pipeline(ctx, l, name, values)
		if f != nil {
			s.send(answerLetter(number, metalshim.Evidence{}, f, ""))
			return
		}
		if err := s.t.Put(uintptr(number), p); err != nil {
			f = &work.Failure{Domain: work.PipelineDomain, Code: 1, Text: err.Error()}
		}
		s.send(answerLetter(number, p.Evidence(), f, "").word(uint64(p.MaxThreadsPerThreadgroup())).
			word(uint64(p.ThreadExecutionWidth())).word(uint64(p.StaticThreadgroupMemory())))
	})
	return nil
}

// buffer maps the memory of a program's buffer: its bytes, storage mode, whether
// what is written stays here, and where in the file it begins.
func (s *server) buffer(number uint64, c *content) error {
	n, _, private, offset := c.word(), c.word(), c.word(), c.word()
	if c.err != nil {
		return c.err
	}
	if len(s.files) == 0 {
		return errors.New("the program's library sent a buffer without its memory")
	}
	file := s.files[0]
	s.files = s.files[1:]
	defer unix.Close(file)
	b, region, err := newMapped(s.t.Device, file, int64(offset), n, private != 0)
	if err != nil {
		return err
	}
	s.regions[number] = region
	return s.t.Put(uintptr(number), b)
}

// GiveBackStderr lets go of the program's stderr, once that has ended: who reads that until its end need
// not wait for this process too.
func GiveBackStderr() {
	null, err := unix.Open("/dev/null", unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	_ = unix.Dup3(null, 2, 0) // it is open, and so is null
	unix.Close(null)
}

// Parent ends this process when the process of that number, which is at the other
// end of the socket, has ended: a process that was forked from it may hold the
// socket open.
func Parent(socket int) {
	peer, err := unix.GetsockoptUcred(socket, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return
	}
	file, err := unix.PidfdOpen(int(peer.Pid), 0)
	if err != nil {
		return // an old system, or it has ended: then so has the socket
	}
	go func() {
		for {
			n, err := unix.Poll([]unix.PollFd{{Fd: int32(file), Events: unix.POLLIN}}, -1)
			if n > 0 {
				GiveBackStderr()
				os.Exit(0)
			}
			if err != nil && !errors.Is(err, unix.EINTR) {
				return
			}
		}
	}()
}

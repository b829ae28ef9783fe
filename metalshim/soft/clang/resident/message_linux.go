//go:build linux && (amd64 || arm64)

package resident

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/introgen/introgen/metalshim/soft/native"
)

// Kinds of messages, and their bounds, as in src/preload.c.
const (
	kindOnce  = 1
	kindServe = 2

	maxMessage     = 64 << 10
	maxDescriptors = 16
	maxArguments   = 512
)

// errMessage says that a command cannot be sent, and that nothing is wrong with
// who would get it.
var errMessage = errors.New("the command cannot be sent")

// request is a message to a root or a server.
type request struct {
	kind  uint32
	limit uint64   // bytes of output
	args  []string // nil for a server
}

func (r request) bytes() ([]byte, error) {
	b := binary.LittleEndian.AppendUint32(nil, r.kind)
	b = binary.LittleEndian.AppendUint32(b, 0)
	b = binary.LittleEndian.AppendUint64(b, r.limit)
	for _, a := range r.args {
		if strings.ContainsRune(a, 0) {
			return nil, fmt.Errorf("%w: an argument holds a zero", errMessage)
		}
		b = append(append(b, a...), 0)
	}
	if len(b) > maxMessage || len(r.args) > maxArguments {
		return nil, fmt.Errorf("%w: %d arguments of %d bytes", errMessage, len(r.args), len(b))
	}
	return b, nil
}

// send sends it with descriptors.
func (r request) send(to *os.File, list []*os.File) error {
	b, err := r.bytes()
	if err != nil {
		return err
	}
	if len(list) > maxDescriptors {
		return fmt.Errorf("%w: %d files", errMessage, len(list))
	}
	fds := make([]int, len(list))
	for i, f := range list {
		fds[i] = int(f.Fd())
	}
	raw, err := to.SyscallConn()
	if err != nil {
		return err
	}
	rights := unix.UnixRights(fds...)
	var sent error
	err = raw.Write(func(fd uintptr) bool {
		sent = unix.Sendmsg(int(fd), b, rights, nil, unix.MSG_NOSIGNAL)
		return !errors.Is(sent, unix.EAGAIN)
	})
	if err == nil {
		err = sent
	}
	if errors.Is(err, unix.ETOOMANYREFS) || errors.Is(err, unix.EMSGSIZE) || errors.Is(err, unix.ENOBUFS) {
		err = fmt.Errorf("%w: %w", errMessage, err)
	}
	return err
}

// pair are the ends of a socket that keeps messages apart.
func pair() (ours, theirs *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("socket: %w", err)
	}
	// Only ours waits with Go's other files.
	if err := unix.SetNonblock(fds[0], true); err != nil {
		return nil, nil, errors.Join(err, unix.Close(fds[0]), unix.Close(fds[1]))
	}
	return os.NewFile(uintptr(fds[0]), "resident"), os.NewFile(uintptr(fds[1]), "resident"), nil
}

func shutdown(f *os.File) {
	raw, err := f.SyscallConn()
	if err != nil {
		return // closed: nobody waits any more
	}
	_ = raw.Control(func(fd uintptr) { _ = unix.Shutdown(int(fd), unix.SHUT_WR) }) // it may be gone
}

func statusOf(word [4]byte) syscall.WaitStatus {
	return syscall.WaitStatus(binary.LittleEndian.Uint32(word[:]))
}

// files are those of one message. After an error it makes no more.
type files struct {
	all []*os.File
	err error
}

func (f *files) memory(content []byte) *os.File {
	if f.err != nil {
		return nil
	}
	m, err := native.Memory(nil)
	if err != nil {
		f.err = err
		return nil
	}
	f.all = append(f.all, m)
	// Its place in the file stays at the beginning, for the reader.
	if _, err := m.WriteAt(content, 0); err != nil {
		f.err = err
	}
	return m
}

func (f *files) pair() (ours, theirs *os.File) {
	if f.err != nil {
		return nil, nil
	}
	if ours, theirs, f.err = pair(); f.err == nil {
		f.all = append(f.all, ours, theirs)
	}
	return ours, theirs
}

func (f *files) close() {
	for _, m := range f.all {
		m.Close()
	}
}

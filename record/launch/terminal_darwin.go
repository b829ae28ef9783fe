package launch

import (
	"bytes"
	"fmt"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	getMode = unix.TIOCGETA
	setMode = unix.TIOCSETA
	// rssUnit is that of ru_maxrss, getrusage(2): bytes.
	rssUnit = 1
)

// openPair makes a pseudo terminal by the calls of which posix_openpt, grantpt,
// unlockpt and ptsname are made (Libc, stdlib/grantpt.c).
func openPair() (ours, theirs *os.File, err error) {
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("/dev/ptmx: %w", err)
	}
	ours = os.NewFile(uintptr(fd), "/dev/ptmx")
	var name [128]byte
	for _, call := range []struct {
		request uintptr
		arg     unsafe.Pointer
	}{{unix.TIOCPTYGRANT, nil}, {unix.TIOCPTYUNLK, nil}, {unix.TIOCPTYGNAME, unsafe.Pointer(&name)}} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), call.request, uintptr(call.arg)); errno != 0 {
			_ = ours.Close() // nothing was written
			return nil, nil, fmt.Errorf("/dev/ptmx: %w", errno)
		}
	}
	path, _, _ := bytes.Cut(name[:], []byte{0})
	if theirs, err = os.OpenFile(string(path), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		_ = ours.Close() // nothing was written
		return nil, nil, err
	}
	return ours, theirs, nil
}

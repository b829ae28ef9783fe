package launch

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

const (
	getMode = unix.TCGETS
	setMode = unix.TCSETS
	// rssUnit is that of ru_maxrss, getrusage(2).
	rssUnit = 1024
)

// openPair makes a pseudo terminal, pts(4).
func openPair() (ours, theirs *os.File, err error) {
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("/dev/ptmx: %w", err)
	}
	ours = os.NewFile(uintptr(fd), "/dev/ptmx")
	n, err := unix.IoctlGetUint32(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		theirs, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		_ = ours.Close() // nothing was written
		return nil, nil, err
	}
	return ours, theirs, nil
}

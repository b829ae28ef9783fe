package launch

import (
	"os"

	"golang.org/x/sys/unix"
)

// openTerminal makes a pseudo terminal that looks like the user's and changes no
// byte: what is to be made of them, the user's own terminal does.
func openTerminal(like *os.File) (ours, theirs *os.File, err error) {
	ours, theirs, err = openPair()
	if err != nil {
		return nil, nil, err
	}
	fd := int(theirs.Fd())
	mode, err := unix.IoctlGetTermios(int(like.Fd()), getMode)
	if err == nil {
		mode.Oflag &^= unix.OPOST
		mode.Lflag &^= unix.ECHO
		err = unix.IoctlSetTermios(fd, setMode, mode)
	}
	if err != nil {
		_, _ = ours.Close(), theirs.Close() // nothing was written
		return nil, nil, err
	}
	return ours, theirs, nil
}

// resize gives the program's terminal the size of the user's.
func (s *stream) resize() {
	if s.shown == nil {
		return
	}
	size, err := unix.IoctlGetWinsize(int(s.shown.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return // it has none
	}
	_ = unix.IoctlSetWinsize(int(s.ours.Fd()), unix.TIOCSWINSZ, size) // the program may have closed it
}

package launch

import (
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A second request to end the program is one that comes in this time after the
// first. One that follows at once is the same: timeout(1) sends its signal to the
// process and then to its group.
const (
	sameTouch  = 250 * time.Millisecond
	impatience = 5 * time.Second
)

// relay passes signals on to the program.
type relay struct {
	r       *Running
	streams []*stream
	got     chan os.Signal
	done    chan struct{}
	stopped chan struct{}
	killed  chan struct{}
	once    sync.Once
	first   time.Time // when the end was asked for last
}

// passed are the signals that are passed on.
var passed = []os.Signal{unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT, unix.SIGUSR1, unix.SIGUSR2, unix.SIGWINCH}

// ignored are those that whoever started this process has it ignore, as shells do in
// the background and nohup does. They stay so, also in the program.
var ignored = slices.DeleteFunc(append(slices.Clone(passed), unix.SIGPIPE), func(s os.Signal) bool { return !signal.Ignored(s) })

// relayed are the signals that are passed on here.
func relayed() []os.Signal {
	return slices.DeleteFunc(slices.Clone(passed), func(s os.Signal) bool { return slices.Contains(ignored, s) })
}

// listen takes the signals that come from now on; begin passes them on.
func listen(r *Running, streams ...*stream) *relay {
	l := &relay{r: r, streams: streams, got: make(chan os.Signal, 16), done: make(chan struct{}), stopped: make(chan struct{}), killed: make(chan struct{})}
	signal.Reset(passed...)
	if len(ignored) > 0 {
		signal.Ignore(ignored...)
	}
	signal.Notify(l.got, relayed()...)
	return l
}

func (l *relay) begin() {
	go func() {
		for {
			select {
			case s := <-l.got:
				l.pass(s.(syscall.Signal))
			case <-l.done:
				return
			}
		}
	}()
}

func (l *relay) stop() {
	l.once.Do(func() {
		signal.Stop(l.got)
		close(l.done)
	})
}

// pass passes a signal on. One that was typed has reached the program already.
func (l *relay) pass(s syscall.Signal) {
	if s == unix.SIGWINCH {
		for _, stream := range l.streams {
			stream.resize()
		}
	}
	if s == unix.SIGINT || s == unix.SIGTERM {
		since := time.Since(l.first)
		if !l.first.IsZero() && since >= sameTouch && since < impatience {
			_ = l.r.cmd.Process.Kill() // it may have ended meanwhile
			closed(l.killed)
		}
		if l.first.IsZero() || since >= sameTouch {
			l.first = time.Now()
		}
	}
	select {
	case <-l.r.ended:
		if s == unix.SIGINT || s == unix.SIGTERM || s == unix.SIGHUP {
			closed(l.stopped)
		}
		return
	default:
	}
	if (s == unix.SIGINT || s == unix.SIGQUIT) && typed() {
		return
	}
	_ = l.r.cmd.Process.Signal(s) // it may have ended meanwhile
}

// closed closes a channel that may be closed already, of which there is one user.
func closed(c chan struct{}) {
	select {
	case <-c:
	default:
		close(c)
	}
}

// typed says whether a signal of the keyboard comes from the keyboard: where this
// process is one of those that the terminal is for, all of them have got it.
func typed() bool {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return false
	}
	defer tty.Close()
	front, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && front == unix.Getpgrp()
}

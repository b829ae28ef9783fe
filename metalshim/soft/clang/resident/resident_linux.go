//go:build linux && (amd64 || arm64)

package resident

import (
	"context"
	"debug/elf"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/introgen/introgen/metalshim/soft/clang"
	"github.com/introgen/introgen/metalshim/soft/native"
)

//go:embed src/system.h
var system string

//go:embed src/preload.c
var source string

// Source is the preload's C text.
func Source() string { return "# 1 \"system.h\"\n" + system + "# 1 \"preload.c\"\n" + source }

func memory(content []byte) (*os.File, error) { return native.Memory(content) }

// startLimit is how long a program may take to load its libraries.
const startLimit = 10 * time.Second

// maxServers bounds the processes that are kept for arguments; further arguments
// are run from main on.
const maxServers = 16

// starts is how often a process is started: a dead one once more.
const starts = 2

// root is a compiler that has stopped where its main would begin, and its servers.
type root struct {
	argv    []string
	preload []byte

	mu      sync.Mutex
	begun   int           // how often it was started
	started chan struct{} // closed when the last start has ended, well or not
	err     error         // how it ended
	control *os.File
	over    chan struct{} // closed when the process has been waited for
	servers map[string]*server
}

// server is a process that has stopped where it would read its source.
type server struct {
	begun  int
	socket *os.File // nil where it is dead
}

func newRoot(argv []string, preload []byte) *root { return &root{argv: argv, preload: preload} }

// loads says whether a program has a dynamic linker load its libraries: only that
// takes a preload.
func loads(path string) error {
	f, err := elf.Open(path)
	var format *elf.FormatError
	if errors.As(err, &format) {
		return ErrScript
	}
	if err != nil {
		return err
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			return nil
		}
	}
	return ErrStatic
}

// ready waits until the program has been loaded. It starts it where it has not
// been, and once more where it has died since.
func (r *root) ready(ctx context.Context) error {
	r.mu.Lock()
	if r.started == nil && r.err == nil {
		r.begun++
		r.started = make(chan struct{})
		go func() {
			err := r.start()
			r.mu.Lock()
			defer r.mu.Unlock()
			if r.err == nil {
				r.err = err
			}
			close(r.started)
		}()
	}
	started := r.started
	r.mu.Unlock()
	if started != nil {
		select {
		case <-started:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// start starts the program. The preload says that it has stopped; one that does
// not take it prints its version and ends.
func (r *root) start() error {
	code, err := memory(r.preload)
	if err != nil {
		return err
	}
	defer code.Close()
	ours, theirs, err := pair()
	if err != nil {
		return err
	}
	cmd := exec.Command(r.argv[0], append(r.argv[1:len(r.argv):len(r.argv)], "--version")...)
	// Whatever the program calls is found now, once, and not by each child anew: that
	// takes 2 ms here and saves each child as much.
	cmd.Env = append(clang.Environment(), "LD_PRELOAD="+clang.FilePath(1), "LD_BIND_NOW=1", "INTROGEN_RESIDENT=1")
	cmd.Dir = "/"
	cmd.ExtraFiles = []*os.File{theirs, code}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	err = cmd.Start()
	theirs.Close()
	if err != nil {
		ours.Close()
		return err
	}
	over := make(chan struct{})
	go func() {
		// How it ended is no news: it ends when its socket is closed.
		_ = cmd.Wait()
		close(over)
	}()
	var hello [1]byte
	if err = ours.SetReadDeadline(time.Now().Add(startLimit)); err == nil {
		_, err = io.ReadFull(ours, hello[:])
	}
	if err != nil {
		ours.Close()
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // it may have ended
		<-over
		return fmt.Errorf("%s does not take a preload: %w", r.argv[0], err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = over
	if r.err != nil { // closed meanwhile
		ours.Close()
		return r.err
	}
	r.control, r.servers = ours, map[string]*server{}
	return nil
}

// close ends the process and its servers, and waits for it. why is the answer to
// later runs.
func (r *root) close(why error) {
	r.mu.Lock()
	r.err = why
	started := r.started
	r.mu.Unlock()
	if started != nil {
		<-started
	}
	r.mu.Lock()
	over := r.drop()
	r.mu.Unlock()
	if over != nil {
		<-over
	}
}

// drop closes the sockets: the servers' first, so that they end by themselves and
// the root can count their time. It returns what tells that the root has ended.
func (r *root) drop() (over chan struct{}) {
	for _, s := range r.servers {
		if s.socket != nil {
			s.socket.Close()
		}
	}
	if r.control != nil {
		r.control.Close()
	}
	over = r.over
	r.control, r.servers, r.over = nil, nil, nil
	return over
}

// lost is told that the process, or what has socket, died. It is started again
// once.
func (r *root) lost(socket *os.File) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.servers {
		if s.socket == socket {
			s.socket.Close()
			s.socket = nil
			return
		}
	}
	if r.control != socket || socket == nil {
		return // somebody else has been here
	}
	r.drop()
	if r.begun < starts {
		r.started = nil
	} else {
		r.err = fmt.Errorf("%s: %w %d times", r.argv[0], errLost, starts)
	}
}

// run runs a command. Its error is errLost where the resident process died.
func (r *root) run(ctx context.Context, cmd Command) (out clang.Output, err error) {
	limited, cancel := cmd.Limited(ctx)
	defer cancel()
	socket, kind, err := r.socket(cmd)
	if err != nil {
		if !errors.Is(err, errMessage) {
			r.lost(socket)
		}
		return out, errLost
	}
	// Nothing of what follows needs the lock: a message is sent whole.
	var fds files
	defer fds.close()
	stdin, stdout, stderr := fds.memory(cmd.Stdin), fds.memory(nil), fds.memory(nil)
	ours, theirs := fds.pair()
	if fds.err != nil {
		return out, errLost // a process may fare better, and says more
	}
	message := request{kind: kindOnce, limit: clang.OutputLimit}
	if kind == kindOnce {
		message.args = cmd.Argv
	}
	list := slices.Concat([]*os.File{theirs, stdin, stdout, stderr}, cmd.Same, cmd.Files)
	if err := message.send(socket, list); err != nil {
		if !errors.Is(err, errMessage) {
			r.lost(socket)
		}
		return out, errLost
	}
	theirs.Close()
	status, told := await(limited, ours)
	if stopped := cmd.Stopped(ctx, limited); stopped != nil {
		out.Stdout, out.Stderr = content(stdout), content(stderr)
		return out, stopped
	}
	if !told {
		r.lost(socket)
		return out, errLost
	}
	out.Stdout, out.Stderr = content(stdout), content(stderr)
	switch {
	case status.Exited() && status.ExitStatus() == 0:
		return out, nil
	case status.Exited():
		return out, cmd.Failed(status.ExitStatus(), "", out)
	case status.Signal() == syscall.SIGXFSZ && filesBelow(clang.OutputLimit):
		return out, errLost // a process writes to a pipe, which the user's limit does not bind
	case status.Signal() == syscall.SIGXFSZ:
		return out, fmt.Errorf("%s: the output exceeds %d bytes", cmd.Argv[0], clang.OutputLimit)
	}
	state := "signal: " + status.Signal().String()
	if status.CoreDump() {
		state += " (core dumped)"
	}
	return out, cmd.Failed(-1, state, out)
}

// filesBelow says whether this process, and so what it starts, may not write files of
// n bytes, as under `ulimit -f`: files in memory are files.
func filesBelow(n uint64) bool {
	var limit unix.Rlimit
	return unix.Getrlimit(unix.RLIMIT_FSIZE, &limit) == nil && limit.Cur < n
}

// socket is where a command is to be sent: to the server of its arguments, or to
// the root. Beside an error it is where a server could not be asked for.
func (r *root) socket(cmd Command) (socket *os.File, kind uint32, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil || r.control == nil {
		return nil, 0, errLost
	}
	if cmd.Stdin == nil {
		return r.control, kindOnce, nil
	}
	key := strings.Join(cmd.Argv, "\x00")
	for _, f := range cmd.Same {
		var s unix.Stat_t
		if err := unix.Fstat(int(f.Fd()), &s); err != nil {
			return nil, 0, fmt.Errorf("%w: %w", errMessage, err)
		}
		key += fmt.Sprintf("\x00\x00%d %d %d %d", s.Dev, s.Ino, s.Size, s.Mtim.Nano())
	}
	s := r.servers[key]
	if s == nil {
		if len(r.servers) == maxServers {
			return r.control, kindOnce, nil
		}
		s = &server{}
		r.servers[key] = s
	}
	if s.socket == nil {
		if s.begun == starts {
			return nil, 0, errLost
		}
		s.begun++
		if s.socket, err = r.serve(cmd); err != nil {
			return r.control, 0, err
		}
	}
	return s.socket, kindServe, nil
}

// serve has the root start a server. Requests may be sent to it at once.
func (r *root) serve(cmd Command) (socket *os.File, err error) {
	var fds files
	defer fds.close()
	// Its input is empty, so that one that does not stop there ends.
	stdin, stdout, stderr := fds.memory(nil), fds.memory(nil), fds.memory(nil)
	if fds.err != nil {
		return nil, fmt.Errorf("%w: %w", errMessage, fds.err)
	}
	ours, theirs, err := pair()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errMessage, err)
	}
	message := request{kind: kindServe, args: cmd.Argv}
	err = message.send(r.control, append([]*os.File{theirs, stdin, stdout, stderr}, cmd.Same...))
	theirs.Close()
	if err != nil {
		ours.Close()
		return nil, err
	}
	return ours, nil
}

// killWait is how long a killed child may take to be gone.
const killWait = 2 * time.Second

// await waits for a child's status. When ctx is over the child is killed.
func await(ctx context.Context, reply *os.File) (status syscall.WaitStatus, told bool) {
	stop := context.AfterFunc(ctx, func() {
		_ = reply.SetReadDeadline(time.Now().Add(killWait)) // where it cannot be set, the end of the child ends the wait
		shutdown(reply)
	})
	defer stop()
	var word [4]byte
	if _, err := io.ReadFull(reply, word[:]); err != nil {
		return 0, false
	}
	return statusOf(word), true
}

// content is what has been written to a file in memory.
func content(f *os.File) []byte {
	var s unix.Stat_t
	if unix.Fstat(int(f.Fd()), &s) != nil || s.Size == 0 {
		return nil
	}
	b := make([]byte, s.Size)
	n, _ := f.ReadAt(b, 0)
	return b[:n]
}

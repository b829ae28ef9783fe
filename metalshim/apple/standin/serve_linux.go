//go:build linux && (amd64 || arm64)

package standin

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/ebitengine/purego"
	"golang.org/x/sys/unix"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/apple/standin/work"
)

// library is a loaded stand-in: the entry points that Go uses.
type library struct {
	serve, end, reply, completed, layout, lack, method, nextLive, openPools uintptr
}

var libraries = struct {
	sync.Mutex
	by map[string]*library
}{by: map[string]*library{}}

// load loads the shared object. It stays loaded.
func load(path string) (*library, error) {
	libraries.Lock()
	defer libraries.Unlock()
	if l := libraries.by[path]; l != nil {
		return l, nil
	}
	handle, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, fmt.Errorf("stand-in %s: %w", path, err)
	}
	l := &library{}
	for name, to := range map[string]*uintptr{
		"standin_serve": &l.serve, "standin_end": &l.end, "standin_reply": &l.reply, "standin_completed": &l.completed,
		"standin_layout": &l.layout, "standin_lack": &l.lack, "standin_method": &l.method,
		"standin_next_live": &l.nextLive, "standin_open_pools": &l.openPools,
	} {
		if *to, err = purego.Dlsym(handle, name); err != nil {
			return nil, fmt.Errorf("stand-in %s: %w", path, err)
		}
	}
	if got, _, _ := purego.SyscallN(l.layout); uint64(got) != layout {
		return nil, fmt.Errorf("stand-in %s: its structures are laid out as %#x, not %#x: it was built from other sources", path, got, layout)
	}
	libraries.by[path] = l
	return l, nil
}

// Server answers the messages that the stand-in's objects get. There is one at
// a time in a process.
type Server struct {
	l *library
	o Options
	t *work.Table

	mu     sync.Mutex
	counts [points]int
}

// active is the server that C's calls are for.
var active atomic.Pointer[Server]

// Serve loads the stand-in at path and lets dev do the work until Close. The
// path is what the apple driver loads as each of Apple's libraries.
func Serve(path string, dev metalshim.Device, o Options) (*Server, error) {
	l, err := load(path)
	if err != nil {
		return nil, err
	}
	s := &Server{l: l, o: o, t: work.New(dev, o.family())}
	if !active.CompareAndSwap(nil, s) {
		return nil, errors.New("stand-in: another server has not been closed")
	}
	machine, err := s.facts()
	if err != nil {
		active.Store(nil)
		return nil, err
	}
	functions := backend()
	purego.SyscallN(l.serve, uintptr(unsafe.Pointer(&functions)), uintptr(unsafe.Pointer(machine)))
	for _, selector := range o.Lacks {
		name := append([]byte(selector), 0)
		if n, _, _ := purego.SyscallN(l.lack, uintptr(unsafe.Pointer(&name[0]))); n == 0 {
			s.Close()
			return nil, fmt.Errorf("stand-in: no method has the selector %q, which Options.Lacks names", selector)
		}
	}
	return s, nil
}

// facts puts together what the device and the machine say of themselves.
func (s *Server) facts() (*cFacts, error) {
	info := s.t.Device.Info()
	var system unix.Sysinfo_t
	if err := unix.Sysinfo(&system); err != nil {
		return nil, fmt.Errorf("stand-in: sysinfo: %w", err)
	}
	name, architecture, version := s.o.Name, s.o.Architecture, s.o.Version
	if name == "" {
		name = info.Name
	}
	if architecture == "" {
		architecture = info.Architecture
	}
	if version == [3]int64{} {
		version = [3]int64{15, 1, 0}
	}
	return &cFacts{
		name: textOf(name), architecture: textOf(architecture),
		versionText: textOf(fmt.Sprintf("Version %d.%d (Build 24B83)", version[0], version[1])),
		registry:    0x1122334455667788, // needs more than 32 bits
		maxGroup:    uint64(info.MaxThreadsPerThreadgroup), maxMemory: uint64(info.MaxThreadgroupMemory),
		maxLength: uint64(info.MaxBufferLength), allocatedLimit: uint64(info.MaxBufferLength),
		unified: bit(info.UnifiedMemory), family: 1000 + int64(s.t.Family),
		lowPowerMode: bit(s.o.LowPowerMode), thermal: s.o.ThermalState, version: version,
		physical: system.Totalram * uint64(system.Unit),
	}, nil
}

// family is the highest of Apple's GPU families that o shows, 0 for none.
func (o Options) family() int {
	switch {
	case o.Intel:
		return 0
	case o.AppleFamily == 0:
		return 7
	}
	return o.AppleFamily
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// Leaks tells what is alive now; nil if nothing is.
func (s *Server) Leaks() *LeakError {
	e := &LeakError{}
	line := make([]byte, 256)
	for n := uintptr(1); ; n++ {
		n, _, _ = purego.SyscallN(s.l.nextLive, n, uintptr(unsafe.Pointer(&line[0])), uintptr(len(line)))
		if n == 0 {
			break
		}
		e.Objects = append(e.Objects, unix.ByteSliceToString(line))
	}
	pools, _, _ := purego.SyscallN(s.l.openPools)
	e.Pools = int(pools)
	e.Backing = s.t.Len()
	if len(e.Objects) == 0 && e.Pools == 0 && e.Backing == 0 {
		return nil
	}
	return e
}

// Calls counts the messages since Serve, by "-[MTLDevice name]" as the table
// names methods. Methods without a body have no entry; others that were not
// called have 0.
func (s *Server) Calls() map[string]int64 {
	out := map[string]int64{}
	line := make([]byte, 256)
	var count, has uint64
	for i := uintptr(0); ; i++ {
		more, _, _ := purego.SyscallN(s.l.method, i, uintptr(unsafe.Pointer(&line[0])), uintptr(len(line)),
			uintptr(unsafe.Pointer(&count)), uintptr(unsafe.Pointer(&has)))
		if more == 0 {
			return out
		}
		if has != 0 {
			out[unix.ByteSliceToString(line)] = int64(count)
		}
	}
}

// Close waits for what is in flight and ends the server. What was not released
// is a *LeakError; it is forgotten, and may not be used any more.
func (s *Server) Close() error {
	if active.Load() != s {
		return nil
	}
	s.t.Flights.Wait()
	leaks := s.Leaks()
	purego.SyscallN(s.l.end)
	active.Store(nil)
	if leaks != nil {
		return leaks
	}
	return nil
}

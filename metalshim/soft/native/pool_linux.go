//go:build linux && (amd64 || arm64)

package native

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"
	"unsafe"

	"github.com/ebitengine/purego"
)

// Pool is a number of threads that run command buffers.
type Pool struct {
	r  *Runtime
	mu sync.Mutex // one command buffer at a time, and none after Close
	p  uintptr

	watch sync.Mutex // guards what follows
	now   *watchdog  // of the command buffer that runs, or nil
}

// NewPool starts workers threads.
func (r *Runtime) NewPool(workers int) (*Pool, error) {
	p, _, _ := purego.SyscallN(r.create, uintptr(workers))
	if p == 0 {
		return nil, fmt.Errorf("soft metal runtime: %d threads could not be started", workers)
	}
	return &Pool{r: r, p: p}, nil
}

// Close ends the threads.
func (p *Pool) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.p != 0 {
		purego.SyscallN(p.r.destroy, p.p)
		p.p = 0
	}
}

// Run runs commands in order and returns when they have run. times, if not
// nil, is as long as commands and takes the nanoseconds of each. A command buffer
// that reaches a limit, or that Stop ends, is given up: its outcome is Timeout.
func (p *Pool) Run(commands []Command, times []int64, limits Limits) (Outcome, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.p == 0 {
		return Outcome{}, errors.New("soft metal runtime: closed")
	}
	if len(commands) == 0 {
		return Outcome{}, nil
	}
	w := p.begin(limits)
	var out result
	var each uintptr
	if len(times) == len(commands) {
		each = uintptr(unsafe.Pointer(&times[0]))
	}
	purego.SyscallN(p.r.run, p.p, uintptr(unsafe.Pointer(&commands[0])), uintptr(len(commands)), each, uintptr(unsafe.Pointer(&out)))
	runtime.KeepAlive(commands)
	runtime.KeepAlive(times)
	p.end(w)
	return Outcome{
		Status: Status(out.status), Command: int(out.command), Address: uintptr(out.address),
		Limit: w.reached, Stalled: w.stalled,
		Started: time.Duration(out.started - out.entered), Ended: time.Duration(out.ended - out.entered),
	}, nil
}

// watchdog looks after a command buffer. p.watch guards it.
type watchdog struct {
	limits   Limits
	begun    time.Time
	every    time.Duration
	timer    *time.Timer
	looked   time.Time     // the last time
	ran      time.Duration // until then, as far as this process ran itself
	progress uintptr
	moved    time.Duration // what ran was when progress last changed
	asked    bool
	reached  time.Duration
	stalled  bool
}

// The longest and the shortest time between two looks of a watchdog, and how soon
// after it has asked a kernel to end it makes it.
const (
	longest  = 500 * time.Millisecond
	shortest = 5 * time.Millisecond
	grace    = 200 * time.Millisecond
)

func (p *Pool) begin(limits Limits) *watchdog {
	now := time.Now()
	w := &watchdog{limits: limits, begun: now, looked: now}
	p.watch.Lock()
	defer p.watch.Unlock()
	p.now = w
	for _, limit := range []time.Duration{limits.Stall, limits.Total} {
		if look := max(min(limit/8, longest), shortest); limit > 0 && (w.every == 0 || look < w.every) {
			w.every = look
		}
	}
	if w.every > 0 {
		w.progress, _, _ = purego.SyscallN(p.r.progress, p.p)
		w.timer = time.AfterFunc(w.every, func() { p.look(w) })
	}
	return w
}

func (p *Pool) end(w *watchdog) {
	p.watch.Lock()
	defer p.watch.Unlock()
	p.now = nil
	if w.timer != nil {
		w.timer.Stop()
	}
}

// look ends the command buffer if it has reached a limit. A process that was
// stopped, or a machine that slept, has run nothing meanwhile: that time does not
// count.
func (p *Pool) look(w *watchdog) {
	p.watch.Lock()
	defer p.watch.Unlock()
	if p.now != w {
		return
	}
	if w.asked {
		p.halt(w)
		return
	}
	now := time.Now()
	w.ran += min(now.Sub(w.looked), 2*w.every)
	w.looked = now
	if at, _, _ := purego.SyscallN(p.r.progress, p.p); at != w.progress {
		w.progress, w.moved = at, w.ran
	}
	switch l := w.limits; {
	case l.Total > 0 && w.ran >= l.Total:
		w.reached = l.Total
	case l.Stall > 0 && w.ran-w.moved >= l.Stall:
		w.reached, w.stalled = l.Stall, true
	default:
		w.timer.Reset(w.every)
		return
	}
	p.halt(w)
}

// halt asks the kernels that run to end, and makes them the next time, until
// they have. p.watch is held.
func (p *Pool) halt(w *watchdog) {
	hard := uintptr(0)
	if w.asked {
		hard = 1
	}
	w.asked = true
	purego.SyscallN(p.r.stop, p.p, hard)
	if w.timer == nil {
		w.timer = time.AfterFunc(grace, func() { p.look(w) })
		return
	}
	w.timer.Reset(grace)
}

// Stop ends the command buffer that runs, if one does.
func (p *Pool) Stop() {
	p.watch.Lock()
	defer p.watch.Unlock()
	if w := p.now; w != nil && !w.asked {
		p.halt(w)
	}
}

// Running says which command of the command buffer that runs is under way, and
// for how long; ok is false where none runs.
func (p *Pool) Running() (command int, ran time.Duration, ok bool) {
	p.watch.Lock()
	defer p.watch.Unlock()
	if p.now == nil {
		return 0, 0, false
	}
	var nanos int64
	at, _, _ := purego.SyscallN(p.r.at, p.p, uintptr(unsafe.Pointer(&nanos)))
	// Before the first command has begun, the numbers are those of the last.
	return int(at), min(time.Duration(nanos), time.Since(p.now.begun)), true
}

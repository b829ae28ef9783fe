package record

import (
	"fmt"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/introgen/introgen/metalshim/recorder"
	"github.com/introgen/introgen/record/assemble"
	"github.com/introgen/introgen/record/launch"
	"github.com/introgen/introgen/record/marks"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/system/machine"
)

// watch follows a program and its children from start to end.
type watch struct {
	o       Options
	rings   *recorder.Folder
	running *launch.Running
	put     *sink
	result  *Result
	failed  error

	waiting writes
	lines   map[string]*marks.Lines // of each stream, used by the one who copies it
	written map[string]int64

	begun   map[string]bool  // phases that a line of the output began
	arrived []*recorder.Ring // whose process has not said yet what it is
	killed  bool             // the children too

	main  *process
	all   []*process
	first *process // that used Metal, whose run is written as it goes
}

// process is one of the program's.
type process struct {
	pid   int
	ring  *recorder.Ring // nil where it has none yet
	run   *assemble.Process
	kept  *store // of its events, until it is known where they belong
	ended bool
}

// How often rings are read: while many events come, and at the least. Each look takes
// time of a core, which a device that runs on the CPU would use.
const (
	busyPause = 500 * time.Microsecond
	idlePause = 5 * time.Millisecond
	// many is how many events in one look mean that the next must come soon.
	many = 512
	// portion is how many events of a ring are taken before others have their turn.
	portion = 1 << 16
	// lookout is how often it is looked whether children are still there.
	lookout = 20 * time.Millisecond
	// linger is how long after the program's end its streams may be silent, where
	// somebody else still holds them.
	linger = 2 * time.Second
	// parting is how long what got the same signal as the program may take to end.
	parting = 200 * time.Millisecond
)

// wrote is told what the program wrote; launch calls it beside all the rest.
func (w *watch) wrote(stream string, at int64, b []byte) {
	w.waiting.add(write{stream, at, len(b), w.lines[stream].Write(b)})
}

// run follows the program until it and its children have ended.
func (w *watch) run() {
	defer w.finish()
	w.main = w.begin(w.running.PID(), 0, w.o.Program.Path, w.o.Args[1:])
	pause, looked := idlePause, time.Now()
	for {
		over := w.over()
		busy := w.take()
		if over {
			return
		}
		if time.Since(looked) >= lookout {
			looked = time.Now()
			w.killChildren()
			w.lookAtChildren()
		}
		pause = min(2*pause, idlePause)
		if busy {
			pause = busyPause
		}
		time.Sleep(pause)
	}
}

// over says whether nothing follows any more: the program has ended, its streams are
// read to their end, and so have its children that used Metal.
func (w *watch) over() bool {
	select {
	case <-w.running.Ended():
	default:
		return false
	}
	left := len(w.arrived) > 0
	for _, p := range w.all {
		left = left || p != w.main && !p.ended && p.run.Used()
	}
	drained := false
	select {
	case <-w.running.Drained():
		drained = true
	default:
	}
	if drained && !left {
		return true
	}
	select {
	case <-w.running.Stopped():
		if w.running.Quiet() < parting {
			return false
		}
		w.note("what the program left running was not waited for")
		return true
	default:
	}
	if left {
		return false
	}
	if w.running.Quiet() < linger {
		return false
	}
	w.note("another process that the program left behind holds its output: what comes from now on is not passed on")
	return true
}

func (w *watch) note(text string) { w.result.Notes = append(w.result.Notes, text) }

// take takes what has come since the last time, and says whether that was anything.
func (w *watch) take() (busy bool) {
	w.arrived = slices.DeleteFunc(append(w.arrived, w.rings.Rings()...), w.attach)
	for _, p := range w.all {
		if p.ring != nil && !p.ended && p.ring.Read(portion, w.eventOf(p)) >= many {
			busy = true
		}
	}
	now := machine.Clock()
	for _, x := range w.waiting.take() {
		w.written[x.stream] += int64(x.bytes)
		for _, phase := range x.phases {
			w.begun[phase] = true
		}
		for _, p := range w.all {
			if p.ended {
				continue
			}
			p.run.Output(x.stream, x.at, x.bytes)
			p.run.Marks(x.phases, x.at)
		}
	}
	for _, p := range w.all {
		if !p.ended {
			p.run.Time(now)
		}
	}
	w.put.pass()
	return busy
}

// eventOf hands the events of a process on.
func (w *watch) eventOf(p *process) func(recorder.Event) {
	return func(e recorder.Event) {
		p.run.Event(e)
		if w.first == nil && p.run.Used() {
			w.first = p
			p.kept.live(w.put.add)
		}
	}
}

// attach finds the process of a ring: the program itself, or a child of it. It is
// false where the process lives and has not said yet which program it is.
func (w *watch) attach(ring *recorder.Ring) bool {
	pid := int(ring.PID())
	if pid == w.main.pid && w.main.ring == nil {
		w.main.ring = ring
		return true
	}
	path := ""
	var began []recorder.Event
	dead := gone(pid)
	n := ring.Read(1, func(e recorder.Event) {
		path = e.Text
		began = append(began, e)
	})
	if n == 0 && !dead {
		return false
	}
	parent := int(ring.Parent())
	if parent == os.Getpid() { // the program itself, as which it was started anew
		parent = 0
	}
	// A process that becomes another program has another ring.
	for _, p := range w.all {
		if p.pid == pid && !p.ended {
			how := w.now()
			how.Notes = []string{"the process became another program, which has a run of its own"}
			w.endOf(p, how)
		}
	}
	p := w.begin(pid, parent, path, nil)
	if p.ring = ring; pid == w.main.pid {
		w.main = p
	}
	for _, e := range began {
		w.eventOf(p)(e)
	}
	return true
}

// begin begins the run of a process.
func (w *watch) begin(pid, parent int, path string, args []string) *process {
	p := &process{pid: pid, kept: &store{}}
	h := w.o.Header
	h.Clock = w.running.Spawned
	h.PID = pid
	if args == nil {
		args = []string{}
	}
	if path == "" {
		path = fmt.Sprintf("process %d", pid)
	}
	h.Program = &recording.Program{Path: path, Args: args, PID: pid, Parent: parent}
	p.run = assemble.New(assemble.Options{
		Header: h, Driver: driver, Nonce: w.o.Nonce, Marked: len(w.o.Marks) > 0, Dispatches: w.o.Dispatches,
		Known: w.o.Known, Put: p.kept.put,
	})
	w.all = append(w.all, p)
	return p
}

// now is how a child has ended whose end nobody has told.
func (w *watch) now() assemble.Ending { return assemble.Ending{At: machine.Clock()} }

// lookAtChildren ends the runs of children that are gone.
func (w *watch) lookAtChildren() {
	for _, p := range w.all {
		if p == w.main || p.ended || !gone(p.pid) {
			continue
		}
		how := w.now()
		how.Notes = []string{fmt.Sprintf("process %d was started by process %d, which knows how it ended", p.pid, p.ring.Parent())}
		w.endOf(p, how)
	}
}

// killChildren kills what the program started, once the program was killed since it
// did not end when it was asked to.
func (w *watch) killChildren() {
	select {
	case <-w.running.Killed():
	default:
		return
	}
	if w.killed {
		return
	}
	w.killed = true
	for _, p := range w.all {
		if p != w.main && !p.ended && !gone(p.pid) {
			_ = unix.Kill(p.pid, unix.SIGKILL) // it may have ended meanwhile
		}
	}
}

// endOf takes the rest of what a process did, and ends its run.
func (w *watch) endOf(p *process, how assemble.Ending) {
	if p.ring != nil {
		how.LostSlots = int64(p.ring.Rest(w.eventOf(p)))
		how.Lost = int64(p.ring.Lost())
		how.Cost = p.ring.Cost().Nanoseconds() * 1000
		if err := p.ring.Err(); err != nil {
			how.Notes = append(how.Notes, err.Error())
		}
		w.result.Lost += how.Lost
	}
	p.run.End(how)
	p.ended = true
	if p.ring != nil {
		p.ring.Close()
	}
}

// finish ends all runs, and writes those that were kept.
func (w *watch) finish() {
	w.result.Ending = w.running.Ending()
	w.result.Took = time.Duration(w.result.At - w.running.Spawned)
	w.result.Written = w.written
	w.result.Notes = append(w.result.Notes, w.running.Unpassed()...)
	for _, m := range w.o.Marks {
		if !w.begun[m.Phase] {
			w.note(fmt.Sprintf("no line of the output began the phase %q: none matches %q", m.Phase, m.Match))
		}
	}
	for _, p := range w.all {
		if p.ended {
			continue
		}
		how := w.now()
		if p == w.main {
			how = assemble.Ending{At: w.result.At, Code: w.result.Code, Signal: w.result.Name(), MaxRSS: w.result.MaxRSS, Notes: w.result.Notes}
			switch {
			case how.Signal != "":
				how.Error = "the program was ended by " + how.Signal
			case how.Code != 0:
				how.Error = fmt.Sprintf("the program ended with exit code %d", how.Code)
			}
		}
		w.endOf(p, how)
	}
	for _, err := range w.rings.Refused {
		w.note(err.Error())
	}
	w.result.Nonce = w.o.Nonce != ""
	for _, p := range w.all {
		if p.run.Used() {
			w.result.Used++
		}
		w.result.Sources += p.run.Sources()
		w.result.Nonce = w.result.Nonce && p.run.Nonced()
	}
	w.result.Nonce = w.result.Nonce && w.result.Sources > 0
	for _, p := range w.all {
		if p != w.first && (p.run.Used() || w.first == nil && p == w.main) {
			w.keep(p.kept.give(w.put.add))
		}
		w.keep(p.kept.close())
		w.put.pass()
	}
	w.put.close()
}

func (w *watch) keep(err error) {
	if err != nil && w.failed == nil {
		w.failed = fmt.Errorf("the recording of a child process: %w", err)
	}
}

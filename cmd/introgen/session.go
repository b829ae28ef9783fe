package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/introgen/introgen/bench/machine"
	"github.com/introgen/introgen/results/console"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/store"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
	"github.com/urfave/cli/v2"
)

// session is one run of the program: its recorder, and where its events go. The
// spans at the top follow one another without holes, so that all of the
// process's time has a name.
type session struct {
	args   []string // as given, without the program's name
	rec    *trace.Recorder
	top    trace.Span // the span at the top that is open, outside of rounds
	stderr io.Writer
	typed  bool // a signal ends it, and whoever sends that wants to know what it waits for

	// Of a command that is recorded, which has a header:
	mu        sync.Mutex    // guards what follows: drivers tell notes from several goroutines
	at        func() string // what the command waits for, where it knows better than its spans; may be nil
	header    *recording.Header
	began     bool
	feed      recording.Feed
	more      func(put func(recording.Event)) // what else has happened since the last time; may be nil
	printer   *console.Printer
	collector *recording.Collector // for views; nil where none is asked for
	files     []*recordFile
	views     []*viewFile
	line      []byte // memory for one encoded event
	told      []recording.Event
	state     string // the state folder, "" for none
	digestOf  string // the model file whose digest is to be found out at the end
	digest    string // which it is
	watch     machine.Watch
	broken    error // why a recording that was asked for is not whole
}

// recordFile is a recording that is being written.
type recordFile struct {
	path  string
	w     *recording.Writer
	asked bool // by --output; else it is one of the last, kept by itself
	fresh bool // the file was not there before
}

func newSession(rec *trace.Recorder, args []string, stderr io.Writer) *session {
	s := &session{args: args[min(1, len(args)):], rec: rec, stderr: stderr, feed: recording.Feed{Recorder: rec}}
	s.enter(names.SpanArguments, "")
	return s
}

// sessionKey is where package cli keeps the session for the commands.
const sessionKey = "session"

func sessionOf(c *cli.Context) *session { return c.App.Metadata[sessionKey].(*session) }

// enter ends the span at the top and begins the next one.
func (s *session) enter(name, detail string) {
	s.top.End()
	s.top = s.rec.Begin(name, detail, 0)
}

// leave ends the span at the top: a round follows, or the end.
func (s *session) leave() {
	s.top.End()
	s.top = trace.Span{}
}

// put hands an event on.
func (s *session) put(e recording.Event) {
	if s.printer != nil {
		_ = s.printer.Event(e) // the printer keeps it
	}
	if s.collector != nil {
		s.collector.Add(e)
	}
	if len(s.files) == 0 {
		return
	}
	var err error
	if s.line, err = recording.Encode(s.line[:0], e); err != nil {
		s.say(fmt.Sprintf("not recorded: %v", err))
		return
	}
	s.write(func(f *recordFile) error { return f.w.PutLine(s.line) })
}

// write does the same to every file. One that fails is given up; the run goes
// on.
func (s *session) write(do func(*recordFile) error) {
	whole := s.files[:0]
	for _, f := range s.files {
		err := do(f)
		if err == nil {
			whole = append(whole, f)
			continue
		}
		_ = f.w.Close() // it has failed already
		s.say(fmt.Sprintf("the recording %s ends here, the run goes on: %v", f.path, err))
		if f.asked {
			s.broken = fmt.Errorf("the recording %s is not whole: %w", f.path, err)
		}
	}
	s.files = whole
}

// say prints a note. It is recorded with what comes next.
func (s *session) say(text string) {
	noteTo(s.stderr, "%s", text)
	s.told = append(s.told, &recording.Note{Text: text})
}

// note prints and records a note; any goroutine may.
func (s *session) note(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.say(text)
}

// catchUp hands on what the recorder has recorded since the last time, then the
// given events, and has all of it written.
func (s *session) catchUp(events ...recording.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.began {
		return
	}
	s.feed.Take(s.put)
	if s.more != nil {
		s.more(s.put)
	}
	told := s.told
	s.told = nil
	for _, e := range append(told, events...) {
		s.put(e)
	}
	s.write(func(f *recordFile) error { return f.w.Flush() })
}

// between catches up in the middle of a round, and says how long that took.
func (s *session) between(events ...recording.Event) {
	began := s.rec.Now()
	s.catchUp(events...)
	s.rec.Add(s.rec.Current(), names.SpanRecord, "", 0, began, s.rec.Now())
}

// machineNow reads the machine's state.
func (s *session) machineNow() recording.Event {
	m := s.watch.Read(int64(s.rec.Now()))
	return &m
}

// open begins the recordings and views of a command. What was asked for and
// cannot be is an error; a recording that is kept by itself is not worth one.
func (s *session) open(c *cli.Context, header *recording.Header, printer *console.Printer) error {
	s.subject(header)
	s.printer = printer
	for _, path := range c.StringSlice("output") {
		if err := s.openOutput(path); err != nil {
			s.discard()
			return err
		}
	}
	keep, err := store.Keep()
	if err != nil {
		s.discard()
		return usageError{err}
	}
	if s.state, err = store.Dir(); err != nil {
		s.note(fmt.Sprintf("no recording is kept: %v", err))
		keep = false
	}
	if !keep || s.state == "" {
		return nil
	}
	w, path, err := store.Create(s.state, header.Command)
	if err != nil {
		s.note(fmt.Sprintf("no recording is kept: %v", err))
		return nil
	}
	s.files = append(s.files, &recordFile{path: path, w: w, fresh: true})
	return nil
}

// subject takes the header, nil where the session records nothing itself.
func (s *session) subject(header *recording.Header) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.header = header
}

// begin writes the header.
func (s *session) begin() {
	s.header.Clock = machine.Clock() - int64(s.rec.Now())
	s.mu.Lock()
	s.began = true
	s.put(s.header)
	s.mu.Unlock()
	s.catchUp(s.machineNow())
}

// discard gives up all outputs, and removes those that were not there before.
func (s *session) discard() {
	for _, f := range s.files {
		_ = f.w.Close()
		if f.fresh {
			_ = os.Remove(f.path)
		}
	}
	for _, v := range s.views {
		v.discard()
	}
	s.files, s.views = nil, nil
}

// finish completes the recordings of a command that ended with err, and returns
// the error that the program ends with.
func (s *session) finish(ctx context.Context, err error) error {
	if s.header == nil {
		return err
	}
	if exitCode(ctx, err) == exitUsage {
		s.discard()
		return err
	}
	if err == nil {
		s.findDigest(ctx)
	}
	s.enter(names.SpanRecord, "")
	if !s.began {
		s.begin()
	}
	s.catchUp(s.machineNow())
	// The tables that stand at the end of the output are printed before the
	// last event is put together: whether that succeeds belongs into it.
	last := &recording.End{Code: exitCode(ctx, err), ModelDigest: s.digest}
	if err != nil {
		last.Error = oneLine(err)
	}
	if failed := s.printer.Event(last); err == nil {
		err = failed
	}
	end := &recording.End{ModelDigest: s.digest, SpanCost: spanCost()}
	end.MajorFaults, end.MinorFaults = machine.Faults()
	s.leave()
	s.catchUp()
	end.At, end.Code = int64(s.rec.Now()), exitCode(ctx, s.ending(ctx, err))
	if err != nil {
		end.Error = oneLine(err)
	}
	s.catchUp(end)
	s.closeFiles()
	if s.collector != nil {
		s.writeViews(s.collector.File())
	}
	return s.ending(ctx, err)
}

// writeViews writes the views that were asked for of what was recorded.
func (s *session) writeViews(f *recording.File) {
	for _, v := range s.views {
		if failed := v.write(f); failed != nil && s.broken == nil {
			s.broken = failed
		}
	}
}

// closeFiles ends the recordings, and packs the one that is kept by itself.
func (s *session) closeFiles() {
	s.write(func(f *recordFile) error { return f.w.Close() })
	for _, f := range s.files {
		if f.asked {
			continue
		}
		if err := store.Pack(f.path); err != nil {
			noteTo(s.stderr, "the recording %s stays unpacked: %v", f.path, err)
		}
	}
}

// crashed, deferred, writes into the recordings that the program panics, and lets
// it go on doing so.
func (s *session) crashed() {
	p := recover()
	if p == nil {
		return
	}
	if s.began {
		// Whoever holds the lock may be what has crashed; it is not given back.
		s.mu.TryLock()
		s.feed.Take(s.put)
		s.put(&recording.End{At: int64(s.rec.Now()), Code: exitCrashed, Error: fmt.Sprintf("panic: %v", p)})
		s.write(func(f *recordFile) error { return f.w.Close() })
	}
	panic(p)
}

// ending is what the program ends with: err, or where that is no failure, that a
// recording is not whole.
func (s *session) ending(ctx context.Context, err error) error {
	if s.broken != nil && exitCode(ctx, err) == exitOK {
		return s.broken
	}
	return err
}

// spanCost is what one span costs here and now, in picoseconds: the shortest of
// a few readings of a hundred spans each.
func spanCost() int64 {
	const readings, each = 5, 100
	rec, least := trace.New(), int64(0)
	for i := range readings {
		began := rec.Now()
		for range each {
			rec.Begin(names.SpanStep, "", 1).End()
		}
		if took := int64(rec.Now()-began) * 1000 / each; i == 0 || took < least {
			least = took
		}
	}
	return least
}

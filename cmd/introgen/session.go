package main

import (
	"context"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/introgen/introgen/models"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/system/machine"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
	"github.com/urfave/cli/v2"
)

// session is one run of the program: what it records, and whom it tells. The
// spans at the top follow one another without holes, so that all of the process's
// time has a name.
type session struct {
	args    []string // as given, without the program's name
	rec     *trace.Recorder
	top     trace.Span  // the span at the top that is open, outside of rounds
	typed   bool        // a signal ends it, and whoever sends that wants to know what it waits for
	stderr  io.Writer   // changed only with mu held
	profile *profile    // of the process; nil where none is wanted
	left    atomic.Bool // somebody else says what is waited for

	mu   sync.Mutex        // guards what follows, and the outputs: drivers tell notes from several goroutines
	at   func() string     // what the command waits for, where it knows better than its spans; may be nil
	told []recording.Event // notes, which are recorded with what comes next
	out  outputs

	// Of a command whose own events are recorded, as those of a plan are not:
	header   *recording.Header
	began    bool // the header is written
	feed     recording.Feed
	more     func(put func(recording.Event)) // what else has happened since the last time; may be nil
	digestOf string                          // the model file whose digest is to be found out at the end
	digest   string                          // which it is
	watch    machine.Watch
}

func newSession(rec *trace.Recorder, args []string, stderr io.Writer) *session {
	s := &session{args: args[min(1, len(args)):], rec: rec, stderr: stderr, feed: recording.Feed{Recorder: rec}}
	s.out.say = s.say
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

// say prints a note. It is recorded with what comes next. Who calls it holds mu.
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
	// What goes on beside ends at any time: whatever is told of a span is gathered
	// before the spans are taken, so that the span has been told of as one that ended.
	var told []recording.Event
	if s.more != nil {
		s.more(func(e recording.Event) { told = append(told, e) })
	}
	s.feed.Take(s.out.put)
	told = append(told, s.told...)
	s.told = nil
	for _, e := range append(told, events...) {
		s.out.put(e)
	}
	s.out.flush()
}

// between catches up in the middle of a round, and says how long that took.
func (s *session) between(events ...recording.Event) {
	began := s.rec.Now()
	if n, ok := machine.Resident(); ok {
		s.rec.Count(names.CountResident, n)
	}
	s.catchUp(events...)
	s.rec.Add(s.rec.Current(), names.SpanRecord, "", 0, began, s.rec.Now())
}

// machineNow reads the machine's state.
func (s *session) machineNow() recording.Event {
	m := recording.Machine(s.watch.Read(int64(s.rec.Now())))
	return &m
}

// open opens the outputs of a command.
func (s *session) open(c *cli.Context) error {
	unkept, err := s.out.open(c.StringSlice("output"), c.Command.Name)
	if unkept != nil {
		s.note(fmt.Sprintf("no recording is kept: %v", unkept))
	}
	return err
}

// begin writes the header.
func (s *session) begin() {
	s.header.Clock = machine.Clock() - int64(s.rec.Now())
	s.mu.Lock()
	s.began = true
	if len(s.out.views) > 0 {
		s.out.collector = recording.NewCollector()
	}
	s.out.put(s.header)
	s.mu.Unlock()
	s.catchUp(s.machineNow())
}

// finish completes the recordings of a command that ended with err, and returns
// the error that the program ends with.
func (s *session) finish(ctx context.Context, err error) error {
	if s.header == nil {
		return err
	}
	if exitCode(ctx, err) == exitUsage {
		s.out.discard()
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
	if failed := s.out.printer.Event(last); err == nil {
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
	s.out.close(s.stderr)
	if s.out.collector != nil {
		s.out.writeViews(s.out.collector.File())
	}
	return s.ending(ctx, err)
}

// findDigest computes the digest of the model once and for all: after the last
// round, since it reads the whole file.
func (s *session) findDigest(ctx context.Context) {
	wanted := len(s.out.files)+len(s.out.views) > 0 || s.header.View.Bench // whose text says it
	if s.digestOf == "" || !wanted || ctx.Err() != nil {
		return
	}
	s.enter(names.SpanDigest, "")
	digest, err := models.ComputeDigest(ctx, s.out.state, s.digestOf)
	if err != nil && ctx.Err() == nil {
		s.note(fmt.Sprintf("the digest of the model: %v", err))
	}
	s.digest = digest
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
		s.feed.Take(s.out.put)
		s.out.put(&recording.End{At: int64(s.rec.Now()), Code: exitCrashed, Error: fmt.Sprintf("panic: %v", p)})
		s.out.each(func(f *recordFile) error { return f.w.Close() })
	}
	panic(p)
}

// ending is what the program ends with: err, or where that is no failure, that a
// recording is not whole.
func (s *session) ending(ctx context.Context, err error) error {
	if s.out.broken != nil && exitCode(ctx, err) == exitOK {
		return s.out.broken
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

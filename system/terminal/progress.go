package terminal

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/introgen/introgen/figures"
)

// Mode is how a Meter reports.
type Mode int

// The ways to report. Lines and Bar also print what Say is given.
const (
	Silent Mode = iota
	Lines       // a line at the start, every few seconds, and at the end
	Bar         // one line, rewritten; only for a terminal
)

// linesEvery is the time between two lines about a step in a log.
const linesEvery = 3 * time.Second

// Auto is Bar where w is a terminal, and Silent elsewhere.
func Auto(w io.Writer) Mode {
	if Is(w) {
		return Bar
	}
	return Silent
}

// Meter reports the steps of one job to one writer. The nil Meter is silent. It
// may be used by several goroutines; steps do not overlap.
type Meter struct {
	mu   sync.Mutex
	w    io.Writer
	mode Mode
	bar  *Line
	now  func() time.Time // replaced by tests
}

// NewMeter returns a meter that writes to w.
func NewMeter(w io.Writer, mode Mode) *Meter {
	return &Meter{w: w, mode: mode, bar: NewLine(w, 0), now: time.Now}
}

// Say prints one line, without a newline in format.
func (m *Meter) Say(format string, args ...any) {
	if m == nil || m.mode == Silent {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.bar.Clear()
	fmt.Fprintf(m.w, format+"\n", args...)
}

// Step is one piece of work of known or unknown size.
type Step struct {
	m           *Meter
	label       string
	total, done int64
	began, last time.Time
}

// Start begins a step of total bytes; a total of 0 or less is unknown.
func (m *Meter) Start(label string, total int64) *Step {
	s := &Step{m: m, label: label, total: total}
	if m != nil {
		s.began = m.now()
		s.last = s.began
	}
	return s
}

// Add says that n more bytes are done.
func (s *Step) Add(n int64) { s.update(func() { s.done += n }) }

// Set says that n bytes are done in all.
func (s *Step) Set(n int64) { s.update(func() { s.done = n }) }

// Write counts the bytes of p, so that a Step can stand in an io.MultiWriter.
func (s *Step) Write(p []byte) (int, error) {
	s.Add(int64(len(p)))
	return len(p), nil
}

// Follow sets the step to what size says, several times a second, so that its
// clock goes on too, until the returned function is called.
func (s *Step) Follow(size func() int64) (stop func()) {
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(2 * Every)
		defer tick.Stop()
		for {
			select {
			case <-end:
				return
			case <-tick.C:
				s.Set(size())
			}
		}
	}()
	return func() {
		close(end)
		<-ended
	}
}

func (s *Step) update(change func()) {
	if s.m == nil || s.m.mode == Silent {
		return
	}
	s.m.mu.Lock()
	defer s.m.mu.Unlock()
	change()
	now := s.m.now()
	every := linesEvery
	if s.m.mode == Bar {
		every = Every
	}
	if now.Sub(s.last) < every {
		return
	}
	s.last = now
	s.print(s.state(now))
}

// Done ends the step. The line it leaves says the bytes and the time taken;
// after a failure the caller's error says more than a line could.
func (s *Step) Done(err error) {
	if s.m == nil || s.m.mode == Silent {
		return
	}
	s.m.mu.Lock()
	defer s.m.mu.Unlock()
	if err == nil {
		took := s.m.now().Sub(s.began)
		s.print(fmt.Sprintf("%s: %s in %s", s.label, figures.Size(s.done), round(took)))
	}
	s.m.bar.end()
}

// state is the text of a step under way.
func (s *Step) state(now time.Time) string {
	took := now.Sub(s.began)
	if s.total <= 0 {
		return fmt.Sprintf("%s: %s, %s", s.label, figures.Size(s.done), round(took))
	}
	return fmt.Sprintf("%s: %s of %s (%d %%), %s", s.label, figures.Size(s.done), figures.Size(s.total),
		100*s.done/s.total, round(took))
}

func (s *Step) print(text string) {
	if s.m.mode == Lines {
		fmt.Fprintln(s.m.w, text)
		return
	}
	s.m.bar.show(text)
}

func round(d time.Duration) time.Duration { return d.Round(100 * time.Millisecond) }

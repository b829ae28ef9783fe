// Package progress tells a person how far a long step is: as plain lines for a
// log, as one line rewritten in place on a terminal, or not at all.
package progress

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"

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

const (
	lineEvery = 3 * time.Second
	barEvery  = 100 * time.Millisecond
)

// Auto is Bar where f is a terminal, and Silent elsewhere.
func Auto(f *os.File) Mode {
	if term.IsTerminal(int(f.Fd())) {
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
	now  func() time.Time // replaced by tests
}

// New returns a meter that writes to w.
func New(w io.Writer, mode Mode) *Meter {
	return &Meter{w: w, mode: mode, now: time.Now}
}

// Say prints one line, without a newline in format.
func (m *Meter) Say(format string, args ...any) {
	if m == nil || m.mode == Silent {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	fmt.Fprintf(m.w, format+"\n", args...)
}

// Step is one piece of work of known or unknown size.
type Step struct {
	m           *Meter
	label       string
	total, done int64
	began, last time.Time
	printed     int // characters of the bar's line, to be blanked
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

func (s *Step) update(change func()) {
	if s.m == nil || s.m.mode == Silent {
		return
	}
	s.m.mu.Lock()
	defer s.m.mu.Unlock()
	change()
	now := s.m.now()
	every := lineEvery
	if s.m.mode == Bar {
		every = barEvery
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
	if err != nil {
		if s.m.mode == Bar && s.printed > 0 {
			fmt.Fprintln(s.m.w)
		}
		return
	}
	took := s.m.now().Sub(s.began)
	s.print(fmt.Sprintf("%s: %s in %s", s.label, Size(s.done), round(took)))
	if s.m.mode == Bar {
		fmt.Fprintln(s.m.w)
	}
}

// state is the text of a step under way.
func (s *Step) state(now time.Time) string {
	took := now.Sub(s.began)
	if s.total <= 0 {
		return fmt.Sprintf("%s: %s, %s", s.label, Size(s.done), round(took))
	}
	return fmt.Sprintf("%s: %s of %s (%d %%), %s", s.label, Size(s.done), Size(s.total),
		100*s.done/s.total, round(took))
}

func (s *Step) print(text string) {
	if s.m.mode == Lines {
		fmt.Fprintln(s.m.w, text)
		return
	}
	fmt.Fprintf(s.m.w, "\r%-*s", s.printed, text)
	s.printed = len(text)
}

func round(d time.Duration) time.Duration { return d.Round(100 * time.Millisecond) }

// Size writes a number of bytes for people, in decimal units as disks and
// registries count them: 144.8 MB.
func Size(n int64) string {
	switch {
	case n >= 1e9:
		return figures.Text(float64(n)/1e9, 1) + " GB"
	case n >= 1e6:
		return figures.Text(float64(n)/1e6, 1) + " MB"
	case n >= 1e3:
		return figures.Text(float64(n)/1e3, 1) + " kB"
	}
	return fmt.Sprintf("%d bytes", n)
}

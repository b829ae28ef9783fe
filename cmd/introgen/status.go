package main

import (
	"fmt"
	"io"
	"sync"
	"time"

	"golang.org/x/term"
)

// status is one line on a terminal that says how far a run is, once the run
// has taken two seconds. Elsewhere than on a terminal it is silent. The nil
// *status is silent too.
type status struct {
	mu    sync.Mutex // notes come from several goroutines
	w     io.Writer
	began time.Time
	last  time.Time
	shown int // characters that stand on the line
}

const (
	statusAfter = 2 * time.Second
	statusEvery = 100 * time.Millisecond
)

// newStatus returns nil where w is not a terminal.
func newStatus(w io.Writer) *status {
	f := asFile(w)
	if f == nil || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return &status{w: f, began: time.Now()}
}

// set replaces the line.
func (s *status) set(format string, a ...any) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if now.Sub(s.began) < statusAfter || now.Sub(s.last) < statusEvery {
		return
	}
	s.last = now
	text := fmt.Sprintf(format, a...)
	fmt.Fprintf(s.w, "\r%-*s", s.shown, text)
	s.shown = len(text)
}

// clear removes the line, before other output.
func (s *status) clear() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shown == 0 {
		return
	}
	fmt.Fprintf(s.w, "\r%-*s\r", s.shown, "")
	s.shown = 0
}

// clearing takes the status line away before anything is printed.
type clearing struct {
	status *status
	w      io.Writer
}

func (c *clearing) Write(p []byte) (int, error) {
	c.status.clear()
	return c.w.Write(p)
}

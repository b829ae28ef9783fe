package terminal

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// Every is the time between two versions of a line, at least.
const Every = 100 * time.Millisecond

// Line is one line on a terminal that says how far something is, and is rewritten
// in place. The nil Line is silent. It may be used by several goroutines.
type Line struct {
	mu    sync.Mutex
	w     io.Writer
	from  time.Time // what is over sooner needs no line
	last  time.Time
	shown int // columns that the line takes
}

// NewLine returns a line on w, which is a terminal, that appears after some time.
func NewLine(w io.Writer, after time.Duration) *Line {
	return &Line{w: w, from: time.Now().Add(after)}
}

// Set replaces the line, unless it has just been replaced.
func (l *Line) Set(format string, a ...any) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if now.Before(l.from) || now.Sub(l.last) < Every {
		return
	}
	l.last = now
	l.show(fmt.Sprintf(format, a...))
}

// Clear removes the line.
func (l *Line) Clear() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.shown > 0 {
		l.show("")
		fmt.Fprint(l.w, "\r")
	}
}

// Before returns a writer to w that removes the line before anything is written.
func (l *Line) Before(w io.Writer) io.Writer { return &giveWay{l, w} }

type giveWay struct {
	line *Line
	w    io.Writer
}

func (g *giveWay) Write(p []byte) (int, error) {
	g.line.Clear()
	return g.w.Write(p)
}

// show writes text over what stands on the line.
func (l *Line) show(text string) {
	columns := Width(text)
	fmt.Fprintf(l.w, "\r%s%s", text, strings.Repeat(" ", max(0, l.shown-columns)))
	l.shown = columns
}

// end leaves what stands on the line, and goes to the next one.
func (l *Line) end() {
	if l.shown > 0 {
		fmt.Fprintln(l.w)
		l.shown = 0
	}
}

// Package page makes of recordings one HTML file that holds all that it shows: a
// reader opens it on any machine, without introgen and without a network. The
// plots come from package plot, the figures and sentences from the same packages
// as those of the command line, and beneath each plot stands a table with what it
// shows.
//
// Everything that stands in a recording may come from anybody. It goes through
// sanitize, is cut to a length, and is escaped by html/template; and the page's own
// Content-Security-Policy lets it run no script and ask no network but its own.
package page

import (
	"bytes"
	"fmt"
	"io"

	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/table"
)

// MaxBytes is the size of the largest page. What is raw in it is left out where it
// would make the page larger, and the page says so.
const MaxBytes = 1_500_000

// Recording is one that the page is about.
type Recording struct {
	Name string // how it is called: its file
	File *recording.File
}

// Options are what a page is made with.
type Options struct {
	Title string // "" for one made of the recordings' names
	// Live is the address of the event stream that tells of a newer page at the same
	// address, "" for a page that is finished.
	Live string
	// Answer is the report of a plan by the command that made it; nil, or an error of
	// it, where there is none.
	Answer func(*recording.File) (*table.Document, error)
}

// Write writes the page of the recordings. There must be at least one.
func Write(w io.Writer, recordings []Recording, o Options) error {
	if len(recordings) == 0 {
		return fmt.Errorf("a page needs a recording, and was given none")
	}
	all := make([]subject, len(recordings))
	for i, r := range recordings {
		all[i] = subject{name: clean(r.Name), file: breakdown.Of(r.File), place: i, live: o.Live != ""}
	}
	var out bytes.Buffer
	p := newPage(all, o)
	p.fill(0)
	if err := p.render(&out); err != nil {
		return err
	}
	if out.Len() > MaxBytes {
		return fmt.Errorf("the page would have %d bytes, and at most %d are allowed: give it fewer recordings", out.Len(), MaxBytes)
	}
	p.fill(MaxBytes - out.Len())
	out.Reset()
	if err := p.render(&out); err != nil {
		return err
	}
	_, err := w.Write(out.Bytes())
	return err
}

// subject is a recording, taken apart once for all sections.
type subject struct {
	name  string
	file  *breakdown.File
	place int  // among the recordings of the page, from 0
	live  bool // it is being recorded
}

// running says whether a run goes on, which is no news of it.
func (s subject) running(r *recording.Run) bool { return s.live && r.End == nil && r.Exit == nil }

// id is one of the page that no other recording's has.
func (s subject) id(what string) string { return fmt.Sprintf("%s-%d", what, s.place+1) }

// header is that of the process that made the recording; nil where nothing of one is
// there.
func (s subject) header() *recording.Header {
	switch {
	case s.file.Header != nil:
		return s.file.Header
	case len(s.file.Runs) > 0:
		return &s.file.Runs[0].Header
	}
	return nil
}

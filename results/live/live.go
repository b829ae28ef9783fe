// Package live serves the page of a recording while that is being written: to this
// machine alone, under an address that nobody can guess, and in a way that the run
// has the machine to itself. A page is made when somebody asks for it and there is
// something new, at most once a second and in at most a twentieth of the time. Who
// looks at no page costs one look at the length of the file a second, and readers
// who are slow wait for themselves.
package live

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/introgen/introgen/results/recording"
)

// Options say what is served.
type Options struct {
	Path string // of the recording, which need not be there yet
	// Page writes the page of what there is of the recording. events is the address of
	// its event stream, relative to that of the page; "" of the last page.
	Page func(w io.Writer, f *recording.File, events string) error
}

// events is the address of the event stream beside the page. Its events "message"
// tell of a newer page, with its number; the last one, "end", that this is the last.
const events = "events"

// How often a page is made at the most: a second apart, and restFactor times as long
// as the last one took.
const (
	rest       = time.Second
	restFactor = 20
)

// Server serves the page.
type Server struct {
	o        Options
	token    string
	listener net.Listener
	http     *http.Server
	stop     context.CancelFunc
	served   chan struct{} // closed when no more is served

	mu      sync.Mutex // guards what follows
	readers map[chan int]bool
	number  int  // of the newest version that readers were told of
	over    bool // the recording is whole
	behind  int  // readers who have been told that and have not got the last page

	making sync.Mutex // held while a page is made, by one reader for all
	page   made
}

// made is a page.
type made struct {
	text   []byte
	length int64 // of the recording that it is of
	at     time.Time
	took   time.Duration
	last   bool // nothing follows
}

// Serve begins to serve on a port of this machine's own address that is free.
func Serve(o Options) (*Server, error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("cannot serve a page on this machine: %w", err)
	}
	s := &Server{o: o, token: rand.Text(), listener: l, served: make(chan struct{}), readers: map[chan int]bool{}}
	// A reader has a minute for a page, and ten seconds between two requests; the stream
	// sets its own limits.
	s.http = &http.Server{Handler: s.guarded(), ReadHeaderTimeout: 5 * time.Second, WriteTimeout: time.Minute, IdleTimeout: 10 * time.Second, MaxHeaderBytes: 16 << 10}
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	go func() {
		defer close(s.served)
		_ = s.http.Serve(l) // it ends when the server is closed
	}()
	go s.follow(ctx)
	return s, nil
}

// Address is that of the page. Who knows it can read the page.
func (s *Server) Address() string { return fmt.Sprintf("http://%s/%s/", s.listener.Addr(), s.token) }

// follow tells readers when there is more in the recording than they were told of.
func (s *Server) follow(ctx context.Context) {
	tick := time.NewTicker(rest)
	defer tick.Stop()
	var told int64
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if length := s.length(); length != told && s.rested() && s.tell(false) {
			told = length
		}
	}
}

// length is how much there is of the recording.
func (s *Server) length() int64 {
	info, err := os.Stat(s.o.Path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// rested says whether a page may be made again.
func (s *Server) rested() bool {
	if !s.making.TryLock() {
		return false // one is being made
	}
	defer s.making.Unlock()
	return s.page.rested()
}

func (m made) rested() bool { return time.Since(m.at) >= max(rest, restFactor*m.took) }

// tell tells all readers of a newer version, and says whether there was anybody. It
// waits for none: who has not read of the last one will read of this one instead.
func (s *Server) tell(over bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.number++
	if over {
		s.over, s.behind = true, len(s.readers)
	}
	for r := range s.readers {
		select {
		case <-r:
		default:
		}
		r <- s.number
	}
	return len(s.readers) > 0
}

// current is the page that a reader gets: the newest, made now if there is something
// new and it is time.
func (s *Server) current() (made, error) {
	s.making.Lock()
	defer s.making.Unlock()
	s.mu.Lock()
	over := s.over
	s.mu.Unlock()
	length := s.length()
	if s.page.text != nil && (s.page.last || !over && (length == s.page.length || !s.page.rested())) {
		return s.page, nil
	}
	began := time.Now()
	f, err := recording.Open(s.o.Path)
	if errors.Is(err, os.ErrNotExist) {
		f, err = &recording.File{Path: s.o.Path}, nil
	}
	if err != nil {
		return made{}, err
	}
	if !over {
		f.Broken = "" // the last line is being written
	}
	var text bytes.Buffer
	if len(f.Runs) == 0 && f.Plan == nil {
		text.WriteString(nothingYet)
	} else if err := s.o.Page(&text, f, when(!over, events)); err != nil {
		return made{}, err
	}
	s.page = made{text: text.Bytes(), length: length, at: time.Now(), took: time.Since(began), last: over}
	return s.page, nil
}

func when(is bool, text string) string {
	if is {
		return text
	}
	return ""
}

// nothingYet is the page of a run that has recorded nothing; it looks again by
// itself.
const nothingYet = `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="1"><title>introgen</title></head>
<body><main><p>The run has recorded nothing yet.</p></main></body></html>
`

// parting is how long those who follow the run may take to get its last page.
const parting = 5 * time.Second

// Finish has those who follow the run get its last page, and ends serving. The
// recording is whole by then.
func (s *Server) Finish() {
	s.tell(true)
	deadline := time.Now().Add(parting)
	for !s.parted() && time.Now().Before(deadline) {
		time.Sleep(10 * time.Millisecond)
	}
	s.Close()
}

// parted says whether everybody has got the last page.
func (s *Server) parted() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.behind <= 0
}

// Close ends serving at once.
func (s *Server) Close() {
	s.stop()
	_ = s.http.Close() // what is not sent yet is not wanted any more
	<-s.served
}

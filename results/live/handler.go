package live

import (
	"crypto/subtle"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/introgen/introgen/results/sanitize"
)

// mostReaders is how many may follow the run at once.
const mostReaders = 16

// guarded answers who has the address, and nobody else: what is asked for under
// another name of this machine (so that a name of somebody else's that leads here
// gets nothing), by another page, or without the token, is not there.
func (s *Server) guarded() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("Referrer-Policy", "no-referrer") // the address is the key
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		what, ok := s.asked(r)
		switch {
		case !ok:
			http.Error(w, "there is nothing here", http.StatusNotFound)
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			h.Set("Allow", "GET, HEAD")
			http.Error(w, "the page can only be read", http.StatusMethodNotAllowed)
		case what == events:
			s.stream(w, r)
		default:
			s.servePage(w, r)
		}
	})
}

// asked is what of the server's a request asks for, if it may.
func (s *Server) asked(r *http.Request) (what string, ok bool) {
	if r.Host != s.listener.Addr().String() {
		return "", false
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "none", "same-origin":
	default:
		return "", false
	}
	token, what, _ := strings.Cut(strings.TrimPrefix(r.URL.EscapedPath(), "/"), "/")
	if subtle.ConstantTimeCompare([]byte(token), []byte(s.token)) != 1 || what != "" && what != events {
		return "", false
	}
	return what, true
}

func (s *Server) servePage(w http.ResponseWriter, r *http.Request) {
	page, err := s.current()
	if err != nil {
		http.Error(w, "there is no page: "+sanitize.Line(err.Error()), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Length", fmt.Sprint(len(page.text)))
	if _, err := w.Write(page.text); err != nil || !page.last || r.Method != http.MethodGet {
		return // who does not take it does not get it
	}
	if http.NewResponseController(w).Flush() == nil {
		s.mu.Lock()
		s.behind--
		s.mu.Unlock()
	}
}

// How long a reader of the stream may take for an event, and how often a stream
// without any says that it is there.
const (
	patience = 5 * time.Second
	pulse    = 15 * time.Second
)

// stream tells a reader of newer pages until the last.
func (s *Server) stream(w http.ResponseWriter, r *http.Request) {
	told := make(chan int, 1)
	s.mu.Lock()
	full := len(s.readers) >= mostReaders
	if !full {
		s.readers[told] = true
		if told <- s.number; s.over { // what has come since the reader got the page
			s.behind++
		}
	}
	s.mu.Unlock()
	if full {
		http.Error(w, fmt.Sprintf("%d readers follow the run already", mostReaders), http.StatusServiceUnavailable)
		return
	}
	ended := false
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.readers, told)
		if s.over && !ended {
			s.behind-- // it has left
		}
	}()
	w.Header().Set("Content-Type", "text/event-stream")
	to := http.NewResponseController(w)
	send := func(format string, a ...any) bool {
		if to.SetWriteDeadline(time.Now().Add(patience)) != nil {
			return false
		}
		_, err := fmt.Fprintf(w, format, a...)
		return err == nil && to.Flush() == nil
	}
	if r.Method == http.MethodHead || !send("retry: 1000\n\n") {
		return
	}
	beat := time.NewTicker(pulse)
	defer beat.Stop()
	for {
		select {
		case <-r.Context().Done():
			return
		case <-beat.C:
			if !send(": still there\n\n") {
				return
			}
		case n := <-told:
			s.mu.Lock()
			over := s.over
			s.mu.Unlock()
			if over {
				ended = send("event: end\ndata: %d\n\n", n)
				return
			}
			if !send("data: %d\n\n", n) {
				return
			}
		}
	}
}

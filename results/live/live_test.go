package live

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/introgen/introgen/results/programtest"
	"github.com/introgen/introgen/results/recording"
)

// served is a server of a recording that grows.
type served struct {
	*Server
	t     *testing.T
	path  string
	pages atomic.Int64 // that were made
	rest  []string     // lines of the recording to come
	begun int          // bytes of the first of them that are there
	spans int          // that are there
}

// serve serves pages that say how many spans there are.
func serve(t *testing.T, page func(io.Writer, *recording.File, string) error) *served {
	t.Helper()
	s := &served{t: t, path: filepath.Join(t.TempDir(), "run.introgen")}
	s.rest = slices.Collect(strings.Lines(string(programtest.Bytes(programtest.Marked(programtest.Cold)))))
	if page == nil {
		page = func(w io.Writer, f *recording.File, events string) error {
			_, err := fmt.Fprintf(w, "%d spans, broken %q, events at %q", len(f.Runs[0].Spans), f.Broken, events)
			return err
		}
	}
	var err error
	s.Server, err = Serve(Options{Path: s.path, Page: func(w io.Writer, f *recording.File, events string) error {
		s.pages.Add(1)
		return page(w, f, events)
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// grow adds lines to the recording; after them half of one, which is being written.
func (s *served) grow(n int) {
	s.t.Helper()
	f, err := os.OpenFile(s.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		s.t.Fatal(err)
	}
	defer f.Close()
	text := ""
	for _, line := range s.rest[:n] {
		text += line
		s.spans += strings.Count(line, `{"k":"span"`)
	}
	text, s.rest = text[s.begun:], s.rest[n:]
	if s.begun = 0; len(s.rest) > 0 {
		s.begun = len(s.rest[0]) / 2
		text += s.rest[0][:s.begun]
	}
	if _, err := f.WriteString(text); err != nil {
		s.t.Fatal(err)
	}
}

// get asks for an address.
func (s *served) get(url string, change func(*http.Request)) (*http.Response, string) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, url, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	if change != nil {
		change(r)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return answer, string(text)
}

// follow reads the events of a stream into the channel, which is closed at its end.
func (s *served) follow(ctx context.Context) <-chan string {
	s.t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.Address()+"events", nil)
	if err != nil {
		s.t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	if got := answer.Header.Get("Content-Type"); answer.StatusCode != http.StatusOK || got != "text/event-stream" {
		s.t.Fatalf("%s, %s", answer.Status, got)
	}
	out := make(chan string, 100)
	go func() {
		defer close(out)
		defer answer.Body.Close()
		lines, event := bufio.NewScanner(answer.Body), "message"
		for lines.Scan() {
			switch name, value, _ := strings.Cut(lines.Text(), ": "); name {
			case "event":
				event = value
			case "data":
				out <- event
				event = "message"
			}
		}
	}()
	return out
}

// TestWhoIsAnswered: who has the address, on this machine and under its own name.
func TestWhoIsAnswered(t *testing.T) {
	s := serve(t, nil)
	s.grow(len(s.rest))
	address := s.Address()
	token := strings.Split(address, "/")[3]
	if len(token) < 26 {
		t.Errorf("the token %q has less than 128 bits", token)
	}
	host := s.listener.Addr().String()
	if ip, _, _ := net.SplitHostPort(host); ip != "127.0.0.1" {
		t.Errorf("it listens on %s", host)
	}
	for what, c := range map[string]struct {
		url    string
		change func(*http.Request)
		want   int
	}{
		"the page":                       {address, nil, 200},
		"without a token":                {"http://" + host + "/", nil, 404},
		"without a page":                 {strings.TrimSuffix(address, "/") + "x/", nil, 404},
		"another token":                  {"http://" + host + "/" + strings.Repeat("A", len(token)) + "/", nil, 404},
		"the token in lower case":        {"http://" + host + "/" + strings.ToLower(token) + "/", nil, 404},
		"a part of the token":            {"http://" + host + "/" + token[:10] + "/", nil, 404},
		"what there is not":              {address + "../../etc/passwd", nil, 404},
		"what lies beside":               {address + "run.introgen", nil, 404},
		"a token that is escaped":        {"http://" + host + "/%4" + fmt.Sprintf("%X", token[0]&0xf) + token[1:] + "/", nil, 404},
		"events of another":              {"http://" + host + "/events", nil, 404},
		"a name of somebody else's":      {address, func(r *http.Request) { r.Host = "evil.example:" + strings.Split(host, ":")[1] }, 404},
		"another port in the name":       {address, func(r *http.Request) { r.Host = "127.0.0.1:1" }, 404},
		"no port":                        {address, func(r *http.Request) { r.Host = "127.0.0.1" }, 404},
		"a page of another site":         {address, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, 404},
		"a page of this machine":         {address, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") }, 404},
		"the page itself":                {address, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-origin") }, 200},
		"who types the address":          {address, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "none") }, 200},
		"who writes":                     {address, func(r *http.Request) { r.Method = http.MethodPost }, 405},
		"who asks what others may":       {address, func(r *http.Request) { r.Method = http.MethodOptions }, 405},
		"who writes without the address": {"http://" + host + "/", func(r *http.Request) { r.Method = http.MethodPost }, 404},
	} {
		answer, text := s.get(c.url, c.change)
		if answer.StatusCode != c.want {
			t.Errorf("%s: %s", what, answer.Status)
		}
		for name := range answer.Header {
			if strings.HasPrefix(name, "Access-Control-") {
				t.Errorf("%s: %s is %q", what, name, answer.Header.Get(name))
			}
		}
		for name, want := range map[string]string{"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY",
			"Cross-Origin-Resource-Policy": "same-origin"} {
			if got := answer.Header.Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", what, name, got, want)
			}
		}
		if c.want == 404 && (strings.Contains(text, token) || strings.Contains(text, "spans")) {
			t.Errorf("%s: %q", what, text)
		}
	}
}

// TestPagesAreMadeSeldom: when somebody asks and there is more, once for all who ask,
// and not twice within a second.
func TestPagesAreMadeSeldom(t *testing.T) {
	s := serve(t, nil)
	if _, text := s.get(s.Address(), nil); !strings.Contains(text, "recorded nothing yet") {
		t.Errorf("before the recording: %q", text)
	}
	time.Sleep(rest)
	s.grow(5)
	want := fmt.Sprintf(`%d spans, broken "", events at "events"`, s.spans)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			answer, err := http.Get(s.Address())
			if err != nil {
				t.Error(err)
				return
			}
			defer answer.Body.Close()
			if text, err := io.ReadAll(answer.Body); err != nil || string(text) != want {
				t.Errorf("%q, %v", text, err)
			}
		})
	}
	all.Wait()
	if n := s.pages.Load(); n != 1 {
		t.Errorf("%d pages were made for twenty readers of one", n)
	}
	s.grow(1)
	s.get(s.Address(), nil)
	if n := s.pages.Load(); n != 1 {
		t.Errorf("%d pages were made within a second", n)
	}
	time.Sleep(rest)
	s.get(s.Address(), nil)
	time.Sleep(rest)
	s.get(s.Address(), nil) // nothing has come since
	if n := s.pages.Load(); n != 2 {
		t.Errorf("%d pages were made of two recordings", n)
	}
}

// TestFollowing: a reader is told that there is more, and of the end, and gets the
// last page.
func TestFollowing(t *testing.T) {
	s := serve(t, nil)
	s.grow(5)
	told := s.follow(t.Context())
	if got := <-told; got != "message" {
		t.Errorf("at first %q", got)
	}
	s.grow(5)
	if got := <-told; got != "message" {
		t.Errorf("when there is more %q", got)
	}
	if n := s.pages.Load(); n != 0 {
		t.Errorf("%d pages were made that nobody asked for", n)
	}
	s.grow(len(s.rest))
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Finish()
	}()
	last := ""
	for event := range told {
		last = event
	}
	if last != "end" {
		t.Errorf("the last event is %q", last)
	}
	began := time.Now()
	if _, text := s.get(s.Address(), nil); text != fmt.Sprintf(`%d spans, broken "", events at ""`, s.spans) {
		t.Errorf("the last page is %q", text)
	}
	<-done
	if took := time.Since(began); took > parting/2 {
		t.Errorf("serving ended %v after everybody had the last page", took)
	}
	if _, err := http.Get(s.Address()); err == nil {
		t.Error("it serves on")
	}
}

// TestNobodyFollows: then the end waits for nobody.
func TestNobodyFollows(t *testing.T) {
	s := serve(t, nil)
	ctx, leave := context.WithCancel(t.Context())
	told := s.follow(ctx)
	<-told
	leave()
	for range told { // until the stream has ended
	}
	for s.parted() {
		s.mu.Lock()
		n := len(s.readers)
		s.mu.Unlock()
		if n == 0 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	began := time.Now()
	s.Finish()
	if took := time.Since(began); took > parting/2 {
		t.Errorf("the end took %v", took)
	}
}

// TestSlowReader: one that reads nothing holds up neither who tells nor who reads.
func TestSlowReader(t *testing.T) {
	s := serve(t, nil)
	s.grow(5)
	slow, err := net.Dial("tcp", s.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	fmt.Fprintf(slow, "GET /%s/events HTTP/1.1\r\nHost: %s\r\n\r\n", s.token, s.listener.Addr())
	told := s.follow(t.Context())
	<-told
	began := time.Now()
	for range 100_000 {
		s.tell(false)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("telling took %v", took)
	}
	if got := <-told; got != "message" {
		t.Errorf("the other reader got %q", got)
	}
}

// TestMostReaders: there are so many at the most.
func TestMostReaders(t *testing.T) {
	s := serve(t, nil)
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	for range mostReaders {
		<-s.follow(ctx)
	}
	if answer, text := s.get(s.Address()+"events", nil); answer.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("one more: %s, %q", answer.Status, text)
	}
}

// TestNoPage: why there is none is told, harmlessly, and the next one is tried.
func TestNoPage(t *testing.T) {
	fails := true
	s := serve(t, func(w io.Writer, _ *recording.File, _ string) error {
		if fails {
			return errors.New("<script>\x1b[31m")
		}
		_, err := io.WriteString(w, "a page")
		return err
	})
	s.grow(5)
	answer, text := s.get(s.Address(), nil)
	if answer.StatusCode != http.StatusInternalServerError || strings.Contains(text, "\x1b") || !strings.HasPrefix(answer.Header.Get("Content-Type"), "text/plain") {
		t.Errorf("%s, %q as %s", answer.Status, text, answer.Header.Get("Content-Type"))
	}
	fails = false
	if _, text := s.get(s.Address(), nil); text != "a page" {
		t.Errorf("then %q", text)
	}
	if err := os.WriteFile(s.path, []byte("no recording"), 0o600); err != nil {
		t.Fatal(err)
	}
	time.Sleep(rest)
	if answer, text := s.get(s.Address(), nil); answer.StatusCode != http.StatusInternalServerError || !strings.Contains(text, "not a recording") {
		t.Errorf("what is no recording: %s, %q", answer.Status, text)
	}
}

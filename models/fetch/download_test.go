package fetch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestFetch(t *testing.T) {
	h := newHub(t, 1<<20)
	dst := filepath.Join(t.TempDir(), "model.gguf")
	checked := ""
	digest, err := h.client().fetch(t.Context(), h.file(), dst, func(p string) error {
		checked = p
		_, err := os.Stat(p)
		return err
	})
	h.fetched(t, dst, digest, err)
	if checked == "" || checked == dst {
		t.Errorf("the check saw %q; want the file before it had its name", checked)
	}
	if r := h.requests[0]; r.URL.Path != hubPath || r.Header.Get("Authorization") != "" {
		t.Errorf("asked for %s with Authorization %q", r.URL.Path, r.Header.Get("Authorization"))
	}
}

func TestFetchGoesOnAfterCuts(t *testing.T) {
	h := newHub(t, 1<<20)
	h.fault = func(n int, w http.ResponseWriter, r *http.Request) bool {
		switch n {
		case 1:
			h.serve(w, r, 300_000)
		case 2:
			http.Error(w, "busy", http.StatusServiceUnavailable)
			return true
		case 3:
			h.serve(w, r, 700_001)
		}
		return false
	}
	dst := filepath.Join(t.TempDir(), "model.gguf")
	digest, err := h.client().fetch(t.Context(), h.file(), dst, nil)
	h.fetched(t, dst, digest, err)
	var ranges []string
	for _, r := range h.requests {
		ranges = append(ranges, r.Header.Get("Range"))
	}
	want := []string{"", "bytes=300000-", "bytes=300000-", "bytes=700001-"}
	if fmt.Sprint(ranges) != fmt.Sprint(want) {
		t.Errorf("ranges asked for: %q; want %q", ranges, want)
	}
}

func TestFetchGoesOnInAnotherProcess(t *testing.T) {
	h := newHub(t, 1<<20)
	dst := filepath.Join(t.TempDir(), "model.gguf")
	ctx, cancel := context.WithCancel(t.Context())
	h.fault = func(n int, w http.ResponseWriter, r *http.Request) bool {
		if n > 1 {
			return false
		}
		w.Header().Set("ETag", `"`+h.digest+`"`)
		w.Header().Set("Content-Length", strconv.Itoa(len(h.bytes)))
		w.Write(h.bytes[:400_000])
		w.(http.Flusher).Flush()
		for len(names(t, filepath.Dir(dst))) == 0 {
			time.Sleep(time.Millisecond)
		}
		cancel()
		<-r.Context().Done()
		return true
	}
	_, err := h.client().fetch(ctx, h.file(), dst, nil)
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("Fetch interrupted: error %v; want context.Canceled", err)
	}
	got := names(t, filepath.Dir(dst))
	if len(got) != 1 || !strings.Contains(got[0], h.digest) {
		t.Fatalf("after an interrupt the folder holds %q; want one part file", got)
	}
	st, err := os.Stat(filepath.Join(filepath.Dir(dst), got[0]))
	if err != nil {
		t.Fatal(err)
	}
	digest, err := h.client().fetch(t.Context(), h.file(), dst, nil)
	h.fetched(t, dst, digest, err)
	want := fmt.Sprintf("bytes=%d-", st.Size())
	if st.Size() == 0 {
		want = ""
	}
	if r := h.requests[len(h.requests)-1].Header.Get("Range"); r != want {
		t.Errorf("the second Fetch asked for range %q; want %q", r, want)
	}
}

func TestFetchOfAWholePartAsksNobody(t *testing.T) {
	h := newHub(t, 1000)
	dst := filepath.Join(t.TempDir(), "model.gguf")
	dir := filepath.Dir(dst)
	os.WriteFile(filepath.Join(dir, ".model.gguf."+h.digest+".part"), h.bytes, 0o644)
	digest, err := h.client().fetch(t.Context(), h.file(), dst, nil)
	h.fetched(t, dst, digest, err)
	if len(h.requests) != 0 {
		t.Errorf("%d requests for bytes that were all there", len(h.requests))
	}
}

func TestFetchWithoutRanges(t *testing.T) {
	h := newHub(t, 1<<20)
	h.fault = func(n int, w http.ResponseWriter, r *http.Request) bool {
		r.Header.Del("Range") // as a server that does not know it
		if n == 1 {
			h.serve(w, r, 500_000)
		}
		return false
	}
	dst := filepath.Join(t.TempDir(), "model.gguf")
	digest, err := h.client().fetch(t.Context(), h.file(), dst, nil)
	h.fetched(t, dst, digest, err)
}

func TestFetchBeginsAgainWhenTheFileChanges(t *testing.T) {
	h := newHub(t, 1<<20)
	dst := filepath.Join(t.TempDir(), "model.gguf")
	stale := strings.Repeat("ab", 32)
	part := filepath.Join(filepath.Dir(dst), ".model.gguf."+stale+".part")
	if err := os.WriteFile(part, make([]byte, 1000), 0o644); err != nil {
		t.Fatal(err)
	}
	digest, err := h.client().fetch(t.Context(), h.file(), dst, nil)
	h.fetched(t, dst, digest, err)
}

func TestFetchDropsPartsThatCannotBecomeTheFile(t *testing.T) {
	h := newHub(t, 1000)
	dst := filepath.Join(t.TempDir(), "model.gguf")
	part := filepath.Join(filepath.Dir(dst), ".model.gguf."+h.digest+".part")
	if err := os.WriteFile(part, make([]byte, 1001), 0o644); err != nil {
		t.Fatal(err)
	}
	digest, err := h.client().fetch(t.Context(), h.file(), dst, nil)
	h.fetched(t, dst, digest, err)
}

func TestFetchRefuses(t *testing.T) {
	answer := func(code int, header ...string) func(*hub) {
		return func(h *hub) {
			h.fault = func(n int, w http.ResponseWriter, r *http.Request) bool {
				for i := 0; i < len(header); i += 2 {
					w.Header().Set(header[i], header[i+1])
				}
				w.WriteHeader(code)
				return true
			}
		}
	}
	for name, c := range map[string]struct {
		set      func(*hub)
		token    string
		is       error
		says     []string
		requests int
	}{
		"404":            {set: answer(404), says: []string{"404", "owner/name", "HF_ENDPOINT"}, requests: 1},
		"401":            {set: answer(401), says: []string{"401", "set HF_TOKEN"}, requests: 1},
		"403 with token": {set: answer(403), token: token, says: []string{"403", "HF_TOKEN does not open"}, requests: 1},
		"teapot":         {set: answer(418), says: []string{"418"}, requests: 1},
		"always busy":    {set: answer(503), says: []string{"503", "given up after 6 attempts"}, requests: 6},
		"redirect loop":  {set: answer(302, "Location", hubPath), says: []string{"redirects more than 10 times"}, requests: 10},
		"redirect to nothing": {
			set: answer(302, "Location", "http://"), says: []string{"no address"}, requests: 1},
		"redirect to another scheme": {
			set: answer(302, "Location", "ftp://x/y"), says: []string{"refused"}, requests: 1},
		"no digest": {set: func(h *hub) { h.digest = "abc" }, is: errNotAsked, says: []string{"states no SHA-256"}, requests: 1},
		"wrong digest": {set: func(h *hub) { h.digest = strings.Repeat("0", 64) },
			is: errNotAsked, says: []string{"the hub states 0000"}, requests: 1},
		"too short": {set: func(h *hub) { h.bytes = h.bytes[:len(h.bytes)-1] },
			is: errNotAsked, says: []string{"99999 bytes", "expected 100000"}, requests: 1},
		"too long": {set: func(h *hub) { h.bytes = append(h.bytes, 0) },
			is: errNotAsked, says: []string{"100001 bytes"}, requests: 1},
		"too long, unsaid": {set: func(h *hub) {
			h.fault = func(n int, w http.ResponseWriter, r *http.Request) bool {
				w.Header().Set("ETag", h.digest)
				w.WriteHeader(200)
				w.(http.Flusher).Flush() // chunked from here on
				w.Write(h.bytes)
				w.Write([]byte("more"))
				return true
			}
		}, is: errNotAsked, says: []string{"longer than 100000"}, requests: 1},
		"range that was not asked for": {set: answer(206, "ETag", strings.Repeat("0", 64), "Content-Range", "bytes 5-9/10"),
			says: []string{"bytes 5-9/10"}, requests: 1},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHub(t, 100_000)
			f := h.file()
			c.set(h)
			client := h.client()
			client.token = c.token
			dst := filepath.Join(t.TempDir(), "model.gguf")
			_, err := client.fetch(t.Context(), f, dst, nil)
			if err == nil {
				t.Fatal("Fetch succeeded")
			}
			if c.is != nil && !errors.Is(err, c.is) {
				t.Errorf("error %v is not %v", err, c.is)
			}
			for _, s := range c.says {
				if !strings.Contains(err.Error(), s) {
					t.Errorf("error %q does not say %q", err, s)
				}
			}
			if strings.Contains(err.Error(), token) {
				t.Errorf("error %q shows the token", err)
			}
			if len(h.requests) != c.requests {
				t.Errorf("%d requests; want %d", len(h.requests), c.requests)
			}
			if got := names(t, filepath.Dir(dst)); len(got) != 0 {
				t.Errorf("left behind: %q", got)
			}
		})
	}
}

// TestWhatAnswersInTheHubsPlace is a network that wants a login first: it must
// not cost the bytes that are there.
func TestWhatAnswersInTheHubsPlace(t *testing.T) {
	h := newHub(t, 1000)
	h.fault = func(n int, w http.ResponseWriter, r *http.Request) bool {
		if n == 1 {
			fmt.Fprint(w, "<html>please log in")
		}
		return n == 1
	}
	dst := filepath.Join(t.TempDir(), "model.gguf")
	part := filepath.Join(filepath.Dir(dst), ".model.gguf."+h.digest+".part")
	if err := os.WriteFile(part, h.bytes[:900], 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := h.client().fetch(t.Context(), h.file(), dst, nil); !errors.Is(err, errNotAsked) || !strings.Contains(err.Error(), "900 bytes of 1.00 kB are kept") {
		t.Errorf("Fetch: %v; want errNotAsked, and the part kept", err)
	}
	digest, err := h.client().fetch(t.Context(), h.file(), dst, nil)
	h.fetched(t, dst, digest, err)
	if got := h.requests[1].Header.Get("Range"); got != "bytes=900-" {
		t.Errorf("afterwards it asked for range %q", got)
	}
}

func TestFailedCheckLeavesNothing(t *testing.T) {
	h := newHub(t, 1000)
	dst := filepath.Join(t.TempDir(), "model.gguf")
	bad := errors.New("not a model")
	if _, err := h.client().fetch(t.Context(), h.file(), dst, func(string) error { return bad }); !errors.Is(err, bad) {
		t.Errorf("Fetch: %v; want the check's error", err)
	}
	if got := names(t, filepath.Dir(dst)); len(got) != 0 {
		t.Errorf("left behind: %q", got)
	}
}

func TestStall(t *testing.T) {
	h := newHub(t, 1<<20)
	h.fault = func(n int, w http.ResponseWriter, r *http.Request) bool {
		if n > 1 {
			return false
		}
		w.Header().Set("ETag", `"`+h.digest+`"`)
		w.Header().Set("Content-Length", strconv.Itoa(len(h.bytes)))
		w.Write(h.bytes[:1000])
		w.(http.Flusher).Flush()
		<-r.Context().Done() // stands still until the client goes
		return true
	}
	c := h.client()
	c.stall = 50 * time.Millisecond
	dst := filepath.Join(t.TempDir(), "model.gguf")
	digest, err := c.fetch(t.Context(), h.file(), dst, nil)
	h.fetched(t, dst, digest, err)
	if got := h.requests[1].Header.Get("Range"); got != "bytes=1000-" {
		t.Errorf("after the stall it asked for %q", got)
	}
}

func TestUnreachable(t *testing.T) {
	silent := newHub(t, 10)
	silent.fault = func(n int, w http.ResponseWriter, r *http.Request) bool {
		<-r.Context().Done()
		return true
	}
	closed := newHub(t, 10)
	closed.Close()
	for name, c := range map[string]struct {
		endpoint, says string
	}{
		"answers nothing":  {silent.URL, "no answer within 100ms"},
		"nobody there":     {closed.URL, "no connection"},
		"no such name":     {"http://no-such-host.invalid", "no-such-host.invalid"},
		"not an address":   {"hub", "HF_ENDPOINT"},
		"another protocol": {"ftp://hub", "HF_ENDPOINT"},
	} {
		t.Run(name, func(t *testing.T) {
			client := &hubClient{endpoint: c.endpoint, reach: 100 * time.Millisecond}
			dir := t.TempDir()
			began := time.Now()
			_, err := client.fetch(t.Context(), silent.file(), filepath.Join(dir, "m"), nil)
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v; want %q", err, c.says)
			}
			if strings.HasPrefix(c.endpoint, "http") && !errors.Is(err, errUnreachable) {
				t.Errorf("error %v is not errUnreachable", err)
			}
			if took := time.Since(began); took > 3*time.Second {
				t.Errorf("given up after %v; want about 100 ms", took)
			}
			if got := names(t, dir); len(got) != 0 {
				t.Errorf("left behind: %q", got)
			}
		})
	}
	if d := cmp.Or((&hubClient{}).reach, 9*time.Second); d > 10*time.Second {
		t.Errorf("an unreachable hub is given up after %v by default; want at most 10 s", d)
	}
}

// fullDisk is a part file on a disk with room for a few bytes only.
type fullDisk struct {
	*os.File
	room int
}

func (f *fullDisk) Write(p []byte) (int, error) {
	if len(p) <= f.room {
		f.room -= len(p)
		return f.File.Write(p)
	}
	n, _ := f.File.Write(p[:f.room])
	f.room = 0
	return n, &os.PathError{Op: "write", Path: f.Name(), Err: syscall.ENOSPC}
}

func TestFullDisk(t *testing.T) {
	h := newHub(t, 1<<20)
	dst := filepath.Join(t.TempDir(), "model.gguf")
	c := h.client()
	c.create = func(path string) (partFile, error) {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
		return &fullDisk{f, 100_000}, err
	}
	_, err := c.fetch(t.Context(), h.file(), dst, nil)
	if err == nil {
		t.Fatal("Fetch succeeded on a full disk")
	}
	for _, s := range []string{"disk full", "948.6 kB more", "100.0 kB of 1.05 MB are kept"} {
		if !strings.Contains(err.Error(), s) {
			t.Errorf("error %q does not say %q", err, s)
		}
	}
	if strings.Contains(err.Error(), "\n") || len(h.requests) != 1 {
		t.Errorf("error %q after %d requests; want one line after one", err, len(h.requests))
	}
	c.create = nil // the disk has room again
	digest, err := c.fetch(t.Context(), h.file(), dst, nil)
	h.fetched(t, dst, digest, err)
	if got := h.requests[1].Header.Get("Range"); got != "bytes=100000-" {
		t.Errorf("with room again it asked for %q", got)
	}
}

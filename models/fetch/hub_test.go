package fetch

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"
)

const token = "hf_secret"

// content is a file of random bytes with the digest a hub would state.
type content struct {
	bytes  []byte
	digest string
}

func newContent(size int) content {
	b := make([]byte, size)
	rand.NewChaCha8([32]byte{1}).Read(b)
	sum := sha256.Sum256(b)
	return content{b, hex.EncodeToString(sum[:])}
}

// hub is a server that hands out one file, with a fault for each request.
type hub struct {
	*httptest.Server
	content
	mu       sync.Mutex
	requests []*http.Request
	// fault is called first; it says whether it has answered the request.
	fault func(n int, w http.ResponseWriter, r *http.Request) bool
}

const hubPath = "/owner/name/resolve/main/model.gguf"

func newHub(t *testing.T, size int) *hub {
	h := &hub{content: newContent(size)}
	h.Server = httptest.NewServer(h)
	t.Cleanup(h.Close)
	return h
}

func (h *hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	h.requests = append(h.requests, r)
	n := len(h.requests)
	h.mu.Unlock()
	if h.fault != nil && h.fault(n, w, r) {
		return
	}
	h.serve(w, r, len(h.bytes))
}

// serve answers with the file, and cuts the line after limit bytes of it.
func (h *hub) serve(w http.ResponseWriter, r *http.Request, limit int) {
	w.Header().Set("ETag", `"`+h.digest+`"`)
	from := 0
	if s := r.Header.Get("Range"); s != "" {
		fmt.Sscanf(s, "bytes=%d-", &from)
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, len(h.bytes)-1, len(h.bytes)))
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(h.bytes)-from))
	if from > 0 {
		w.WriteHeader(http.StatusPartialContent)
	}
	w.Write(h.bytes[from:min(limit, len(h.bytes))])
	if limit < len(h.bytes) {
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
}

func (h *hub) client() *hubClient {
	return &hubClient{endpoint: h.URL, pause: time.Millisecond, reach: 5 * time.Second, stall: 5 * time.Second}
}

func (h *hub) file() hubFile {
	return hubFile{repository: "owner/name", name: "model.gguf", size: int64(len(h.bytes))}
}

// fetched checks that dst holds the hub's bytes and nothing lies beside it.
func (h *hub) fetched(t *testing.T, dst string, digest string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("Fetch: %v", err)
	}
	if digest != h.digest {
		t.Errorf("Fetch returned digest %s; the hub stated %s", digest, h.digest)
	}
	if got, err := os.ReadFile(dst); err != nil || !bytes.Equal(got, h.bytes) {
		t.Errorf("%s holds %d bytes (%v), which are not the hub's %d", dst, len(got), err, len(h.bytes))
	}
	if got := names(t, filepath.Dir(dst)); len(got) != 1 {
		t.Errorf("the folder holds %q; want the file alone", got)
	}
}

func names(t *testing.T, dir string) (out []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func TestRedirect(t *testing.T) {
	store := newHub(t, 1<<20)
	h := newHub(t, 1<<20)
	h.fault = func(n int, w http.ResponseWriter, r *http.Request) bool {
		switch r.URL.Path {
		case hubPath: // as a hub does whose repository was renamed
			http.Redirect(w, r, "/renamed/resolve/main/model.gguf", http.StatusTemporaryRedirect)
		default:
			w.Header().Set("X-Linked-Etag", `"`+h.digest+`"`)
			http.Redirect(w, r, store.URL+"/blob?sig=1", http.StatusFound)
		}
		return true
	}
	store.fault = func(n int, w http.ResponseWriter, r *http.Request) bool {
		limit := len(store.bytes)
		if n == 1 {
			limit = 123_456
		}
		store.digest = "the-store-does-not-know"
		store.serve(w, r, limit)
		return true
	}
	c := h.client()
	c.token = token
	dst := filepath.Join(t.TempDir(), "model.gguf")
	digest, err := c.fetch(t.Context(), h.file(), dst, nil)
	h.fetched(t, dst, digest, err)
	for _, r := range h.requests {
		if got := r.Header.Get("Authorization"); got != "Bearer "+token {
			t.Errorf("the hub's %s got Authorization %q; want the token", r.URL.Path, got)
		}
	}
	if len(store.requests) != 2 || store.requests[1].Header.Get("Range") != "bytes=123456-" {
		t.Errorf("the store got %d requests", len(store.requests))
	}
	for _, r := range store.requests {
		if got := r.Header.Get("Authorization"); got != "" {
			t.Errorf("the token leaked to the store: %q", got)
		}
	}
}

func TestFromEnv(t *testing.T) {
	t.Setenv("HF_ENDPOINT", "https://mirror.example")
	t.Setenv("HF_TOKEN", token)
	c := clientFromEnv()
	at, _, err := c.address(hubFile{repository: "a/b", name: "c d.gguf", revision: "v1"})
	if err != nil || at.String() != "https://mirror.example/a/b/resolve/v1/c%20d.gguf" || c.token != token {
		t.Errorf("address %v, %v", at, err)
	}
	t.Setenv("HF_ENDPOINT", "")
	if at, _, err := clientFromEnv().address(hubFile{repository: "a/b", name: "c"}); err != nil || at.String() != defaultEndpoint+"/a/b/resolve/main/c" {
		t.Errorf("address without HF_ENDPOINT: %v, %v", at, err)
	}
}

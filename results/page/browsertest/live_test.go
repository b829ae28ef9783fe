package browsertest

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/introgen/introgen/results/page"
	"github.com/introgen/introgen/results/page/chromium"
)

// going is a run that goes on: how many of its rounds have ended, and who waits for more.
type going struct {
	lock   sync.Mutex
	rounds int
	over   bool
	told   chan string
}

func (g *going) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "/events") {
		w.Header().Set("Content-Type", "text/event-stream")
		for {
			select {
			case event := <-g.told:
				fmt.Fprint(w, event)
				_ = http.NewResponseController(w).Flush() // who has left hears nothing
			case <-r.Context().Done():
				return
			}
		}
	}
	g.lock.Lock()
	rounds, live := g.rounds, "events"
	if g.over {
		live = ""
	}
	g.lock.Unlock()
	var b bytes.Buffer
	if err := page.Write(&b, []page.Recording{{Name: "run", File: single(rounds, 10, 3)}}, page.Options{Live: live}); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(b.Bytes()) // a browser that has left needs none
}

// TestLive: a page that follows a run takes what is new in place; what was opened
// stays open, and the reader where they are.
func TestLive(t *testing.T) {
	g := &going{rounds: 1, told: make(chan string)}
	server := httptest.NewServer(g)
	defer server.Close()
	x := open(t, "", 1280)
	x.path = strings.TrimPrefix(server.URL, "file://")
	x.Do(chromedp.Navigate(server.URL + "/token/"))
	eval[bool](x, `(document.querySelector("#steps figure details").open = true, document.querySelector("#evidence").scrollIntoView(), true)`)
	at := eval[float64](x, `scrollY`)
	rounds := func() int { return eval[int](x, `document.querySelectorAll("#steps figure tbody tr").length`) }
	if n := rounds(); n != 1 {
		t.Fatalf("the page begins with %d rounds", n)
	}
	g.lock.Lock()
	g.rounds = 3
	g.lock.Unlock()
	g.told <- "data: 2\n\n"
	wait(x, "the new rounds", func() bool { return rounds() >= 3 })
	if !eval[bool](x, `document.querySelector("#steps figure details").open`) {
		t.Error("what was opened is closed")
	}
	if now := eval[float64](x, `scrollY`); now == 0 || at == 0 {
		t.Errorf("the page went from %v to %v px", at, now)
	}
	if !eval[bool](x, `!!document.getElementById("live")`) {
		t.Error("the page does not say that it is still running")
	}
	g.lock.Lock()
	g.over = true
	g.lock.Unlock()
	g.told <- "event: end\ndata: 3\n\n"
	wait(x, "the end", func() bool { return !eval[bool](x, `!!document.getElementById("live")`) })
	x.Clean(func(url string) bool { return strings.HasPrefix(url, server.URL+"/token/") })
}

// wait waits until something holds.
func wait(x *tab, what string, holds func() bool) {
	x.Helper()
	for end := time.Now().Add(chromium.Patience); !holds(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			x.Fatalf("%s did not come", what)
		}
	}
}

//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/introgen/introgen/models"
	"github.com/introgen/introgen/models/modeltest"
)

// tab is a page that a browser has open.
type tab struct {
	*testing.T
	ctx context.Context

	mu       sync.Mutex
	errors   []string // of the console
	requests []string
}

// openTab opens an address, or skips the test where there is no browser.
func openTab(t *testing.T, address string) *tab {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil && path == "" {
			path = found
		}
	}
	if path == "" {
		t.Skip("SKIP: needs chromium")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.DisableGPU)
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // it refuses to run as root otherwise
	}
	all, end := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(end)
	ctx, cancel := chromedp.NewContext(all)
	t.Cleanup(cancel)
	x := &tab{T: t, ctx: ctx}
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	if err := chromedp.Listen(ctx, x.hear); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(ctx, network.Enable, network.EnableParams{}); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(ctx, log.Enable, cdp.Empty{}); err != nil {
		t.Fatal(err)
	}
	if err := chromedp.Do(ctx, chromedp.Navigate(address)); err != nil {
		t.Fatal(err)
	}
	return x
}

// hear keeps what the page does.
func (x *tab) hear(event any) {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		x.errors = append(x.errors, fmt.Sprintf("%+v", e.ExceptionDetails))
	case *runtime.EventConsoleAPICalled:
		x.errors = append(x.errors, fmt.Sprintf("console.%s", e.Type))
	case *log.EventEntryAdded:
		x.errors = append(x.errors, e.Entry.Text)
	case *network.EventRequestWillBeSent:
		x.requests = append(x.requests, e.Request.URL)
	}
}

// text is what an expression of the page's gives.
func (x *tab) text(expression string) string {
	x.Helper()
	ctx, cancel := context.WithTimeout(x.ctx, time.Minute)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[string](expression))
	if err != nil {
		x.Fatalf("%s: %v", expression, err)
	}
	return v
}

// TestWatchInABrowser: the page that is open follows the run in place, without being
// loaded anew, keeps what its reader opened, and shows the end.
func TestWatchInABrowser(t *testing.T) {
	modeltest.Path(t, models.StandIn)
	w := watch(t, "--", "cpu", "100000", "--tokens", "3")
	w.until("round 1", func() bool { return strings.Contains(w.out.String(), "[cpu round 1] decode") })
	x := openTab(t, w.address)
	const shown = `document.getElementById("main").innerText`
	x.text(`window.mark = "not loaded anew"; document.querySelectorAll("details").forEach(d => d.open = true); ""`)
	opened := x.text(`String(document.querySelectorAll("details[open]").length)`)
	if opened == "0" {
		t.Error("the page has nothing to open")
	}
	began := x.text(shown)
	w.until("a change of the page", func() bool { return x.text(shown) != began })
	if still := x.text(`String(document.querySelectorAll("details[open]").length)`); still != opened {
		t.Errorf("%s of what was opened stays open, want %s", still, opened)
	}
	if x.text(`String(document.getElementById("live") !== null)`) != "true" {
		t.Error("the page does not say that the run goes on")
	}
	w.signal()
	w.until("the end on the page", func() bool { return x.text(`String(document.getElementById("live") !== null)`) == "false" })
	if code := w.code(); code != exitInterrupted {
		t.Errorf("exit code %d: %s", code, &w.stderr)
	}
	rounds := len(w.recorded().Runs[0].Rounds)
	if text := x.text(`document.documentElement.textContent`); !strings.Contains(text, fmt.Sprint(rounds)) {
		t.Errorf("the last page does not speak of %d rounds", rounds)
	}
	if got := x.text(`window.mark`); got != "not loaded anew" {
		t.Errorf("the mark is %q", got)
	}
	time.Sleep(2 * time.Second) // in which a stream that was given up would be asked for again
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.errors) > 0 {
		t.Errorf("the console has %.500q", x.errors)
	}
	for _, url := range x.requests {
		if url != w.address && url != w.address+"events" && !strings.HasPrefix(url, "data:") {
			t.Errorf("the page asks for %s", url)
		}
	}
}

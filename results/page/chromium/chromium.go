// Package chromium opens pages in a headless Chromium, as a reader does. It is for
// tests; a machine without one skips them.
package chromium

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// Patience is how long a step of a test may take on a machine that does much else.
const Patience = 90 * time.Second

// Browser starts a browser, which end ends. It is nil on a machine that has none.
func Browser() (browser context.Context, end func(), err error) {
	path := find()
	if path == "" {
		return nil, func() {}, nil
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.DisableGPU)
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // it refuses to run as root otherwise
	}
	all, endAll := chromedp.NewExecAllocator(context.Background(), options...)
	browser, cancel := chromedp.NewContext(all)
	end = func() {
		cancel()
		endAll()
	}
	if err := chromedp.Do(browser); err != nil {
		end()
		return nil, nil, fmt.Errorf("starting %s: %w", path, err)
	}
	return browser, end, nil
}

// find is a browser that speaks its protocol; "" where there is none.
func find() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// Tab is a tab of a browser, of which everything is kept that a page must not do.
type Tab struct {
	*testing.T
	Ctx context.Context // of chromedp

	lock     sync.Mutex
	errors   []string // of the console
	requests []string
}

// Open opens a tab in a browser, or skips the test where that is nil.
func Open(t *testing.T, browser context.Context) *Tab {
	t.Helper()
	if browser == nil {
		t.Skip("SKIP: needs chromium")
	}
	ctx, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	x := &Tab{T: t, Ctx: ctx}
	err := chromedp.Listen(ctx, x.hear)
	if err == nil {
		_, err = chromedp.Call(ctx, network.Enable, network.EnableParams{})
	}
	if err == nil {
		_, err = chromedp.Call(ctx, log.Enable, cdp.Empty{})
	}
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func (x *Tab) hear(event any) {
	x.lock.Lock()
	defer x.lock.Unlock()
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

// Clean fails the test where the console had an error, or something was asked for
// that may not be.
func (x *Tab) Clean(may func(url string) bool) {
	x.Helper()
	x.lock.Lock()
	defer x.lock.Unlock()
	if len(x.errors) > 0 {
		x.Errorf("the console has errors: %.500q", x.errors)
	}
	if asked := slices.DeleteFunc(slices.Clone(x.requests), may); len(asked) > 0 {
		x.Errorf("the page asks for %.500q", asked)
	}
}

// Do takes steps.
func (x *Tab) Do(steps ...chromedp.Action[chromedp.Void]) {
	x.Helper()
	ctx, cancel := context.WithTimeout(x.Ctx, Patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		x.Fatal(err)
	}
}

// Eval is what an expression of the page's gives.
func Eval[T any](x *Tab, expression string) T {
	x.Helper()
	ctx, cancel := context.WithTimeout(x.Ctx, Patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		x.Fatalf("%.200s: %v", expression, err)
	}
	return v
}

// Package browsertest opens pages in a headless Chromium, as a reader does.
package browsertest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/introgen/introgen/results/page"
	"github.com/introgen/introgen/results/recording"
)

// browser is the one of all tests; nil where the machine has none.
var browser context.Context

// patience is how long a step of a test may take on a machine that does much else.
const patience = 90 * time.Second

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	path := chromium()
	if path == "" {
		return m.Run()
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.DisableGPU)
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // it refuses to run as root otherwise
	}
	all, end := chromedp.NewExecAllocator(context.Background(), options...)
	defer end()
	ctx, cancel := chromedp.NewContext(all)
	defer cancel()
	if err := chromedp.Do(ctx); err != nil {
		fmt.Fprintf(os.Stderr, "starting %s: %v\n", path, err)
		return 1
	}
	browser = ctx
	return m.Run()
}

// chromium is a browser that speaks its protocol; "" where there is none.
func chromium() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// tab is a page that is open.
type tab struct {
	*testing.T
	ctx  context.Context
	path string

	lock     sync.Mutex
	errors   []string // of the console
	requests []string // for anything but the page itself
}

// write writes the page of recordings to a file.
func write(t *testing.T, o page.Options, recordings ...page.Recording) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report.html")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := page.Write(f, recordings, o); err != nil {
		t.Fatal(err)
	}
	return path
}

// pageOf is the page of one recording.
func pageOf(t *testing.T, f *recording.File) string {
	t.Helper()
	return write(t, page.Options{}, page.Recording{Name: "run", File: f})
}

// open opens a page, or none where path is "", in a window so wide. A machine without a browser skips the test.
func open(t *testing.T, path string, width int64) *tab {
	t.Helper()
	if browser == nil {
		t.Skip("SKIP: needs chromium")
	}
	ctx, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	x := &tab{T: t, ctx: ctx, path: path}
	if err := chromedp.Listen(ctx, x.hear); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		second(chromedp.Call(ctx, network.Enable, network.EnableParams{})), second(chromedp.Call(ctx, log.Enable, cdp.Empty{})),
		chromedp.Do(ctx, chromedp.EmulateViewport(width, 900)),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if path != "" {
		x.do(chromedp.Navigate("file://" + path))
	}
	return x
}

func second[T any](_ T, err error) error { return err }

// hear keeps what a page must not do.
func (x *tab) hear(event any) {
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
		if u := e.Request.URL; !strings.HasPrefix(u, "file://"+x.path) && !strings.HasPrefix(u, "data:") && !strings.HasPrefix(u, "blob:") {
			x.requests = append(x.requests, u)
		}
	}
}

// clean fails the test where the page had an error or asked the network.
func (x *tab) clean() {
	x.Helper()
	x.lock.Lock()
	defer x.lock.Unlock()
	if len(x.errors) > 0 {
		x.Errorf("the console has errors: %.500q", x.errors)
	}
	if len(x.requests) > 0 {
		x.Errorf("the page asks for %.500q", x.requests)
	}
}

func (x *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	x.Helper()
	ctx, cancel := context.WithTimeout(x.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		x.Fatal(err)
	}
}

// eval is what an expression of the page's gives.
func eval[T any](x *tab, expression string) T {
	x.Helper()
	ctx, cancel := context.WithTimeout(x.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		x.Fatalf("%.200s: %v", expression, err)
	}
	return v
}

// scheme has the page seen by a reader whose system is light or dark.
func (x *tab) scheme(name string) {
	x.Helper()
	if _, err := chromedp.Call(x.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}}); err != nil {
		x.Fatal(err)
	}
}

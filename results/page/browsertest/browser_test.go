// Package browsertest opens pages in a headless Chromium, as a reader does.
package browsertest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/introgen/introgen/results/page"
	"github.com/introgen/introgen/results/page/chromium"
	"github.com/introgen/introgen/results/recording"
)

// browser is the one of all tests; nil where the machine has none.
var browser context.Context

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	started, end, err := chromium.Browser()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer end()
	browser = started
	return m.Run()
}

// tab is a page that is open.
type tab struct {
	*chromium.Tab
	path string
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
	x := &tab{chromium.Open(t, browser), path}
	x.Do(chromedp.EmulateViewport(width, 900))
	if path != "" {
		x.Do(chromedp.Navigate("file://" + path))
	}
	return x
}

// clean fails the test where the page had an error or asked the network.
func (x *tab) clean() {
	x.Helper()
	x.Clean(func(url string) bool {
		return strings.HasPrefix(url, "file://"+x.path) || strings.HasPrefix(url, "data:") || strings.HasPrefix(url, "blob:")
	})
}

// eval is what an expression of the page's gives.
func eval[T any](x *tab, expression string) T {
	x.Helper()
	return chromium.Eval[T](x.Tab, expression)
}

// scheme has the page seen by a reader whose system is light or dark.
func (x *tab) scheme(name string) {
	x.Helper()
	if _, err := chromedp.Call(x.Ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}}); err != nil {
		x.Fatal(err)
	}
}

//go:build linux

package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/introgen/introgen/models"
	"github.com/introgen/introgen/models/modeltest"
	"github.com/introgen/introgen/results/page/chromium"
)

// openTab opens an address, or skips the test where there is no browser.
func openTab(t *testing.T, address string) *chromium.Tab {
	t.Helper()
	browser, end, err := chromium.Browser()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(end)
	x := chromium.Open(t, browser)
	x.Do(chromedp.Navigate(address))
	return x
}

// TestWatchInABrowser: the page that is open follows the run in place, without being
// loaded anew, keeps what its reader opened, and shows the end.
func TestWatchInABrowser(t *testing.T) {
	modeltest.Path(t, models.StandIn)
	w := watch(t, "--", "cpu", "100000", "--tokens", "3")
	w.until("round 1", func() bool { return strings.Contains(w.out.String(), "[cpu round 1] decode") })
	x := openTab(t, w.address)
	const shown = `document.getElementById("main").innerText`
	chromium.Eval[string](x, `window.mark = "not loaded anew"; document.querySelectorAll("details").forEach(d => d.open = true); ""`)
	opened := chromium.Eval[string](x, `String(document.querySelectorAll("details[open]").length)`)
	if opened == "0" {
		t.Error("the page has nothing to open")
	}
	began := chromium.Eval[string](x, shown)
	w.until("a change of the page", func() bool { return chromium.Eval[string](x, shown) != began })
	if still := chromium.Eval[string](x, `String(document.querySelectorAll("details[open]").length)`); still != opened {
		t.Errorf("%s of what was opened stays open, want %s", still, opened)
	}
	if chromium.Eval[string](x, `String(document.getElementById("live") !== null)`) != "true" {
		t.Error("the page does not say that the run goes on")
	}
	w.signal()
	w.until("the end on the page", func() bool {
		return chromium.Eval[string](x, `String(document.getElementById("live") !== null)`) == "false"
	})
	if code := w.code(); code != exitInterrupted {
		t.Errorf("exit code %d: %s", code, &w.stderr)
	}
	rounds := len(w.recorded().Runs[0].Rounds)
	if text := chromium.Eval[string](x, `document.documentElement.textContent`); !strings.Contains(text, fmt.Sprint(rounds)) {
		t.Errorf("the last page does not speak of %d rounds", rounds)
	}
	if got := chromium.Eval[string](x, `window.mark`); got != "not loaded anew" {
		t.Errorf("the mark is %q", got)
	}
	time.Sleep(2 * time.Second) // in which a stream that was given up would be asked for again
	x.Clean(func(url string) bool {
		return url == w.address || url == w.address+"events" || strings.HasPrefix(url, "data:")
	})
}

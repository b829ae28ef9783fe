package browsertest

import (
	"os"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"

	"github.com/introgen/introgen/results/page"
)

// TestManySteps opens the page of 10,000 decode steps: it is drawn within two seconds
// of the browser's own work, and scrolls. What is asked is the time that the page's
// tasks took, which other programs of the machine do not make longer by much.
func TestManySteps(t *testing.T) {
	path := pageOf(t, single(1, 10_000, 1))
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > page.MaxBytes {
		t.Errorf("the page has %d bytes, and at most %d are allowed", info.Size(), page.MaxBytes)
	}
	x := open(t, "", 1280)
	if _, err := chromedp.Call(x.Ctx, performance.Enable, performance.EnableParams{TimeDomain: performance.EnableTimeDomainThreadTicks}); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	x.path = path
	x.Do(chromedp.Navigate("file://" + path))
	const frames = `(async () => { const t = performance.now(); for (let i = 0; i < 2; i++) await new Promise(requestAnimationFrame); return performance.now() - t })()`
	eval[float64](x, frames)
	whole := time.Since(began)
	took := x.metric("TaskDuration")
	t.Logf("%d bytes, %.2f s of tasks, of which layout %.2f s; %v until it was drawn", info.Size(), took, x.metric("LayoutDuration"), whole)
	if took > 2 {
		t.Errorf("the page's tasks took %.2f s, and 2 are allowed", took)
	}
	if dots := eval[int](x, `document.querySelector("#steps figure svg path.plot-dots").getAttribute("d").split("h0").length - 1`); dots != 9_999 {
		t.Errorf("%d dots, want one for each of the 9,999 steps after the first", dots)
	}
	before := x.metric("TaskDuration")
	const stops = 20
	bottom := eval[float64](x, `(async () => {
		for (let i = 1; i <= 20; i++) {
			scrollTo(0, document.documentElement.scrollHeight * i / 20);
			await new Promise(requestAnimationFrame);
		}
		return document.documentElement.scrollHeight - innerHeight - scrollY;
	})()`)
	if bottom > 2 {
		t.Errorf("%v px below the window are not reached by scrolling", bottom)
	}
	each := (x.metric("TaskDuration") - before) / stops
	t.Logf("%.1f ms of tasks for each stop of scrolling", each*1e3)
	if each > 0.1 {
		t.Errorf("each of %d stops of scrolling takes %.0f ms of tasks, and 100 are allowed", stops, each*1e3)
	}
	x.clean()
}

// metric is one of the browser's own of the page.
func (x *tab) metric(name string) float64 {
	x.Helper()
	all, err := chromedp.Call(x.Ctx, performance.GetMetrics, cdp.Empty{})
	if err != nil {
		x.Fatal(err)
	}
	for _, m := range all.Metrics {
		if m.Name == name {
			return m.Value
		}
	}
	x.Fatalf("the browser has no metric %s", name)
	return 0
}

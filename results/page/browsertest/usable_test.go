package browsertest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/introgen/introgen/results/page"
	"github.com/introgen/introgen/results/page/pagetest"
	"github.com/introgen/introgen/results/view"
	"github.com/introgen/introgen/system/files"
)

// plots are the drawings that are shown, each with how many marks it has and how
// large it is.
const plots = `[...document.querySelectorAll("figure svg")].filter(s => s.getBoundingClientRect().width > 0).map(s => ({
	title: s.closest("figure").querySelector("figcaption").firstChild.textContent,
	marks: s.querySelectorAll("[class*=plot-k-]").length,
	width: s.getBoundingClientRect().width, height: s.getBoundingClientRect().height,
	rows: s.closest("figure").querySelectorAll("tbody tr").length}))`

type plotted struct {
	Title         string
	Marks, Rows   int
	Width, Height float64
}

// TestPages opens the page of every kind of recording, wide and narrow, light and
// dark: no error, no request, no plot that is empty, nothing that a phone would have
// to be scrolled aside for.
func TestPages(t *testing.T) {
	for name, f := range subjects(t) {
		t.Run(name, func(t *testing.T) {
			path := pageOf(t, f)
			for _, width := range []int64{1280, 360} {
				x := open(t, path, width)
				all := eval[[]plotted](x, plots)
				if len(all) == 0 {
					t.Error("the page has no plot")
				}
				for _, p := range all {
					if p.Marks == 0 || p.Width < 200 || p.Height < 20 || p.Rows == 0 {
						t.Errorf("%d px wide: %q has %d marks and %.0f by %.0f px, and its table %d rows", width, p.Title, p.Marks, p.Width, p.Height, p.Rows)
					}
				}
				if got := eval[int64](x, `document.documentElement.scrollWidth`); got > width {
					t.Errorf("%d px wide the page takes %d", width, got)
				}
				if text := eval[string](x, `document.querySelector(".lead").textContent`); len(text) < 20 {
					t.Errorf("the page begins with %q", text)
				}
				x.clean()
			}
		})
	}
}

// axe is axe-core's script, in the version that scripts/axe brings.
func axe(t *testing.T) string {
	t.Helper()
	script, err := os.ReadFile(filepath.Join("..", "..", "..", "scripts", "axe"))
	if err != nil {
		t.Fatal(err)
	}
	version := regexp.MustCompile(`(?m)^version=(.+)$`).FindSubmatch(script)
	cache, err := files.Cache()
	if err != nil || version == nil {
		t.Skipf("SKIP: needs axe-core, which scripts/axe brings: %v", err)
	}
	text, err := os.ReadFile(filepath.Join(cache, "lib", "axe-core-"+string(version[1]), "axe.min.js"))
	if err != nil {
		t.Skipf("SKIP: needs axe-core, which scripts/axe brings: %v", err)
	}
	return string(text)
}

// TestAccessible has axe-core look at every page with all of its rules, light and
// dark, with all that can be opened open.
func TestAccessible(t *testing.T) {
	script := axe(t)
	for name, f := range subjects(t) {
		t.Run(name, func(t *testing.T) {
			path := pageOf(t, f)
			for scheme, width := range map[string]int64{"light": 360, "dark": 1280} {
				x := open(t, path, width)
				x.scheme(scheme)
				x.look(script, scheme)
			}
		})
	}
}

// TestAccessibleTogether does the same with recordings side by side, and with a page
// that follows a run.
func TestAccessibleTogether(t *testing.T) {
	script := axe(t)
	for live, all := range map[string][]page.Recording{"": {{Name: "old", File: compared(1)}, {Name: "new", File: compared(1.3)}}, "events": {{Name: "run", File: crashed(t)}}} {
		x := open(t, write(t, page.Options{Live: live}, all...), 1280)
		x.scheme("light")
		x.look(script, fmt.Sprintf("live %q", live))
	}
}

// look opens all that can be opened, and has axe-core look at it.
func (x *tab) look(script, what string) {
	x.Helper()
	eval[bool](x, `document.querySelectorAll("details").forEach(d => d.open = true), true`)
	eval[bool](x, script+`; true`)
	for _, v := range eval[[]string](x, `axe.run().then(r => r.violations.map(v => v.id + ": " + v.help + ": " + v.nodes.slice(0, 3).map(n => n.html.slice(0, 200) + " " + n.failureSummary).join(" | ")))`) {
		x.Errorf("%s: %s", what, v)
	}
}

// TestTooltip: a mark says what it is under the pointer, and at the keyboard's focus.
func TestTooltip(t *testing.T) {
	x := open(t, pageOf(t, compared(1)), 1280)
	const mark = `[...document.querySelectorAll("figure svg [data-tip]")].find(m => m.getBoundingClientRect().width > 8 && m.dataset.tip.includes("Gemm"))`
	at := eval[[]float64](x, fmt.Sprintf(`(async () => { const m = %s; m.scrollIntoView({block: "center", behavior: "instant"});
		for (let i = 0; i < 3; i++) await new Promise(requestAnimationFrame); // scrolling is told with the next frame
		const b = m.getBoundingClientRect(); return [b.x + b.width/2, b.y + b.height/2] })()`, mark))
	x.Do(chromedp.MouseEvent(chromedp.MouseMoved, at[0], at[1]))
	if tip, want := eval[string](x, `document.getElementById("tip").hidden ? "" : document.getElementById("tip").textContent`), "Gemm"; !strings.Contains(tip, want) {
		t.Errorf("the tooltip says %q, which has no %q", tip, want)
	}
	x.Do(chromedp.KeyEvent(kb.Escape))
	if !eval[bool](x, `document.getElementById("tip").hidden`) {
		t.Error("Escape does not close the tooltip")
	}
	if focused := eval[string](x, `(() => { const m = document.querySelector("figure svg [data-tip][tabindex]"); if (!m) return "none"; m.focus(); const t = document.getElementById("tip"); return t.hidden ? "hidden" : (t.textContent === m.dataset.tip ? "" : t.textContent) })()`); focused != "" {
		t.Errorf("at the keyboard's focus the tooltip is %q", focused)
	}
	x.clean()
}

// TestTheme: the switch goes through the themes, changes the colours, and is
// remembered.
func TestTheme(t *testing.T) {
	x := open(t, pageOf(t, recorded(t, "experiment-sweep")), 1280)
	const ground = `getComputedStyle(document.body).backgroundColor`
	x.scheme("light")
	light := eval[string](x, ground)
	x.scheme("dark")
	dark := eval[string](x, ground)
	if light == dark {
		t.Fatalf("light and dark both have %s", light)
	}
	for _, step := range []struct{ theme, ground string }{{"light", light}, {"dark", dark}} {
		x.Do(chromedp.Click("#theme"))
		if theme, got := eval[string](x, `document.documentElement.dataset.theme || ""`), eval[string](x, ground); theme != step.theme || got != step.ground {
			t.Errorf("the switch gave %q with %s, want %q with %s", theme, got, step.theme, step.ground)
		}
	}
	x.scheme("light")
	x.Do(chromedp.Reload())
	if got := eval[string](x, ground); got != dark {
		t.Errorf("opened again the page has %s, and was left %s", got, dark)
	}
	x.Do(chromedp.Click("#theme"))
	if got := eval[string](x, ground); got != light {
		t.Errorf("with the system's theme the page has %s, want %s", got, light)
	}
	x.clean()
}

// TestKeyboard goes through the page without a pointer: past the links, to what can
// be opened, and opens it.
func TestKeyboard(t *testing.T) {
	x := open(t, pageOf(t, compared(1)), 1280)
	focused := func() string {
		return eval[string](x, `(e => e.tagName + "|" + (e.id || e.className.baseVal || e.className || "") + "|" + e.textContent.slice(0, 40))(document.activeElement)`)
	}
	x.Do(chromedp.KeyEvent(kb.Tab))
	if got := focused(); !strings.HasPrefix(got, "A|skip") {
		t.Fatalf("the first stop is %q and not the link past the others", got)
	}
	x.Do(chromedp.KeyEvent(kb.Enter))
	if got := focused(); !strings.HasPrefix(got, "MAIN|main") {
		t.Fatalf("the link leads to %q", got)
	}
	opened := false
	for range 40 {
		x.Do(chromedp.KeyEvent(kb.Tab))
		if strings.HasPrefix(focused(), "SUMMARY|") {
			outlined := eval[string](x, `getComputedStyle(document.activeElement).outlineStyle`)
			if outlined == "none" {
				t.Error("the focus is not seen")
			}
			x.Do(chromedp.KeyEvent(kb.Enter))
			if opened = eval[bool](x, `document.activeElement.parentNode.open`); !opened {
				t.Errorf("Enter does not open %q", focused())
			}
			break
		}
	}
	if !opened {
		t.Error("no stop of the first 40 can be opened")
	}
	x.clean()
}

// TestPrint: on paper there are the verdict and the plots, in light, and no controls.
func TestPrint(t *testing.T) {
	x := open(t, pageOf(t, compared(1)), 1280)
	media := emulation.SetEmulatedMediaParams{Media: "print", Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}}
	if _, err := chromedp.Call(x.Ctx, emulation.SetEmulatedMedia, media); err != nil {
		t.Fatal(err)
	}
	if got := eval[string](x, `getComputedStyle(document.body).backgroundColor`); got != "rgb(255, 255, 255)" {
		t.Errorf("on paper the ground is %s", got)
	}
	for _, hidden := range []string{"header", "#theme", ".skip", "#raw"} {
		if !eval[bool](x, fmt.Sprintf(`document.querySelector(%q).getClientRects().length === 0`, hidden)) {
			t.Errorf("on paper there is %s", hidden)
		}
	}
	if !eval[bool](x, `[...document.querySelectorAll("figure")].some(f => f.getClientRects().length > 0 && f.querySelector(".lead, svg"))`) {
		t.Error("on paper there is no plot")
	}
	pdf, err := chromedp.Run(x.Ctx, chromedp.PrintToPDF(chromedp.PDFPaper(chromedp.PaperA4), chromedp.PDFPrintBackground()))
	if err != nil {
		t.Fatal(err)
	}
	if pages := len(regexp.MustCompile(`/Type\s*/Page\b[^s]`).FindAll(pdf, -1)); !bytes.HasPrefix(pdf, []byte("%PDF-")) || pages < 2 || pages > 20 {
		t.Errorf("%d bytes beginning with %.8q, with %d pages", len(pdf), pdf, pages)
	}
	x.clean()
}

// TestDownloads: the files in the page are the views of the recording, byte for byte.
func TestDownloads(t *testing.T) {
	f := recorded(t, "experiment-states")
	x := open(t, write(t, page.Options{}, page.Recording{Name: "states", File: f}), 1280)
	var want bytes.Buffer
	if err := view.CSV(&want, f); err != nil {
		t.Fatal(err)
	}
	eval[bool](x, `(() => {
		window.made = new Promise(done => {
			const make = URL.createObjectURL;
			URL.createObjectURL = b => { b.text().then(done); return make.call(URL, b); };
		});
		HTMLAnchorElement.prototype.click = function () { window.named = this.download; };
		document.querySelector('a[data-type="text/csv"]').dispatchEvent(new MouseEvent("click", {bubbles: true, cancelable: true}));
		return true;
	})()`)
	if got := eval[string](x, `window.made`); got != want.String() {
		t.Errorf("the file has %d bytes that begin with %.80q, and the CSV %d", len(got), got, want.Len())
	}
	if got := eval[string](x, `window.named`); got != "states.csv" {
		t.Errorf("it is called %q", got)
	}
	x.clean()
}

// TestSideBySide: several recordings stand beside each other, with what differs.
func TestSideBySide(t *testing.T) {
	path := write(t, page.Options{}, page.Recording{Name: "old", File: compared(1)}, page.Recording{Name: "new", File: compared(1.3)})
	for _, width := range []int64{1280, 360} {
		x := open(t, path, width)
		beside := eval[bool](x, `(p => p.length === 2 && Math.abs(p[0].getBoundingClientRect().top - p[1].getBoundingClientRect().top) < 2)([...document.querySelectorAll("#start .panel")])`)
		// What is compared by eye stands on one scale.
		has(x, tableOf(x, "#stages figure"), "to token 1", "old: cold", "702.5")
		has(x, tableOf(x, "#stages figure"), "to token 1", "new: cold", "886.2")
		has(x, eval[[][]string](x, `[...document.querySelectorAll("#differences tr")].map(r => [...r.cells].map(c => c.textContent))`), "Compile/cache=cold", "+30.00%", "0.000155")
		if n := eval[int](x, `document.querySelectorAll("#stages figure").length`); n != 1 {
			t.Errorf("%d figures of stages, want one for both", n)
		}
		if beside != (width == 1280) {
			t.Errorf("%d px wide: beside each other is %v", width, beside)
		}
		if got := eval[int64](x, `document.documentElement.scrollWidth`); got > width {
			t.Errorf("%d px wide the page takes %d", width, got)
		}
		x.clean()
	}
}

// TestHostile: what a recording has for names does nothing in a browser but stand
// there.
func TestHostile(t *testing.T) {
	f, _ := pagetest.Hostile()
	path := pageOf(t, f)
	for _, width := range []int64{1280, 360} {
		x := open(t, path, width)
		eval[bool](x, `document.querySelectorAll("details").forEach(d => d.open = true), true`)
		if n := eval[int](x, `document.querySelectorAll("script").length + document.querySelectorAll("img, iframe, object, embed, [onerror]").length`); n != 1 {
			t.Errorf("%d elements that run or load something, want the page's own script", n)
		}
		if got := eval[int64](x, `document.documentElement.scrollWidth`); got > width {
			t.Errorf("%d px wide the page takes %d", width, got)
		}
		x.clean()
	}
}

//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/introgen/introgen/results/page/chromium"
	"github.com/introgen/introgen/results/recording"
)

// TestHostilePagesInABrowser: a browser that opens the page of a recording which
// attacks it runs nothing of that, asks for nothing, and has no element of it.
func TestHostilePagesInABrowser(t *testing.T) {
	dir := t.TempDir()
	all := named(t, func(text string) string { return attack + text })
	words := []string{"introgen", "report", "-o", filepath.Join(dir, "all.html")}
	for _, name := range []string{"states", "sweep", "engine", "detailed"} {
		path := filepath.Join(dir, name+recording.Ending)
		if err := os.WriteFile(path, all[name], 0o600); err != nil {
			t.Fatal(err)
		}
		words = append(words, path)
		var errs strings.Builder
		if code := run(t.Context(), []string{"introgen", "report", path, "-o", filepath.Join(dir, name+".html")}, &strings.Builder{}, &errs); code != exitOK {
			t.Fatalf("exit code %d: %.500s", code, errs.String())
		}
	}
	var errs strings.Builder
	if code := run(t.Context(), words, &strings.Builder{}, &errs); code != exitOK {
		t.Fatalf("several: exit code %d: %.500s", code, errs.String())
	}
	for _, name := range []string{"states", "sweep", "engine", "detailed", "all"} {
		t.Run(name, func(t *testing.T) {
			address := "file://" + filepath.Join(dir, name+".html")
			x := openTab(t, address)
			// What waits for a reader to point at it, or to go there by the keyboard, gets one.
			chromium.Eval[string](x, `for (const e of document.querySelectorAll("*")) { for (const kind of ["mouseover", "focus", "click", "load", "error"]) if (!e.closest("a, button, summary")) e.dispatchEvent(new Event(kind, {bubbles: false})); } ""`)
			for what, want := range map[string]string{
				`typeof window.hacked`: "undefined",
				`String(document.querySelectorAll("img, iframe, object, embed, form, base, [autofocus], [onload], [onfocus], [onerror]").length)`:               "0",
				`String([...document.querySelectorAll("a, use, image")].filter(e => /^\s*(javascript|data:text):/i.test(e.getAttribute("href") ?? "")).length)`: "0",
				`String([...document.body.querySelectorAll("script")].filter(e => !e.type.includes("json") && e.textContent.includes("hacked")).length)`:        "0",
				`String(document.getElementById("main").innerText.includes("HYPERLINK"))`:                                                                       "true",
				`String(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/.test(document.documentElement.textContent))`:          "false",
			} {
				if got := chromium.Eval[string](x, what); got != want {
					t.Errorf("%s is %s, want %s", what, got, want)
				}
			}
			x.Clean(func(url string) bool { return url == address || strings.HasPrefix(url, "data:") })
		})
	}
}

package chat_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/introgen/introgen/engine/chat"
)

// FuzzRender holds any template to a text or an error of one line, soon, and the
// same each time.
func FuzzRender(f *testing.F) {
	files, _ := filepath.Glob("testdata/templates/*.jinja")
	for _, file := range files {
		f.Add(source(f, strings.TrimSuffix(filepath.Base(file), ".jinja")), "What is Rust?")
	}
	for _, s := range strings.Split(snippets(f), "\n----\n") {
		f.Add(s, "Hi")
	}
	f.Fuzz(func(t *testing.T, source, text string) {
		if len(source) > 20_000 {
			return
		}
		start := time.Now()
		tmpl, err := chat.Parse(source)
		if err != nil {
			oneLine(t, err)
			return
		}
		c := ask(text)
		c.BOS, c.EOS = "<s>", "</s>"
		c.Messages = append([]chat.Message{{Role: "system", Content: "S"}}, c.Messages...)
		got, err := tmpl.Render(c)
		if err != nil {
			oneLine(t, err)
		}
		if again, _ := tmpl.Render(c); again != got {
			t.Errorf("%q and then %q", got, again)
		}
		if utf8.ValidString(source) && utf8.ValidString(text) && !utf8.ValidString(got) {
			t.Errorf("%q is no text", got)
		}
		if took := time.Since(start); took > time.Minute {
			t.Errorf("took %v", took)
		}
	})
}

func oneLine(t *testing.T, err error) {
	t.Helper()
	if s := err.Error(); strings.ContainsAny(s, "\n\r") || !strings.HasPrefix(s, "line ") || len(s) > 1000 {
		t.Errorf("error %q", s)
	}
}

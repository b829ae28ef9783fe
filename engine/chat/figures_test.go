package chat_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/introgen/introgen/engine/chat"
)

// figures are what jinja2 made of each template and each conversation
// (scripts/reference/templates.py).
type figures struct {
	Now           time.Time
	Tokens        map[string]string
	Conversations []struct {
		Name     string
		Messages []chat.Message
		Generate bool
	}
	Templates map[string][]struct {
		Text   *string
		Raised *string
		Failed string
	}
}

func read(t testing.TB) (f figures) {
	b, err := os.ReadFile("testdata/figures.json")
	if err == nil {
		err = json.Unmarshal(b, &f)
	}
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func (f figures) conversation(i int) chat.Conversation {
	c := f.Conversations[i]
	return chat.Conversation{Messages: c.Messages, AddGenerationPrompt: c.Generate, BOS: f.Tokens["bos_token"], EOS: f.Tokens["eos_token"], Now: f.Now}
}

// source is the text of a template of testdata.
func source(t testing.TB, name string) string {
	b, err := os.ReadFile(filepath.Join("testdata", "templates", name+".jinja"))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestTemplates holds the templates of public models to jinja2, byte for byte, and
// what they refuse to their own words.
func TestTemplates(t *testing.T) {
	f := read(t)
	files, _ := filepath.Glob("testdata/templates/*.jinja")
	if len(files) != len(f.Templates) || len(files) < 25 {
		t.Fatalf("%d templates, and figures of %d", len(files), len(f.Templates))
	}
	texts, raised, failed := 0, 0, 0
	for name, wants := range f.Templates {
		tmpl, err := chat.Parse(source(t, name))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for i, want := range wants {
			got, err := tmpl.Render(f.conversation(i))
			switch {
			case want.Text != nil:
				if texts++; err != nil || got != *want.Text {
					t.Errorf("%s, %s: error %v\ngot  %q\nwant %q", name, f.Conversations[i].Name, err, got, *want.Text)
				}
			case err == nil:
				t.Errorf("%s, %s: got %q, want the error %s", name, f.Conversations[i].Name, got, want.Failed)
			case want.Raised != nil:
				if raised++; !strings.Contains(err.Error(), "refuses the conversation: "+*want.Raised) {
					t.Errorf("%s, %s: %v\nwant %s", name, f.Conversations[i].Name, err, *want.Raised)
				}
			default:
				failed++
			}
			if err != nil && strings.ContainsAny(err.Error(), "\n\r") {
				t.Errorf("%s, %s: an error of several lines: %q", name, f.Conversations[i].Name, err)
			}
		}
	}
	t.Logf("%d templates, %d conversations: %d texts equal, %d refused in the template's words, %d errors", len(files), len(f.Conversations), texts, raised, failed)
}

// snippets are small templates, which engine/chat/jinja holds to jinja2.
func snippets(t testing.TB) string {
	b, err := os.ReadFile("testdata/snippets.txt")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

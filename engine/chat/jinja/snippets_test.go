package jinja

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"
)

// answer is what jinja2 made of a template (scripts/reference/templates.py).
type answer struct {
	Text   *string
	Raised string
	Failed string
}

// conversation is the third of figures.json, with which the snippets were rendered.
func conversation(t testing.TB) (Input, []struct {
	answer
	Source string
}) {
	var figures struct {
		Now           time.Time
		Tokens        map[string]string
		Conversations []struct{ Messages []map[string]string }
	}
	var snippets []struct {
		answer
		Source string
	}
	for name, into := range map[string]any{"figures.json": &figures, "snippets.json": &snippets} {
		b, err := os.ReadFile("../testdata/" + name)
		if err == nil {
			err = json.Unmarshal(b, into)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	messages := List()
	for _, m := range figures.Conversations[2].Messages {
		messages.items = append(messages.items, NewDict("role", m["role"], "content", m["content"]))
	}
	return Input{
		Variables: NewDict("messages", messages, "tools", nil, "documents", nil, "add_generation_prompt", true, "bos_token", "<s>", "eos_token", "</s>"),
		Now:       figures.Now, Limits: Limits{Steps: 1 << 20, Bytes: 1 << 24},
	}, snippets
}

// TestSnippets holds small templates to what jinja2 makes of them, errors included.
func TestSnippets(t *testing.T) {
	in, snippets := conversation(t)
	if len(snippets) < 120 {
		t.Fatalf("%d snippets", len(snippets))
	}
	for _, s := range snippets {
		got := ""
		tmpl, err := Parse(s.Source)
		if err == nil {
			got, err = tmpl.Render(in)
		}
		switch e, _ := err.(*Error); {
		case s.Text != nil && err != nil:
			t.Errorf("%s\n  error %v\n  want  %q", s.Source, err, *s.Text)
		case s.Text != nil && got != *s.Text:
			t.Errorf("%s\n  got  %q\n  want %q", s.Source, got, *s.Text)
		case s.Text == nil && err == nil:
			t.Errorf("%s\n  got  %q\n  want an error: %s%s", s.Source, got, s.Failed, s.Raised)
		case s.Raised != "" && (!e.Raised || e.What != s.Raised):
			t.Errorf("%s\n  error %v\n  want  %q, raised", s.Source, err, s.Raised)
		case err != nil && strings.Contains(err.Error(), "\n"):
			t.Errorf("%s\n  more than one line: %q", s.Source, err)
		}
	}
}

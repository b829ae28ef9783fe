package chat_test

import (
	"strings"
	"testing"
	"time"

	"github.com/introgen/introgen/engine/chat"
)

func ask(text string) chat.Conversation {
	return chat.Conversation{Messages: []chat.Message{{Role: "user", Content: text}}, AddGenerationPrompt: true, Now: time.Unix(1, 0)}
}

// TestBounds holds templates that would run for ever, or fill the memory, to an
// error of one line, soon.
func TestBounds(t *testing.T) {
	for source, want := range map[string]string{
		"{% set l = range(999) %}{% for a in l %}{% for b in l %}{% for c in l %}{% endfor %}{% endfor %}{% endfor %}":          "line 1: the template takes more than 2097",
		"{% set l = range(999) %}{% for a in l %}\n{% for b in l %}{% for c in l %}{{ c }}{% endfor %}{% endfor %}{% endfor %}": "line 2: the template takes more than 2097",
		"{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}":                                                                       "line 1: the template calls itself, or nests, deeper than 2000 levels",
		"{% macro a() %}{{ b() }}{% endmacro %}{% macro b() %}{% call a() %}{% endcall %}{% endmacro %}{{ a() }}":               "macro 'a' takes no keyword argument 'caller'",
		"{% for x in [[]] recursive %}{{ loop([x]) }}{% endfor %}":                                                              "deeper than 2000 levels",
		"{% set n = namespace(x='xxxxxxxxxxxxxxxx') %}{% for a in range(99) %}{% set n.x = n.x ~ n.x %}{% endfor %}":            "line 1: the template makes more than 1677",
		"{% set n = namespace(x='xxxxxxxxxxxxxxxx') %}{% for a in range(99) %}{% set n.x = n.x + n.x %}{% endfor %}":            "line 1: the template makes more than 1677",
		"{% set n = namespace(x=[]) %}{% for a in range(99999) %}{% set n.x = [n.x] %}{% endfor %}{{ n.x }}":                    "deeper than 2000 levels",
		"{% set n = namespace(x=[]) %}{% for a in range(99999) %}{% set n.x = [n.x] %}{% endfor %}{{ n.x | tojson }}":           "deeper than 2000 levels",
		"{% set n = namespace(x=[]) %}{% for a in range(9999) %}{% set n.x = [n.x] %}{% endfor %}{{ n.x == [n.x[0]] }}":         "deeper than 2000 levels",
		"{% set n = namespace() %}{% set n.n = n %}{{ n }}":                                                                     "deeper than 2000 levels",
		"{{ 'x' * 999999999999 }}":                                                      "makes more than 1677",
		"{{ [1] * 999999999 }}":                                                         "makes more than 1677",
		"{{ '%999999999d' % 1 }}":                                                       "width or precision in a format is too large",
		"{{ '{:999999999}'.format(1) }}":                                                "width or precision in a format is too large",
		"{{ 'x'.center(99999999999) }}":                                                 "makes more than 1677",
		"{{ (['x' * 9999] * 9999) | join }}":                                            "makes more than 1677",
		"{{ 'aaaaaaaaaaaaaaaaaaa' | replace('', 'x' * 9999999) }}":                      "makes more than 1677",
		"{{ 'x' | indent(99999999, true) }}":                                            "makes more than 1677",
		"{{ [[[]]] | tojson(indent=99999999) }}":                                        "makes more than 1677",
		"{{ [1] | batch(999999999999, 0) | list }}":                                     "makes more than 1677",
		"{{ [1] | slice(999999999999) | list }}":                                        "makes more than 1677",
		"{{ 3 ** 9999999999 }}":                                                         "beyond 64 bits",
		strings.Repeat("{% if 1 %}", 5000):                                              "nested deeper than 200 levels",
		"{{ " + strings.Repeat("(", 5000) + strings.Repeat(")", 5000) + " }}":           "nested deeper than 200 levels",
		"{{ " + strings.Repeat("not ", 5000) + "1 }}":                                   "nested deeper than 200 levels",
		"{{ " + strings.Repeat("-", 5000) + "1 }}":                                      "nested deeper than 200 levels",
		"{{ 1" + strings.Repeat(" + 1", 5000) + " }}":                                   "deeper than 2000 levels",
		"{{ a" + strings.Repeat(".a", 5000) + " }}":                                     "deeper than 2000 levels",
		"{{ 1" + strings.Repeat("|abs", 5000) + " }}":                                   "deeper than 2000 levels",
		"{{ 1" + strings.Repeat(" if 1 else 1", 5000) + " }}":                           "nested deeper than 200 levels",
		"{% for " + strings.Repeat("(", 5000) + "a" + strings.Repeat(")", 5000) + " %}": "nested deeper than 200 levels",
		strings.Repeat(" ", 1<<20) + "x":                                                "line 1: the template has 1048577 bytes, and more than 1048576 are not read",
	} {
		start := time.Now()
		tmpl, err := chat.Parse(source)
		if err == nil {
			_, err = tmpl.Render(ask("What is Rust?"))
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.100s: error %v, want one line with %s", source, err, want)
		}
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("%.100s took %v", source, took)
		}
	}
}

// TestLongPrompt holds the bounds to what templates make of a text as long as a
// prompt may be: each of its bytes is copied some times.
func TestLongPrompt(t *testing.T) {
	long := strings.Repeat("0123456789abcd\n", 1<<20)
	f := read(t)
	for name, wants := range f.Templates {
		if wants[0].Text == nil {
			continue
		}
		tmpl, err := chat.Parse(source(t, name))
		if err != nil {
			t.Fatal(err)
		}
		c := f.conversation(0)
		c.Messages = []chat.Message{{Role: "user", Content: long}}
		if text, err := tmpl.Render(c); err != nil || !strings.Contains(text, strings.TrimSpace(long)) {
			t.Errorf("%s: %d bytes, error %v", name, len(text), err)
		}
	}
}

// TestErrors holds what is said of a template to one line that tells where.
func TestErrors(t *testing.T) {
	for source, want := range map[string]string{
		"{% for m in messages %}\n{{ m.content }": `line 2: unexpected "}"`,
		"a\n{% if x %}":                        `line 2: unexpected end of template: "endif" is missing`,
		"{{ raise_exception('No\\nsystem') }}": "line 1 refuses the conversation: No system",
		"{{ raise_exception('x' * 9999) }}":    "line 1 refuses the conversation: " + strings.Repeat("x", 300) + "…",
		"a\n\n{{ bos_token }}":                 "line 3: bos_token is wanted, and the vocabulary says of no token that it is the one",
		"{{ 'a' + bos_token }}":                "line 1: bos_token is wanted",
		"{{ [bos_token] }}":                    "line 1: bos_token is wanted",
		"{{ bos_token | trim }}":               "line 1: bos_token is wanted",
		"{{ bos_token ~ 'x' }}":                "line 1: bos_token is wanted",
		"{{ pad_token }}":                      "line 1: pad_token is wanted",
		"{{ 'x' if bos_token is defined }}{{ bos_token if bos_token }}{{ bos_token | default('') }}": "",
		"\n{% for t in tools %}{{ t }}{% endfor %}":                                                  "line 2 wants tools, and there are none",
		"{{ tools | length }}":                  "line 1 wants tools, and there are none",
		"{{ messages[0].images[0] }}":           "line 1: 'dict object' has no attribute 'images'",
		"{{ messages[0].content.append('x') }}": "line 1: 'str object' has no attribute 'append'",
		"{% include 'other' %}":                 "line 1: include needs another template, and a chat template has none",
		"{{ open('/etc/passwd') }}":             "line 1: 'open' is undefined",
		"{{ ''.__class__.__mro__ }}":            "line 1: 'str object' has no attribute '__class__'",
	} {
		tmpl, err := chat.Parse(source)
		if err == nil {
			_, err = tmpl.Render(ask("Hi"))
		}
		if want == "" && err != nil || want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("%q: error %v, want %s", source, err, want)
		}
	}
}

// TestChatML holds the built-in template to the experiment's text.
func TestChatML(t *testing.T) {
	tmpl, known := chat.Named(chat.ChatML)
	if !known {
		t.Fatal("chatml is not built in")
	}
	if _, known := chat.Named("alpaca"); known {
		t.Error("alpaca is known")
	}
	c := ask(" What\n is Rust? ")
	for range 2 {
		got, err := tmpl.Render(c)
		want := "<|im_start|>user\n What\n is Rust? <|im_end|>\n<|im_start|>assistant\n"
		if len(c.Messages) == 2 {
			want = "<|im_start|>system\nBe brief.<|im_end|>\n" + want
		}
		if err != nil || got != want {
			t.Errorf("%q, %v", got, err)
		}
		c.Messages = append([]chat.Message{{Role: "system", Content: "Be brief."}}, c.Messages...)
	}
}

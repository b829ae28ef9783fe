package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/introgen/introgen/engine/transformer/transformertest"
)

// TestTemplates holds the texts and the errors of --template, of a file that has a
// template or none, to what is typed.
func TestTemplates(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"own.jinja":    "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}{% if add_generation_prompt %}>{% endif %}",
		"bad.jinja":    "a\n{% if %}",
		"endless":      "{% set l = range(999) %}{% for a in l %}{% for b in l %}{% for c in l %}{% endfor %}{% endfor %}{% endfor %}",
		"tools":        "{% for t in tools %}{{ t }}{% endfor %}",
		"nobody":       "{{ bos_token }}{{ messages[0].content }}",
		"no system":    "{% if messages[0].role == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}{{ messages[0].content }}",
		"other tokens": "<|user|>\n{{ messages[0].content }}",
		"nothing":      "{# nothing #}",
		"lossy":        "{{ messages[-1].content }}",
		"long":         strings.Repeat("x", 1<<20+1),
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	without := func(w *transformertest.Writable) { w.Drop("tokenizer.chat_template") }
	having := func(v any) func(w *transformertest.Writable) {
		return func(w *transformertest.Writable) { w.Set("tokenizer.chat_template", v) }
	}
	const other = "; --template chatml, none or a FILE takes another"
	for name, c := range map[string]struct {
		edit       func(*transformertest.Writable)
		args       string
		text, says string // says is an error where it begins with "introgen: " and no note
	}{
		"the file's":            {nil, "", "hello", ""},
		"the file has none":     {without, "", "hello", "introgen: note: model.gguf has no chat template: the prompt is taken as it is; --template chatml or a FILE puts it into one, --template none says no more"},
		"none":                  {without, "--template none", "hello", ""},
		"chatml":                {nil, "--template chatml", "<|im_start|>user\nhello<|im_end|>\n<|im_start|>assistant\n", ""},
		"chatml, system":        {nil, "--template chatml --system 1", "<|im_start|>system\n1<|im_end|>\n<|im_start|>user\nhello<|im_end|>\n<|im_start|>assistant\n", ""},
		"a file":                {nil, "--template own.jinja", "<user>hello>", ""},
		"a file, system":        {nil, "--template own.jinja --system 1", "<system>1<user>hello>", ""},
		"an empty system":       {nil, "--template own.jinja --system=", "<system><user>hello>", ""},
		"the experiment's":      {func(w *transformertest.Writable) { w.Set("general.name", "Smollm2 135M 8k Lc100K Mix1 Ep2") }, "", "<|im_start|>user\nhello<|im_end|>\n<|im_start|>assistant\n", ""},
		"raw":                   {nil, "--raw-prompt", "hello", ""},
		"raw and none":          {nil, "--raw-prompt --template none", "hello", ""},
		"raw and chatml":        {nil, "--raw-prompt --template chatml", "", "introgen: --raw-prompt is --template none: it has no meaning with --template chatml"},
		"system, raw":           {nil, "--raw-prompt --system 1", "", "introgen: --system needs a chat template, and --template none takes the prompt as it is"},
		"system, none":          {without, "--system 1", "", "introgen: --system needs a chat template, and model.gguf has no chat template; --template chatml or a FILE takes one"},
		"empty":                 {nil, "--template=", "", "introgen: --template is empty: auto, none, chatml or a file is wanted"},
		"no such file":          {nil, "--template gemma", "", "introgen: --template: open gemma: no such file or directory; auto, none, chatml or a file is wanted"},
		"does not parse":        {nil, "--template bad.jinja", "", "introgen: the chat template bad.jinja, line 2: unexpected end of statement block" + other},
		"the file's does not":   {having("{% endfor %}"), "", "", `introgen: the chat template of model.gguf, line 1: encountered unknown tag "endfor"` + other},
		"the file's is no text": {having(uint32(5)), "", "", "introgen: "},
		"endless":               {nil, "--template endless", "", "introgen: the chat template endless, line 1: the template takes more than 2097"},
		"tools":                 {nil, "--template tools", "", "introgen: the chat template tools, line 1 wants tools, and there are none" + other},
		"no such token":         {nil, "--template nobody", "", "introgen: the chat template nobody, line 1: bos_token is wanted, and the vocabulary says of no token that it is the one" + other},
		"chatml, no tokens":     {func(w *transformertest.Writable) { without(w); w.Set("tokenizer.ggml.token_type", ordinary(300)) }, "--template chatml", "", "introgen: the chat template chatml, which writes <|im_start|>, a token that the vocabulary does not have" + other},
		"nothing":               {nil, "--template nothing", "", "introgen: the chat template nothing, which writes nothing" + other},
		"leaves out":            {nil, "--template lossy --system 1", "hello", "introgen: note: the chat template lossy does not write --system as it was given"},
		"too long":              {nil, "--template long", "", "introgen: --template long is longer than 1048576 bytes, more than is read; auto, none, chatml or a file is wanted"},
	} {
		args := append([]string{"tokenize", "--text", "--model", worded(t, c.edit), "--prompt", "hello"}, strings.Fields(c.args)...)
		out, errs, code := command(t, args...)
		failed := strings.HasPrefix(c.says, "introgen: ") && !strings.HasPrefix(c.says, "introgen: note: ")
		if out != c.text || failed == (code == exitOK) || strings.Count(errs, "\n") != min(1, len(c.says)) || !strings.HasPrefix(errs, c.says) {
			t.Errorf("%s: exit code %d, %q, %q, want %q, %q", name, code, out, errs, c.text, c.says)
		}
	}
	model := worded(t, nil)
	if _, errs, code := command(t, "tokenize", "--model", model, "--template", "no system", "--system", "1"); code == exitOK ||
		errs != "introgen: the chat template no system, line 1 refuses the conversation: System role not supported"+other+"\n" {
		t.Errorf("a template that raises: exit code %d, %q", code, errs)
	}
	if out, errs, code := command(t, "tokenize", "--text", "--model", model, "--template", "other tokens", "--prompt", "hello"); code != exitOK || out != "<|user|>\nhello" ||
		errs != "introgen: note: the chat template other tokens writes <|user|>, which the vocabulary does not have as a token: it becomes 8\n" {
		t.Errorf("marks that are no tokens: exit code %d, %q, %q", code, out, errs)
	}
	for _, flag := range []string{"--template=none", "--system=1", "--raw-prompt"} {
		if _, errs, code := command(t, "tokenize", "--model", model, "--prompt-ids", "1", flag); code == exitOK || !strings.Contains(errs, "has no meaning with --prompt-ids") {
			t.Errorf("%s: exit code %d, %q", flag, code, errs)
		}
	}
	recorded := filepath.Join(t.TempDir(), "r.introgen")
	out, errs, code := command(t, "cpu", "1", "--tokens", "0", "--model", model, "--prompt", "hello", "--system", "1", "--template", "own.jinja", "-o", recorded)
	b, err := os.ReadFile(recorded)
	if code != exitOK || err != nil || !strings.Contains(out, "; template own.jinja\n") || !strings.Contains(string(b), `"template":"own.jinja"`) ||
		!strings.Contains(string(b), `{"name":"system","value":"1","origin":"flag"}`) {
		t.Errorf("a recording: exit code %d, %s%s%v", code, out, errs, err)
	}
}

// ordinary are the types of n tokens none of which is found in a text.
func ordinary(n int) []int32 {
	types := make([]int32, n)
	for i := range types {
		types[i] = 1
	}
	return types
}

// TestMarksThatAreTokens: a mark that ends a turn is its token though the file has it as
// an ordinary one, which is said; of SPM, where a space is put before a text, a
// user-defined mark is a token, and nothing is said.
func TestMarksThatAreTokens(t *testing.T) {
	spm := func(w *transformertest.Writable) {
		tokens, types, scores := make([]string, 300), ordinary(300), make([]float32, 300)
		for i := range tokens {
			tokens[i] = fmt.Sprintf("t%d", i)
		}
		for b := range 256 {
			tokens[3+b], types[3+b] = fmt.Sprintf("<0x%02X>", b), 6
		}
		tokens[0], types[0] = "<unk>", 2
		tokens[290], types[290] = "<|user|>", 4
		for key, value := range map[string]any{"model": "llama", "tokens": tokens, "token_type": types, "scores": scores,
			"add_bos_token": false, "add_space_prefix": true} {
			w.Set("tokenizer.ggml."+key, value)
		}
		w.Set("tokenizer.chat_template", "<|user|>{{ messages[0].content }}")
	}
	// U+2581 has no token here: the space before the text is its three bytes.
	if out, errs, code := command(t, "tokenize", "--ids", "--prompt", "h", "--model", worded(t, spm)); code != exitOK || errs != "" || out != "229,153,132,290,107\n" {
		t.Errorf("a user-defined mark of SPM: exit code %d, %q, %q", code, out, errs)
	}
	ordinaryEnd := func(w *transformertest.Writable) {
		w.Set("tokenizer.ggml.token_type", ordinary(300))
		w.Set("tokenizer.chat_template", "{{ messages[0].content }}<|im_end|>")
	}
	const said = "introgen: note: <|im_end|> in the prompt becomes one token, as in llama.cpp, though the file has it as an ordinary one (tokenizer.ggml.token_type)\n"
	if out, errs, code := command(t, "tokenize", "--ids", "--prompt", "h", "--model", worded(t, ordinaryEnd)); code != exitOK || errs != said || out != "104,263\n" {
		t.Errorf("an ordinary mark: exit code %d, %q, %q", code, out, errs)
	}
}

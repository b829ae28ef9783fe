package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/introgen/introgen/engine/gguf"
	"github.com/introgen/introgen/engine/gguf/gguftest"
	"github.com/introgen/introgen/engine/tokenizer"
	"github.com/introgen/introgen/engine/transformer/transformertest"
	"github.com/introgen/introgen/results/store"
)

// command runs introgen and returns what it prints and its exit code.
func command(t *testing.T, args ...string) (out, errs string, code int) {
	t.Helper()
	t.Setenv(store.KeepEnv, "0")
	var o, e bytes.Buffer
	code = run(t.Context(), append([]string{"introgen"}, args...), &o, &e)
	return o.String(), e.String(), code
}

// worded writes a model of 300 tokens with a vocabulary, whose metadata edit
// changes.
func worded(t *testing.T, edit func(*transformertest.Writable)) string {
	return transformertest.Write(t, transformertest.Config{Vocab: 300, Context: 512, Edit: func(w *transformertest.Writable) {
		transformertest.Vocabulary(w, 300)
		w.Set("tokenizer.chat_template", "{% for m in messages %}{{ m.content }}{% endfor %}")
		if edit != nil {
			edit(w)
		}
	}})
}

// TestPromptIDsNeedNoTokenizer: ids run, and give the same ids and logits, whatever
// is wrong with the vocabulary; the text is not available, which is said once, and
// a text cannot be given.
func TestPromptIDsNeedNoTokenizer(t *testing.T) {
	ids := []string{"cpu", "2", "--prompt-ids", "1,2,290", "--tokens", "3", "--logits", "3", "--model"}
	plain, errs, code := command(t, append(ids, worded(t, nil))...)
	if code != exitOK || errs != "" || !strings.Contains(plain, "[cpu round 1] text: \"") {
		t.Fatalf("a whole vocabulary: exit code %d, %s, %s", code, errs, plain)
	}
	for want, edit := range map[string]func(*transformertest.Writable){
		`tokenizer.ggml.model is "bert"`: func(w *transformertest.Writable) { w.Set("tokenizer.ggml.model", "bert") },
		"tokenizer.ggml.model is missing": func(w *transformertest.Writable) {
			for _, key := range []string{"model", "pre", "tokens", "token_type", "merges"} {
				w.Drop("tokenizer.ggml." + key)
			}
		},
		`tokenizer.ggml.pre is "viking"`:     func(w *transformertest.Writable) { w.Set("tokenizer.ggml.pre", "viking") },
		"tokenizer.ggml.merges is missing":   func(w *transformertest.Writable) { w.Drop("tokenizer.ggml.merges") },
		"add_space_prefix is true":           func(w *transformertest.Writable) { w.Set("tokenizer.ggml.add_space_prefix", true) },
		"token_type must be an array of I32": func(w *transformertest.Writable) { w.Set("tokenizer.ggml.token_type", "x") },
	} {
		path := worded(t, edit)
		for _, kind := range []string{"auto", "go"} {
			out, errs, code := command(t, append(ids, path, "--bench", "--tokenizer", kind)...)
			if code != exitOK || strings.Count(errs, "\n") != 1 || !strings.HasPrefix(errs, "introgen: note: the text of the new ids is not available: ") || !strings.Contains(errs, want) {
				t.Errorf("%s, %s: exit code %d, stderr %q", want, kind, code, errs)
			}
			if strings.Count(out, "text: not available, since there is no tokenizer") != 1 || !strings.Contains(out, "; no tokenizer\n") {
				t.Errorf("%s, %s: stdout %s", want, kind, out)
			}
			if !strings.Contains(out, "BenchmarkPrefill") || strings.Contains(out, "BenchmarkTokenizer") {
				t.Errorf("%s, %s: a tokenizer that was not made is measured, or nothing is: %s", want, kind, out)
			}
			if got, same := answers(out), answers(plain); got != same || got == "" {
				t.Errorf("%s, %s: %q instead of %q", want, kind, got, same)
			}
		}
		if _, errs, code := command(t, append(ids, path, "--tokenizer", "hf")...); code != exitFailed || !strings.Contains(errs, "--tokenizer auto runs ids without a tokenizer") {
			t.Errorf("%s: hf, asked for by its name: exit code %d, %s", want, code, errs)
		}
		if _, errs, code := command(t, "cpu", "1", "--model", path); code != exitFailed || !strings.Contains(errs, want) || !strings.Contains(errs, "; --prompt-ids runs without a tokenizer") {
			t.Errorf("%s: a text: exit code %d, %s", want, code, errs)
		}
	}
	if _, errs, code := command(t, "cpu", "1", "--prompt-ids", "300", "--model", worded(t, func(w *transformertest.Writable) { w.Drop("tokenizer.ggml.merges") })); code != exitUsage || !strings.Contains(errs, "outside the vocabulary, which has 0 to 299") {
		t.Errorf("an id of no token: exit code %d, %s", code, errs)
	}
}

// answers are the lines with ids and logits.
func answers(out string) string {
	var lines []string
	for line := range strings.Lines(out) {
		if strings.Contains(line, "] ids: ") || strings.Contains(line, "] logits after ") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

// TestAutoTakesGo: what hf does not take runs with default flags, by the tokenizer
// go, and the console says why it is that one; hf asked for by its name refuses it.
func TestAutoTakesGo(t *testing.T) {
	merges := worded(t, func(w *transformertest.Writable) {
		w.Set("tokenizer.ggml.merges", []string{"h e", "l l", "he ll", "hell o", "Ġ hello", "zz qq"})
	})
	zero := worded(t, nil)
	file := filepath.Join(t.TempDir(), "nul.txt")
	if err := os.WriteFile(file, []byte("a\x00b"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{
		"a merge of no tokens":         {"--model", merges, "--raw-prompt", "--prompt", "hello"},
		"a text with a NUL byte":       {"--model", zero, "--raw-prompt", "--prompt-file", file},
		"a merge of no tokens, by ids": {"--model", merges, "--prompt-ids", "1"},
	} {
		args = append([]string{"cpu", "1", "--tokens", "1", "--ids"}, args...)
		out, errs, code := command(t, args...)
		if code != exitOK || errs != "" || !regexp.MustCompile(`; tokenizer go, ready in \S+ ms, since tests hold its ids equal to hf's for smollm\n`).MatchString(out) {
			t.Errorf("%s: exit code %d, %s, %s", name, code, errs, out)
		}
		same, errs, code := command(t, append(args, "--tokenizer", "go")...)
		if code != exitOK || errs != "" || answers(same) != answers(out) || !regexp.MustCompile(`; tokenizer go, ready in \S+ ms\n`).MatchString(same) {
			t.Errorf("%s, go: exit code %d, %s: %s instead of %s", name, code, errs, answers(out), answers(same))
		}
		if _, errs, code := command(t, append(args, "--tokenizer", "hf")...); code != exitFailed || errs == "" {
			t.Errorf("%s, hf: exit code %d, %s", name, code, errs)
		}
	}
	// So is a token that is a NUL byte decoded.
	always := worded(t, func(w *transformertest.Writable) { w.Tensor("token_embd.weight").Data = onlyToken(0, 300, 64) })
	out, errs, code := command(t, "cpu", "1", "--tokens", "1", "--prompt-ids", "0", "--model", always)
	if code != exitOK || !strings.Contains(out, `text: "\x00\x00"`) || errs != "" {
		t.Errorf("new NUL bytes: exit code %d, %s, %s", code, errs, out)
	}
}

// TestWhyIsRecorded: the recording has which tokenizer auto took and why, and every
// view that names the tokenizer says it.
func TestWhyIsRecorded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.introgen")
	if _, errs, code := command(t, "cpu", "1", "--tokens", "0", "--model", worded(t, nil), "--raw-prompt", "--prompt", "a", "-o", path); code != exitOK {
		t.Fatal(errs)
	}
	b, err := os.ReadFile(path)
	if want := `"tokenizer":"go","tokenizer_why":"tests hold its ids equal to hf's for smollm"`; err != nil || !strings.Contains(string(b), want) {
		t.Errorf("%v, no %s in %s", err, want, b)
	}
	out, _, _ := command(t, "show", path, "--as", "table")
	if want := "tokenizer go, since tests hold its ids equal to hf's for smollm"; !strings.Contains(strings.Join(strings.Fields(out), " "), want) { // lines are wrapped
		t.Errorf("no %s in %s", want, out)
	}
}

// TestExchange: where auto is hf, a text and ids that only go takes are go's, which is
// said; where hf was asked for by its name, they are refused.
func TestExchange(t *testing.T) {
	if !tokenizer.HFBuiltIn() {
		t.Skip("SKIP: needs the tokenizer hf")
	}
	f, err := gguf.Open(worded(t, nil), gguf.MMap)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, auto := range []bool{true, false} {
		for name, use := range map[string]func(*vocabulary) error{
			"encode": func(v *vocabulary) error { _, err := v.encode("a\x00b"); return err },
			"decode": func(v *vocabulary) error { _, err := v.decode([]int32{97, 0, 98}); return err },
		} {
			var said []string
			v, err := newVocabulary(f, "hf", func(text string) { said = append(said, text) })
			if err != nil {
				t.Fatal(err)
			}
			v.auto = auto
			err = use(v)
			if !auto {
				if err == nil || v.name() != "hf" || len(said) > 0 {
					t.Errorf("%s: %v, %s, %q", name, err, v.name(), said)
				}
				continue
			}
			if err != nil || v.name() != "go" || v.why != "hf does not take the text" || len(said) != 1 || !strings.HasPrefix(said[0], "the tokenizer go is used from here on") {
				t.Errorf("%s, auto: %v, %s since %s, %q", name, err, v.name(), v.why, said)
			}
		}
	}
}

// addBOS has a file want <|im_start|> before every text.
func addBOS(w *transformertest.Writable) {
	w.Set("tokenizer.ggml.bos_token_id", uint32(262))
	w.Set("tokenizer.ggml.add_bos_token", true)
}

// TestTokenizeIsWhatCPUPasses: tokenize has the ids of a run with the same flags,
// where hf would not take the text or the vocabulary or something is assumed too, and
// says so in the same words.
func TestTokenizeIsWhatCPUPasses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "nul.txt")
	if err := os.WriteFile(file, []byte("a\x00b"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		edit   func(*transformertest.Writable)
		prompt []string
		ids    string
		hf     bool // hf does not take it
		says   string
	}{
		"a NUL byte":                {nil, []string{"--raw-prompt", "--prompt-file", file}, "97,0,98", true, ""},
		"the token of a NUL byte":   {nil, []string{"--prompt-ids", "97,0,98"}, "97,0,98", true, ""},
		"a merge of no tokens":      {func(w *transformertest.Writable) { w.Set("tokenizer.ggml.merges", []string{"h e", "zz qq"}) }, []string{"--raw-prompt", "--prompt", "a"}, "97", true, ""},
		"no pre-tokenizer":          {func(w *transformertest.Writable) { w.Drop("tokenizer.ggml.pre") }, []string{"--raw-prompt", "--prompt", "ab"}, "97,98", false, "metadata tokenizer.ggml.pre is missing"},
		"no pre-tokenizer, by ids":  {func(w *transformertest.Writable) { w.Drop("tokenizer.ggml.pre") }, []string{"--prompt-ids", "97"}, "97", false, ""},
		"no types":                  {func(w *transformertest.Writable) { w.Drop("tokenizer.ggml.token_type") }, []string{"--raw-prompt", "--prompt", "ab"}, "97,98", false, "metadata tokenizer.ggml.token_type is missing"},
		"a token before every text": {addBOS, []string{"--raw-prompt", "--prompt", "ab"}, "262,97,98", false, ""},
		"it stands there already":   {addBOS, []string{"--raw-prompt", "--prompt", "<|im_start|>ab"}, "262,97,98", false, ""},
		"the template writes it": {func(w *transformertest.Writable) {
			addBOS(w)
			w.Set("tokenizer.chat_template", "{{ bos_token }}{{ messages[0].content }}{{ eos_token }}")
			w.Set("tokenizer.ggml.eos_token_id", uint32(263))
		}, []string{"--prompt", "ab"}, "262,97,98,263", false, ""},
		"a token behind every text": {func(w *transformertest.Writable) {
			w.Set("tokenizer.ggml.eos_token_id", uint32(263))
			w.Set("tokenizer.ggml.add_eos_token", true)
		}, []string{"--prompt", "ab"}, "97,98,263", false, ""},
	} {
		says := c.says
		path := worded(t, c.edit)
		recorded := filepath.Join(t.TempDir(), "r.introgen")
		_, cpu, code := command(t, append([]string{"cpu", "1", "--tokens", "0", "--model", path, "-o", recorded}, c.prompt...)...)
		b, err := os.ReadFile(recorded)
		if code != exitOK || err != nil || !strings.Contains(string(b), `"prompt_ids":[`+c.ids+`]`) {
			t.Fatalf("%s: cpu: exit code %d, %s, %v", name, code, cpu, err)
		}
		out, errs, code := command(t, append([]string{"tokenize", "--ids", "--model", path}, c.prompt...)...)
		if code != exitOK || out != c.ids+"\n" {
			t.Errorf("%s: exit code %d, %q, %s", name, code, out, errs)
		}
		if says == "" && errs != "" || says != "" && (!strings.Contains(errs, says) || strings.Count(errs, "\n") != 1) {
			t.Errorf("%s: it says %q", name, errs)
		}
		if !strings.Contains(name, "token of a NUL") && cpu != errs { // a run shows no text of its prompt
			t.Errorf("%s: cpu says %q, tokenize %q", name, cpu, errs)
		}
		if out, _, _ := command(t, append([]string{"tokenize", "--model", path}, c.prompt...)...); c.hf && !strings.Contains(out, "tokenizer go: ") {
			t.Errorf("%s: not the tokenizer that was used: %s", name, out)
		}
	}
}

// onlyToken is an embedding by which a token follows itself: all others are 0.
func onlyToken(id, rows, cols int) []byte {
	x := make([]float32, rows*cols)
	for i := range cols {
		x[id*cols+i] = 10
	}
	return gguftest.F32(x...)
}

// TestAssumptionsAreSaid: what a text's ids rest on is said, and what is not there
// is taken as llama.cpp takes it.
func TestAssumptionsAreSaid(t *testing.T) {
	for key, edit := range map[string]func(*transformertest.Writable){
		"tokenizer.ggml.pre is missing":        func(w *transformertest.Writable) { w.Drop("tokenizer.ggml.pre") },
		"tokenizer.ggml.token_type is missing": func(w *transformertest.Writable) { w.Drop("tokenizer.ggml.token_type") },
	} {
		path := worded(t, edit)
		_, errs, code := command(t, "cpu", "1", "--tokens", "1", "--model", path)
		if code != exitOK || strings.Count(errs, "\n") != 1 || !strings.HasPrefix(errs, "introgen: note: metadata "+key) {
			t.Errorf("%s: exit code %d, %q", key, code, errs)
		}
		if _, errs, code := command(t, "cpu", "1", "--tokens", "1", "--prompt-ids", "1", "--model", path); code != exitOK || errs != "" {
			t.Errorf("%s, ids: exit code %d, %q", key, code, errs)
		}
	}
}

// TestSuppressedTokensAreSaid: what a file asks of who generates, and is not done,
// is said with ids as well as with a text.
func TestSuppressedTokensAreSaid(t *testing.T) {
	path := worded(t, func(w *transformertest.Writable) { w.Set("tokenizer.ggml.suppress_tokens", []int32{1, 2}) })
	for _, prompt := range [][]string{nil, {"--prompt-ids", "1"}} {
		_, errs, code := command(t, append([]string{"cpu", "1", "--tokens", "1", "--model", path}, prompt...)...)
		if code != exitOK || errs != "introgen: note: metadata tokenizer.ggml.suppress_tokens lists 2 tokens, and introgen does not keep the model from generating them\n" {
			t.Errorf("%v: exit code %d, %q", prompt, code, errs)
		}
	}
}

// TestPartsAreNamed: of a part of a split file whose others are not there, or that is
// not the first, it is said which it is and what is wanted, whatever else it lacks and
// whatever command reads it, and meta shows it.
func TestPartsAreNamed(t *testing.T) {
	for part := range 3 {
		f := gguftest.File{KV: []gguftest.KV{{Key: "split.no", Value: uint16(part)}, {Key: "split.count", Value: uint16(3)}}}
		if part == 0 {
			f.KV = append(f.KV, gguftest.KV{Key: "general.architecture", Value: "llama"})
		}
		b, err := f.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), fmt.Sprintf("m-%05d-of-00003.gguf", part+1))
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		is := fmt.Sprintf("is part %d of 3 of a split file (metadata split.no, split.count); ", part+1)
		runs, merged := is+"give the first, m-00001-of-00003.gguf", is+"merge the parts with `llama-gguf-split --merge m-00001-of-00003.gguf OUT`"
		if part == 0 {
			runs = "part 2 of 3 is missing: m-00002-of-00003.gguf must lie beside it"
		}
		for _, args := range [][]string{
			{"cpu", "1", "--model", path}, {"cpu", "1", "--prompt-ids", "1", "--model", path}, {"metal", "1", "--model", path},
			{"coverage", "--model", path}, {"coverage", "--prompt-ids", "1", "--model", path},
			{"model", "requantize", path, filepath.Join(t.TempDir(), "out.gguf")},
		} {
			want := runs
			if args[0] == "model" {
				want = merged
			}
			out, errs, code := command(t, args...)
			if code != exitFailed || !strings.Contains(errs, want) || strings.Count(errs, "\n") != 1 || strings.Contains(out, "text") {
				t.Errorf("%v: exit code %d, %q, %q", args, code, errs, out)
			}
		}
		if out, errs, code := command(t, "meta", path); code != exitOK || !strings.Contains(out, fmt.Sprintf("part %d of 3 of a split file", part+1)) {
			t.Errorf("meta: exit code %d, %s, %s", code, errs, out)
		}
	}
}

package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/introgen/introgen/engine/transformer/transformertest"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace/names"
)

// byteTokens returns a vocabulary of n tokens that spells every byte: the symbols
// of the bytes, as GPT-2's tokenizer writes them, and made-up words.
func byteTokens(n int) []string {
	var all []string
	beyond := rune(256)
	for b := rune(0); b < 256; b++ {
		if b > ' ' && b <= '~' || b > 0xa0 && b != 0xad {
			all = append(all, string(b))
		} else {
			all = append(all, string(beyond))
			beyond++
		}
	}
	for len(all) < n {
		all = append(all, fmt.Sprintf("w%d", len(all)))
	}
	return all
}

// A prompt that the model's context holds is passed, however long: the engine's
// own choice for who asks for nothing is no limit. One that it does not hold is
// told with the model's number.
func TestPromptBeyondTheDefaultContext(t *testing.T) {
	const vocab, context = 300, 8300
	path := transformertest.Write(t, transformertest.Config{Vocab: vocab, Context: context, Layers: 1, Heads: 1, KVHeads: 1, Hidden: 32, FFN: 32, Edit: func(w *transformertest.Writable) {
		w.Set("tokenizer.ggml.model", "gpt2")
		w.Set("tokenizer.ggml.pre", "smollm")
		w.Set("tokenizer.ggml.tokens", byteTokens(vocab))
		w.Set("tokenizer.ggml.token_type", slices.Repeat([]int32{1}, vocab))
		w.Set("tokenizer.ggml.merges", []string{"a b"})
	}})
	for _, c := range []struct {
		prompt, tokens, code int
		want                 string
	}{
		{8200, 3, exitOK, "prefill (8200 tokens)"},
		{8297, 3, exitOK, "prefill (8297 tokens)"},
		{8297, 4, exitFailed, "do not fit into the context of 8300 positions: at most 3 steps are left"},
		{8301, 0, exitFailed, "do not fit into the context of 8300 positions: at most 0 steps are left"},
	} {
		var out, errs bytes.Buffer
		ids := strings.TrimSuffix(strings.Repeat("7,", c.prompt), ",")
		code := run(t.Context(), []string{"introgen", "cpu", "1", "--model", path, "--tokenizer", "go", "--prompt-ids", ids, "--tokens", fmt.Sprint(c.tokens)}, &out, &errs)
		if text := out.String() + errs.String(); code != c.code || !strings.Contains(text, c.want) {
			t.Errorf("%d ids and %d steps: exit code %d, want %d and %q in %s", c.prompt, c.tokens, code, c.code, c.want, text)
		}
	}
}

// TestRefusedBeforeAnythingIsBuilt: the header says how long a text may become, so
// that what goes beyond it opens no device and builds no model.
func TestRefusedBeforeAnythingIsBuilt(t *testing.T) {
	short, long := worded(t, nil), worded(t, func(w *transformertest.Writable) { w.Set("llama.context_length", uint32(9000)) })
	for _, c := range []struct{ command, model, want string }{
		{"cpu", short, "a prompt of 3 tokens and 100000 decode steps do not fit into the context of 512 positions: at most 509 steps are left; the model's file allows no more (llama.context_length 512)"},
		{"metal", short, "a prompt of 3 tokens and 100000 decode steps do not fit into the context of 512 positions: at most 509 steps are left; the model's file allows no more (llama.context_length 512)"},
		{"metal", long, "a prompt of 3 tokens and 100000 decode steps do not fit into the context of 4096 positions: at most 4093 steps are left; that is candle's limit, " +
			"whose rotary tables have 4096 rows where the model's file allows 9000 positions; `introgen cpu` is not bound by it"},
	} {
		path := filepath.Join(t.TempDir(), "a"+recording.Ending)
		out, errs, code := command(t, c.command, "1", "--model", c.model, "--prompt-ids", "1,2,3", "--tokens", "100000", "-o", path)
		if code != exitFailed || out != "" || errs != "introgen: "+c.want+"\n" {
			t.Errorf("%s: exit code %d, stdout %q, stderr %q, want %q", c.command, code, out, errs, c.want)
		}
		r := open(t, path)
		for _, s := range r.Spans {
			if s.Name == names.SpanRead || s.Name == names.SpanDevice || s.Name == names.SpanBuild {
				t.Errorf("%s: %s took %v", c.command, s.Name, s.Duration())
			}
		}
	}
}

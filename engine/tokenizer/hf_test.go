//go:build hf && cgo

package tokenizer

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write testdata anew from what the hf tokenizer answers")

// pair returns both tokenizers over the real vocabulary.
func pair(t testing.TB, pre string) (g *encoder, h *hf) {
	t.Helper()
	withSource(t, pre, func(s *source) { h = hfOf(t, s) })
	return realEncoder(t, pre), h
}

func hfOf(t testing.TB, s *source) *hf {
	t.Helper()
	h, err := newHFFrom(s, smallEncoder(t, s))
	if err != nil {
		t.Fatal(err)
	}
	return h.(*hf)
}

func TestHFCorpus(t *testing.T) {
	lines := corpus()
	var digests, texts bytes.Buffer
	for _, pre := range oraclePres {
		t.Run(pre, func(t *testing.T) {
			g, h := pair(t, pre)
			want := encodeAll(t, h, lines)
			got := encodeAll(t, g, lines)
			bad := 0
			for i := range lines {
				if !slices.Equal(got[i], want[i]) && bad < 10 {
					bad++
					t.Errorf("line %d %q:\n  go %v\n  hf %v", i, lines[i], got[i], want[i])
				}
				if i%chunkLines == 0 {
					fmt.Fprintf(&digests, "%s\t%d\t%s\n", pre, i, digest(want[i:i+chunkLines]))
				}
				if i%197 == 0 && len(lines[i]) < 160 {
					writeExplicit(t, &texts, explicit{pre, lines[i], want[i]})
				}
				if pre == oraclePres[0] { // decoding is the same for all
					checkDecode(t, g, h, want[i])
				}
			}
		})
	}
	if *update && !t.Failed() {
		for name, b := range map[string][]byte{digestFile: digests.Bytes(), explicitFile: texts.Bytes()} {
			if err := os.WriteFile(name, b, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// writeExplicit writes in ASCII, since editors and git change odd characters.
func writeExplicit(t *testing.T, w *bytes.Buffer, e explicit) {
	b, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range string(b) {
		switch {
		case r < 0x7F:
			w.WriteRune(r)
		case r < 0x10000:
			fmt.Fprintf(w, `\u%04x`, r)
		default:
			fmt.Fprintf(w, `\u%04x\u%04x`, 0xD800+(r-0x10000)>>10, 0xDC00+(r-0x10000)&0x3FF)
		}
	}
	w.WriteByte('\n')
}

// checkDecode compares the texts of ids, and of ids without the first one and
// the last one, which often cut a character.
func checkDecode(t *testing.T, g, h Tokenizer, ids []int32) {
	t.Helper()
	for _, part := range [][]int32{ids, ids[min(1, len(ids)):], ids[:max(0, len(ids)-1)]} {
		got, err1 := g.Decode(part)
		want, err2 := h.Decode(part)
		if err1 != nil || err2 != nil || got != want {
			t.Errorf("decode %v: go %q, %v; hf %q, %v", part, got, err1, want, err2)
		}
	}
}

// lateNumbers are numbers since Unicode 17, which the hf tokenizer's step of
// isolating digits knows or not, depending on the compiler that built it.
var lateNumbers = []runeRange{{0x11DE0, 0x11DE9}, {0x16FF4, 0x16FF6}}

// TestHFCodePoints compares what every code point does to the cut: each in the
// places where its class shows, between letters, numbers, spaces, apostrophes.
func TestHFCodePoints(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIP: takes seconds; run without -short")
	}
	for _, pre := range oraclePres {
		if pre == "dbrx" || pre == "deepseek-r1-qwen" {
			continue // their words are those of llama-bpe and qwen2
		}
		t.Run(pre, func(t *testing.T) {
			g, h := pair(t, pre)
			for at := rune(1); at <= 0x10FFFF; at += 256 {
				if dull(at) && at>>8%16 != 0 {
					continue
				}
				compareCodePoints(t, g, h, at, at+255)
			}
		})
	}
}

// dull reports whether the 256 code points from r on are unassigned or private,
// in which case a few of them do for all.
func dull(r rune) bool { return r >= 0x32400 && r < 0xE0000 || r >= 0xE0200 }

func compareCodePoints(t *testing.T, g *encoder, h Tokenizer, lo, hi rune) {
	t.Helper()
	var b strings.Builder
	for c := lo; c <= hi; c++ {
		b.WriteString(probe(g, c))
	}
	got, err1 := g.Encode(b.String())
	want, err2 := h.Encode(b.String())
	if err1 == nil && err2 == nil && slices.Equal(got, want) {
		return
	}
	if err1 != nil || err2 != nil {
		t.Fatalf("%U to %U: go %v, hf %v", lo, hi, err1, err2)
	}
	for c := lo; c <= hi; c++ {
		got, _ := g.Encode(probe(g, c))
		want, _ := h.Encode(probe(g, c))
		if !slices.Equal(got, want) && !contains(lateNumbers, c) {
			t.Errorf("%U: go %v, hf %v", c, got, want)
		}
	}
}

// probe returns a text that shows the class of c, or nothing for what the
// vocabulary cannot spell or may differ.
func probe(g *encoder, c rune) string {
	if c >= 0xD800 && c < 0xE000 || c > 0x10FFFF || contains(lateNumbers, c) {
		return ""
	}
	s := string(c)
	for i := range len(s) {
		if g.bytes[s[i]] < 0 {
			return ""
		}
	}
	return "a" + s + "a " + s + "! " + s + s + " 1" + s + "\n" + s + " '" + s + "'" + s + "\n A" + s + "B" + s + "c"
}

func TestHFRefuses(t *testing.T) {
	_, h := pair(t, "smollm")
	for _, c := range []struct{ text, want string }{
		{"a\x00b", "NUL byte at offset 1"},
		{"ab\xff", "byte 0xff at offset 2"},
		{"<|im_start|>a\x04", "byte 0x04 at offset 13"},
	} {
		if _, err := h.Encode(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Encode(%q): %v, want an error with %q", c.text, err, c.want)
		}
	}
	nul := h.bytes[0]
	for _, c := range []struct {
		ids  []int32
		want string
	}{
		{[]int32{1, 49152}, "element 1: token id 49152 is outside"},
		{[]int32{-1}, "token id -1 is outside"},
		{[]int32{nul}, "NUL byte"},
	} {
		if _, err := h.Decode(c.ids); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Decode(%v): %v, want an error with %q", c.ids, err, c.want)
		}
	}
	if n := h.lib.VocabSize(); n != 49152 {
		t.Errorf("the library's vocabulary has %d tokens, want 49152", n)
	}
}

// TestHFNulInVocabulary: a vocabulary with NUL bytes is refused, and go takes it. The
// library ended the process when it did not know a token of a merge that has one.
func TestHFNulInVocabulary(t *testing.T) {
	merges := small("gpt-2", nil)
	merges.merges = list{1, slices.All([]string{"a \x00"})}
	for key, s := range map[string]*source{
		keyMerges: merges,
		keyTokens: small("gpt-2", nil, "<\x00>"),
	} {
		e := smallEncoder(t, s)
		if _, err := newHFFrom(s, e); err == nil || !strings.Contains(err.Error(), key+" has a NUL byte") {
			t.Errorf("%s: %v", key, err)
		}
		if ids, err := e.Encode("a"); err != nil || len(ids) != 1 {
			t.Errorf("%s, go: %v, %v", key, ids, err)
		}
	}
}

func BenchmarkHFEncode(b *testing.B) {
	_, h := pair(b, "smollm")
	b.SetBytes(int64(len(benchText)))
	for b.Loop() {
		if _, err := h.Encode(benchText); err != nil {
			b.Fatal(err)
		}
	}
}

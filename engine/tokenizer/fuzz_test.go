package tokenizer

import (
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// maxAlloc is what an input of up to 1 MiB may make the tokenizer allocate, all
// allocations added up.
const maxAlloc = 64 << 20

// allocated returns the bytes that f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// fuzzEncoders are small vocabularies with each pre-tokenizer.
func fuzzEncoders(t testing.TB) (e []*encoder) {
	merges := []string{"h e", "l l", "he ll", "hell o", "Ġ t", "Ġt he", "Ġ Ġ", "ĠĠ ĠĠ", "a a", "aa aa", "aaaa aaaa", "Ã ©", "ð Ł", "ðŁ ĺ", "1 2", "12 3", "Ċ Ċ"}
	for _, pre := range oraclePres {
		e = append(e, smallEncoder(t, small(pre, merges, "<|im_start|>", "<|im_end|>", "<|im_", "é<", "aaaaaaaaaaaaaaaaaaaaa")))
	}
	return e
}

// FuzzEncode: text is refused if and only if it is not UTF-8, comes back from
// its ids whole, and one id at a time.
func FuzzEncode(f *testing.F) {
	for _, s := range append(append([]string{"", "\xff", prompt, "hello the 123\n\n  é😀"}, nearSpecial...), code...) {
		f.Add(s)
	}
	encoders := fuzzEncoders(f)
	f.Fuzz(func(t *testing.T, text string) {
		for _, e := range encoders {
			var ids []int32
			var err error
			if n := allocated(func() { ids, err = e.Encode(text) }); n > maxAlloc {
				t.Errorf("%s: %d bytes of text made %d bytes of memory", e.pre.names[0], len(text), n)
			}
			if (err == nil) != utf8.ValidString(text) {
				t.Fatalf("%s: %v", e.pre.names[0], err)
			}
			if err != nil {
				continue
			}
			back, err := e.Decode(ids)
			if want := e.normalAll(text); err != nil || back != want {
				t.Fatalf("%s: came back as %q, %v; want %q", e.pre.names[0], back, err, want)
			}
		}
	})
}

// normalAll normalizes what is between the special tokens.
func (t *encoder) normalAll(text string) string {
	var b strings.Builder
	for s := range t.segments(text) {
		if s.id >= 0 {
			b.WriteString(text[s.start:s.end])
		} else {
			b.WriteString(t.normal(text, s))
		}
	}
	return b.String()
}

// FuzzDecode: any ids end in text that is UTF-8 or in an error, which there is
// if and only if an id is outside the vocabulary.
func FuzzDecode(f *testing.F) {
	f.Add([]byte("\x00\x00\xff\xff"))
	f.Add([]byte("\x00\xf0\x00\x9f\x00\x98\x00\x80"))
	e := fuzzEncoders(f)[0]
	f.Fuzz(func(t *testing.T, b []byte) {
		var ids []int32
		for ; len(b) >= 2; b = b[2:] {
			ids = append(ids, int32(int16(uint16(b[0])<<8|uint16(b[1])))%300) // some negative, some too large
		}
		outside := slices.ContainsFunc(ids, func(id int32) bool { return id < 0 || int(id) >= e.VocabSize() })
		text, err := e.Decode(ids)
		if (err != nil) != outside || !utf8.ValidString(text) {
			t.Fatalf("ids %v: %q, %v", ids, text, err)
		}
		if err == nil {
		}
	})
}

// FuzzVocabulary: whatever a file's lists hold, the result is a tokenizer or an
// error, at no great cost, and the tokenizer.json is made where the tokenizer is.
func FuzzVocabulary(f *testing.F) {
	f.Add("a\nb\nab\n<s>", "a b", []byte{1, 1, 1, 3}, uint8(0), "abab<s>")
	f.Add("Ġ\nt\nĠt\n\n\n", "Ġ t\nt Ġ", []byte{4, 4, 1, 1, 1, 1}, uint8(2), " t  t")
	f.Fuzz(func(t *testing.T, tokens, merges string, types []byte, pre uint8, text string) {
		s := &source{pre: oraclePres[int(pre)%len(oraclePres)], tokens: splitList(tokens), merges: splitList(merges)}
		for _, b := range types {
			s.types = append(s.types, int32(b%8))
		}
		if s.check() != nil {
			return
		}
		n := allocated(func() {
			e, err := newEncoder(s)
			if err != nil {
				return
			}
			if _, err := tokenizerJSON(s, e); err != nil {
				t.Error(err)
			}
			ids, err := e.Encode(text)
			if err != nil {
				return
			}
			if back, err := e.Decode(ids); err != nil || !utf8.ValidString(back) {
				t.Errorf("ids %v: %q, %v", ids, back, err)
			}
		})
		if n > maxAlloc {
			t.Errorf("%d bytes of metadata and %d of text made %d bytes of memory", len(tokens)+len(merges)+len(types), len(text), n)
		}
	})
}

func splitList(s string) list {
	lines := strings.Split(s, "\n")
	return list{len(lines), slices.All(lines)}
}

// TestAllocations: the worst that texts of 1 MiB can do.
func TestAllocations(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIP: takes seconds; run without -short")
	}
	for name, part := range map[string]string{
		"one word":          "z",
		"one merged word":   "hello",
		"two byte letters":  "é",
		"words":             "ab ",
		"spaces":            " ",
		"line breaks":       "\r\n",
		"marks":             "\u0301",
		"decomposed":        "e\u0301",
		"expanding":         "\u1f82",
		"jamo":              "\u1100\u1161\u11a8",
		"special":           "<|im_start|>",
		"almost special":    "<|im_star",
		"disordered marks":  "\u0301\u0323",
		"singleton letters": "\u212b",
	} {
		text := strings.Repeat(part, 1<<20/len(part))
		for _, e := range fuzzEncoders(t)[2:] { // llama-bpe and qwen2 do all that the others do, and more
			n := allocated(func() {
				if _, err := e.Encode(text); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			})
			if n > maxAlloc {
				t.Errorf("%s, %s: 1 MiB of text made %d MiB of memory", e.pre.names[0], name, n>>20)
			}
		}
	}
}

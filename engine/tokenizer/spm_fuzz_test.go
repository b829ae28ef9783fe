package tokenizer

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func trainedSPM(t testing.TB) (all map[string]*spm) {
	t.Helper()
	all = map[string]*spm{}
	for _, name := range spmVocabularies {
		all[name] = openSPM(t, filepath.Join(spmFolder, name+".gguf"))
	}
	return all
}

// FuzzSPMEncode: text is refused if and only if it is not UTF-8, and comes back from
// its ids whole where every byte has a token; but U+2581 is a space in tokens.
func FuzzSPMEncode(f *testing.F) {
	for _, s := range append([]string{"", "\xff", "a<s>b</s> c", " <ud>  <unk>", "the\n\n\x00é😀", "\t\t\t "}, code...) {
		f.Add(s)
	}
	all := trainedSPM(f)
	f.Fuzz(func(t *testing.T, text string) {
		for name, k := range all {
			var ids []int32
			var err error
			if n := allocated(func() { ids, err = k.Encode(text) }); n > maxAlloc {
				t.Errorf("%s: %d bytes of text made %d bytes of memory", name, len(text), n)
			}
			if (err == nil) != utf8.ValidString(text) {
				t.Fatalf("%s: %v", name, err)
			}
			if err != nil {
				continue
			}
			back, err := k.Decode(ids)
			if err != nil || !utf8.ValidString(back) {
				t.Fatalf("%s: %q, %v", name, back, err)
			}
			if want := strings.ReplaceAll(text, escapedSpace, " "); name != "unknown" && back != want {
				t.Fatalf("%s: came back as %q, want %q", name, back, want)
			}
		}
	})
}

// FuzzSPMDecode: whatever the ids, the result is text, or an error where one is no
// token.
func FuzzSPMDecode(f *testing.F) {
	f.Add([]byte("\x00\x00\xff\xff"))
	f.Add([]byte("\x00\xf0\x00\x9f\x00\x98\x00\x80"))
	f.Add([]byte("\x00\x01\x05\x00\x00\x02\x05\x00\x00\x00"))
	all := trainedSPM(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		var ids []int32
		for ; len(b) >= 2; b = b[2:] {
			ids = append(ids, int32(int16(uint16(b[0])<<8|uint16(b[1])))%1600) // some negative, some too large
		}
		for name, k := range all {
			outside := slices.ContainsFunc(ids, func(id int32) bool { return id < 0 || int(id) >= k.VocabSize() })
			if text, err := k.Decode(ids); (err != nil) != outside || !utf8.ValidString(text) {
				t.Fatalf("%s: ids %v: %q, %v", name, ids, text, err)
			}
		}
	})
}

// FuzzSPMVocabulary: whatever a file's lists hold, the result is a tokenizer or an
// error, at no great cost, and the tokenizer.json is made or declined.
func FuzzSPMVocabulary(f *testing.F) {
	f.Add("<unk>\na\nb\nab\n<s>", []byte{2, 1, 1, 1, 3}, []byte{0, 1, 2, 3, 4}, uint8(1), "abab<s>")
	f.Add("\u2581\n\n\u2581\u2581\n<0x41>\n\u2581a\nab\nabc", []byte{1, 4, 4, 6, 5, 5, 5}, []byte{9, 9, 9, 9, 9, 8, 7}, uint8(6), "A  abc  a")
	f.Fuzz(func(t *testing.T, tokens string, types, scores []byte, flags uint8, text string) {
		s := &source{model: modelSPM, tokens: splitList(tokens)}
		for _, b := range types {
			s.types = append(s.types, int32(b%8))
		}
		for _, b := range scores {
			s.scores = append(s.scores, float32(int8(b))/3)
		}
		if len(scores) > 0 && scores[0] == 255 {
			s.scores[0] = float32(math.NaN())
		}
		s.spacing = spacing{prefix: flags&1 != 0, single: flags&2 != 0}
		s.phi3 = flags&4 != 0
		s.unknown = int32(slices.Index(s.types, typeUnknown))
		if checkScores(s.scores, s.tokens.n) != nil || s.check() != nil {
			return
		}
		n := allocated(func() {
			k, err := newSPM(s)
			if err != nil {
				return
			}
			if _, err := spmJSON(k); err != nil && !strings.Contains(err.Error(), "hf tokenizer") {
				t.Error(err)
			}
			ids, err := k.Encode(text)
			if err != nil {
				return
			}
			if back, err := k.Decode(ids); err != nil || !utf8.ValidString(back) {
				t.Errorf("ids %v: %q, %v", ids, back, err)
			}
		})
		if n > maxAlloc {
			t.Errorf("%d bytes of metadata and %d of text made %d bytes of memory", len(tokens)+len(types), len(text), n)
		}
	})
}

// TestSPMAllocations: the worst that texts of 1 MiB can do.
func TestSPMAllocations(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIP: takes seconds; run without -short")
	}
	const limit = 96 << 20 // a character that is to be merged takes 40 bytes
	all := trainedSPM(t)
	for _, part := range []string{"z", "the", " ", "é", "\n\n", "<ud>", "<s>", "<s", "\U0001F600", "=", "aab"} {
		text := strings.Repeat(part, 1<<20/len(part))
		for name, k := range all {
			n := allocated(func() {
				if _, err := k.Encode(text); err != nil {
					t.Errorf("%s, %q: %v", name, part, err)
				}
			})
			if n > limit {
				t.Errorf("%s, %q: 1 MiB of text made %d MiB of memory", name, part, n>>20)
			}
		}
	}
}

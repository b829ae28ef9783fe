package tokenizer

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// small makes tokenizer data with a token for every byte, numbered as the
// bytes, then one for each merge, then the special ones (type 3).
func small(pre string, merges []string, special ...string) *source {
	var tokens []string
	var types []int32
	for _, r := range byteRunes {
		tokens, types = append(tokens, string(r)), append(types, typeNormal)
	}
	for _, m := range merges {
		t := strings.Replace(m, " ", "", 1)
		if !slices.Contains(tokens, t) {
			tokens, types = append(tokens, t), append(types, typeNormal)
		}
	}
	s := &source{pre: pre}
	for _, t := range special {
		s.specIDs = append(s.specIDs, int32(len(tokens)))
		tokens, types = append(tokens, t), append(types, typeControl)
	}
	s.tokens = list{len(tokens), slices.All(tokens)}
	s.merges = list{len(merges), slices.All(merges)}
	s.types = types
	return s
}

func smallEncoder(t testing.TB, s *source) *encoder {
	t.Helper()
	e, err := newEncoder(s)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// spell returns ids as token texts with spaces between.
func spell(e *encoder, ids []int32) string {
	var texts []string
	for _, id := range ids {
		texts = append(texts, e.tokens.at(id))
	}
	return strings.Join(texts, " ")
}

func TestMergeOrder(t *testing.T) {
	for _, c := range []struct {
		merges     []string
		text, want string
	}{
		{[]string{"a b", "b c", "ab c"}, "abc", "abc"},
		{[]string{"b c", "a b"}, "abc", "a bc"},
		{[]string{"b c", "a b", "a bc"}, "abcab", "abc ab"},
		{[]string{"a a"}, "aaaaa", "aa aa a"},
		{[]string{"a a", "aa a"}, "aaaaa", "aa aaa"},
		{[]string{"a a", "aa aa"}, "aaaaaaa", "aaaa aa a"},
		{[]string{"a b", "ab ab", "c a"}, "cabab", "c abab"},
		{[]string{"c a", "a b", "ca b"}, "cabab", "cab ab"},
		{[]string{"Ġ a", "b c"}, "a a bc", "a Ġa Ġ bc"},
		{nil, "né", "n Ã ©"},
	} {
		e := smallEncoder(t, small("gpt-2", c.merges))
		ids, err := e.Encode(c.text)
		if got := spell(e, ids); err != nil || got != c.want {
			t.Errorf("merges %q on %q: got %q, %v; want %q", c.merges, c.text, got, err, c.want)
		}
	}
}

// naive merges a word as the definition says: find the lowest rank, join its
// leftmost pair, begin again.
func naive(ranks map[string]int, word string) (parts []string) {
	for i := range len(word) {
		parts = append(parts, string(byteRunes[word[i]]))
	}
	for {
		best, at := len(ranks), -1
		for i := 0; i+1 < len(parts); i++ {
			if r, ok := ranks[parts[i]+" "+parts[i+1]]; ok && r < best {
				best, at = r, i
			}
		}
		if at < 0 {
			return parts
		}
		parts = slices.Replace(parts, at, at+2, parts[at]+parts[at+1])
	}
}

func TestMergeAgainstDefinition(t *testing.T) {
	r := random(7)
	for range 300 {
		// Random merges of what is there already.
		texts := []string{"a", "b", "c"}
		var merges []string
		ranks := map[string]int{}
		for range r.between(1, 25) {
			m := pick(&r, texts) + " " + pick(&r, texts)
			if _, there := ranks[m]; there {
				continue
			}
			ranks[m] = len(merges)
			merges = append(merges, m)
			if t := strings.Replace(m, " ", "", 1); !slices.Contains(texts, t) {
				texts = append(texts, t)
			}
		}
		e := smallEncoder(t, small("gpt-2", merges))
		for range 20 {
			word := r.several(1, 40, stringOf([]string{"a", "b", "c"}))
			ids, err := e.Encode(word)
			want := strings.Join(naive(ranks, word), " ")
			if got := spell(e, ids); err != nil || got != want {
				t.Fatalf("merges %q on %q: got %q, %v; want %q", merges, word, got, err, want)
			}
		}
	}
}

// TestIgnoreMerges: with Llama 3's pre-tokenizer a word that is a token is that
// token even if no merges lead to it.
func TestIgnoreMerges(t *testing.T) {
	for pre, want := range map[string]string{"llama-bpe": "Ġabc", "gpt-2": "Ġa b c"} {
		s := small(pre, []string{"Ġ a", "Ġab c"}) // nothing makes "Ġab"
		e := smallEncoder(t, s)
		ids, err := e.Encode(" abc")
		if got := spell(e, ids); err != nil || got != want {
			t.Errorf("%s: got %q, %v; want %q", pre, got, err, want)
		}
	}
}

// TestOneWord: a word of 1 MiB takes time in proportion, not its square: at
// the speed of the naive way it would take hours. The limit leaves room for a
// busy machine; it takes half a second.
func TestOneWord(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIP: takes seconds; run without -short")
	}
	var merges []string
	for n := 1; n <= 64; n *= 2 {
		merges = append(merges, strings.Repeat("a", n)+" "+strings.Repeat("a", n))
	}
	for _, pre := range []string{"smollm", "llama-bpe"} {
		e := smallEncoder(t, small(pre, merges))
		start := time.Now()
		ids, err := e.Encode(strings.Repeat("a", 1<<20))
		if err != nil || len(ids) != 1<<20/128 {
			t.Errorf("%s: %d ids, %v; want %d", pre, len(ids), err, 1<<20/128)
		}
		if d := time.Since(start); d > time.Minute {
			t.Errorf("%s: 1 MiB in one word took %v", pre, d)
		}
	}
}

func TestMergeWithoutToken(t *testing.T) {
	s := small("gpt-2", []string{"a b"})
	merges := []string{"a b", "b c"}
	s.merges = list{len(merges), slices.All(merges)}
	e := smallEncoder(t, s)
	if _, err := e.Encode("ab"); err != nil {
		t.Error(err)
	}
	want := fmt.Sprintf("%s: merge 1, %q, makes no token", keyMerges, "b c")
	if _, err := e.Encode("xbc"); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want an error with %q", err, want)
	}
}

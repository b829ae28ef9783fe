package tokenizer

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/introgen/introgen/engine/gguf"
	"github.com/introgen/introgen/models"
	"github.com/introgen/introgen/models/modeltest"
)

// The files of testdata hold what HuggingFace's library answers for the corpus,
// with the vocabulary of SmolLM2 and each of the pre-tokenizers. They are
// written by
//
//	go test -tags hf ./engine/tokenizer -run TestHFCorpus -update
const (
	digestFile   = "testdata/corpus.tsv"      // pre-tokenizer, first line of a chunk, digest of its ids
	explicitFile = "testdata/explicit.ndjson" // some of the corpus, with ids
	chunkLines   = 200
)

// oraclePres are the pre-tokenizers whose ids the tests hold equal to hf's: all that
// say so, by the first of their names.
var oraclePres = func() (names []string) {
	for _, name := range []string{"smollm", "gpt-2", "llama-bpe", "qwen2", "default"} { // first those, in the order of testdata
		if p, err := findPreTokenizer(name); err == nil && p.equal {
			names = append(names, name)
		}
	}
	for _, p := range preTokenizers {
		if p.equal && !slices.Contains(names, p.names[0]) {
			names = append(names, p.names[0])
		}
	}
	return names
}()

// explicit is a line of explicitFile.
type explicit struct {
	Pre  string
	Text string
	IDs  []int32
}

// withSource calls use with the real model's tokenizer data, as if its
// pre-tokenizer were pre.
func withSource(t testing.TB, pre string, use func(*source)) {
	t.Helper()
	f, err := gguf.Open(modeltest.Path(t, models.StandIn), gguf.MMap)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	_, err = load(f, func(s *source) (any, error) {
		s.pre = pre
		use(s)
		return nil, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// realEncoder returns the real model's tokenizer with the pre-tokenizer pre.
func realEncoder(t testing.TB, pre string) (e *encoder) {
	t.Helper()
	withSource(t, pre, func(s *source) {
		var err error
		if e, err = newEncoder(s); err != nil {
			t.Fatal(err)
		}
	})
	return e
}

// digest is of ids written in decimal with spaces between, a line a text.
func digest(ids [][]int32) string {
	h := sha256.New()
	for _, line := range ids {
		for _, id := range line {
			fmt.Fprintf(h, "%d ", id)
		}
		fmt.Fprintln(h)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

func encodeAll(t *testing.T, k Tokenizer, lines []string) [][]int32 {
	t.Helper()
	all := make([][]int32, len(lines))
	for i, line := range lines {
		ids, err := k.Encode(line)
		if err != nil {
			t.Fatalf("%s: line %d %q: %v", k.Name(), i, line, err)
		}
		all[i] = ids
	}
	return all
}

func TestCorpusAgainstHF(t *testing.T) {
	want := readDigests(t)
	lines := corpus()
	if len(lines) < 20000 {
		t.Fatalf("the corpus has %d lines, fewer than 20,000", len(lines))
	}
	for _, pre := range oraclePres {
		t.Run(pre, func(t *testing.T) {
			k := realEncoder(t, pre)
			for at := 0; at < len(lines); at += chunkLines {
				got := digest(encodeAll(t, k, lines[at:at+chunkLines]))
				if want := want[fmt.Sprint(pre, "\t", at)]; got != want {
					t.Errorf("lines %d to %d: digest of ids %s, want %s", at, at+chunkLines-1, got, want)
				}
			}
		})
	}
}

func readDigests(t *testing.T) map[string]string {
	t.Helper()
	f, err := os.Open(digestFile)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	digests := map[string]string{}
	for s := bufio.NewScanner(f); s.Scan(); {
		i := strings.LastIndexByte(s.Text(), '\t')
		digests[s.Text()[:i]] = s.Text()[i+1:]
	}
	return digests
}

func TestExplicitAgainstHF(t *testing.T) {
	f, err := os.Open(explicitFile)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	encoders := map[string]*encoder{}
	for _, pre := range oraclePres {
		encoders[pre] = realEncoder(t, pre)
	}
	d := json.NewDecoder(f)
	n := 0
	for ; d.More(); n++ {
		var e explicit
		if err := d.Decode(&e); err != nil {
			t.Fatal(err)
		}
		got, err := encoders[e.Pre].Encode(e.Text)
		if err != nil || !slices.Equal(got, e.IDs) {
			t.Errorf("%s %q:\n got %v, %v\nwant %v", e.Pre, e.Text, got, err, e.IDs)
		}
	}
	if n < 300 {
		t.Errorf("%s has %d texts, fewer than 300", explicitFile, n)
	}
}

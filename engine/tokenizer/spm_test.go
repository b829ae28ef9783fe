package tokenizer

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/introgen/introgen/engine/gguf"
	"github.com/introgen/introgen/models/modeltest"
)

var updateSPM = flag.Bool("update-spm", false, "train the vocabularies of testdata/spm anew and ask SentencePiece for their ids: see "+spmScript)

var alsoSPM = flag.String("also-spm", "", "with -update-spm: GGUF files of real models, with commas between them, whose vocabularies are asked for too; of gemmaFile the digests are written")

const (
	spmScript  = "scripts/reference/sentencepiece_ids.py"
	spmFolder  = "testdata/spm"
	spmDigests = "testdata/spm/ids.tsv" // vocabulary, first line of a chunk, digests of ids and of the texts that they decode to
	spmLines   = 6000
)

// gemmaFile is Gemma 3 270M, the real model among those of testdata.
const gemmaFile = "gemma-3-270m-q4_k_m.gguf"

// spmVocabularies are those that the script trains.
var spmVocabularies = []string{"prefix", "plain", "unknown"}

// spmTexts are the first of the corpus, and some in which user-defined tokens stand.
func spmTexts() []string {
	r := random(20261130)
	parts := strings.Split("<ud>|the|'s|ing|<b>|\n|\n\n|\t\t|\t|  |    | |\u2581|a|sing|thething|é|ש|<u|d>|<0x0A>|<s|s>x", "|")
	texts := corpus()[:spmLines-600]
	for len(texts) < spmLines {
		texts = append(texts, r.several(1, 12, mix(stringOf(parts), stringOf(parts), stringOf(words1))))
	}
	return texts
}

// askSentencePiece runs the script.
func askSentencePiece(t *testing.T, texts []string, args ...string) []byte {
	t.Helper()
	var in bytes.Buffer
	e := json.NewEncoder(&in)
	for _, text := range texts {
		if err := e.Encode(text); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.Command("python3", append([]string{filepath.Join("../..", spmScript)}, args...)...)
	var errs bytes.Buffer
	c.Stdin, c.Stderr = &in, &errs
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, errs.String())
	}
	return out
}

// spmAnswer is a line of the script's.
type spmAnswer struct {
	IDs  []int32
	Text string
}

func spmAnswers(t *testing.T, vocabulary string, texts []string) (all []spmAnswer) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(askSentencePiece(t, texts, "answer", vocabulary)))
	for d.More() {
		var a spmAnswer
		if err := d.Decode(&a); err != nil {
			t.Fatal(err)
		}
		all = append(all, a)
	}
	if len(all) != len(texts) {
		t.Fatalf("%d answers to %d texts", len(all), len(texts))
	}
	return all
}

func openSPM(t testing.TB, path string) *spm {
	t.Helper()
	f, err := gguf.Open(path, gguf.MMap)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	c, err := Choose(f, "auto")
	if err != nil {
		t.Fatal(err)
	}
	return c.Tokenizer.(*spm)
}

// TestSentencePieceAnew trains the vocabularies and writes what SentencePiece answers.
func TestSentencePieceAnew(t *testing.T) {
	if !*updateSPM {
		t.Skip("SKIP: needs -update-spm, and the Python packages that " + spmScript + " names")
	}
	texts := spmTexts()
	askSentencePiece(t, texts, "train", spmFolder)
	files := map[string]string{}
	for _, name := range spmVocabularies {
		files[name] = filepath.Join(spmFolder, name+".gguf")
	}
	for path := range strings.SplitSeq(*alsoSPM, ",") {
		if path != "" {
			files[filepath.Base(path)] = path
		}
	}
	digests := map[string]string{gemmaFile: writtenOf(t, gemmaFile)}
	for name, path := range files {
		t.Run(name, func(t *testing.T) {
			answers := spmAnswers(t, path, texts)
			compareSPM(t, openSPM(t, path), texts, answers)
			digests[name] = ""
			for at := 0; at < len(texts); at += chunkLines {
				ids, decoded := digestsOf(answers[at : at+chunkLines])
				digests[name] += fmt.Sprintf("%s\t%d\t%s\t%s\n", name, at, ids, decoded)
			}
		})
	}
	var all strings.Builder
	for _, name := range append(slices.Clone(spmVocabularies), gemmaFile) {
		all.WriteString(digests[name])
	}
	if !t.Failed() {
		if err := os.WriteFile(spmDigests, []byte(all.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// writtenOf returns the lines of a vocabulary in spmDigests, each with its line break.
func writtenOf(t *testing.T, name string) (lines string) {
	t.Helper()
	b, err := os.ReadFile(spmDigests)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if strings.HasPrefix(line, name+"\t") {
			lines += line
		}
	}
	return lines
}

func digestsOf(answers []spmAnswer) (ids, texts string) {
	var all, decoded [][]int32
	for _, a := range answers {
		all = append(all, a.IDs)
		decoded = append(decoded, []rune(a.Text))
	}
	return digest(all), digest(decoded)
}

// compareSPM holds ids and decoded texts equal to SentencePiece's, which does not see
// control tokens in a text.
func compareSPM(t *testing.T, k *spm, texts []string, want []spmAnswer) {
	t.Helper()
	bad, compared := 0, 0
	for i, text := range texts {
		if _, _, id := k.control.next(text); id >= 0 {
			continue
		}
		compared++
		ids, err := k.Encode(text)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		back, err := k.Decode(ids)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(ids, want[i].IDs) || back != want[i].Text {
			if bad++; bad <= 10 {
				t.Errorf("text %d, %q:\n got %v %q\nwant %v %q", i, text, ids, back, want[i].IDs, want[i].Text)
			}
		}
	}
	t.Logf("%d texts compared, %d differ", compared, bad)
}

// TestSentencePiece: ids and what they decode to are SentencePiece's, by the digests
// that TestSentencePieceAnew wrote. Texts that name a control token are not among them.
func TestSentencePiece(t *testing.T) {
	for _, name := range spmVocabularies {
		t.Run(name, func(t *testing.T) { holdSPM(t, name, filepath.Join(spmFolder, name+".gguf")) })
	}
	t.Run("gemma", func(t *testing.T) { holdSPM(t, gemmaFile, modeltest.Path(t, gemmaFile)) })
}

func holdSPM(t *testing.T, name, path string) {
	t.Helper()
	k := openSPM(t, path)
	var all []spmAnswer
	for _, text := range spmTexts() {
		ids, err := k.Encode(text)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		back, err := k.Decode(ids)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, spmAnswer{ids, back})
	}
	n := 0
	for line := range strings.Lines(writtenOf(t, name)) {
		n++
		var at int
		var wantIDs, wantTexts string
		if _, err := fmt.Sscan(strings.TrimPrefix(line, name), &at, &wantIDs, &wantTexts); err != nil {
			t.Fatal(err)
		}
		if ids, texts := digestsOf(all[at : at+chunkLines]); ids != wantIDs || texts != wantTexts {
			t.Errorf("texts %d to %d: digests of ids and decoded texts %s %s, want %s %s", at, at+chunkLines-1, ids, texts, wantIDs, wantTexts)
		}
	}
	if want := spmLines / chunkLines; n != want {
		t.Errorf("%d chunks of texts, want %d", n, want)
	}
}

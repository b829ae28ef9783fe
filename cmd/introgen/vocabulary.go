package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/introgen/introgen/bench"
	"github.com/introgen/introgen/engine/gguf"
	"github.com/introgen/introgen/engine/tokenizer"
	"github.com/introgen/introgen/results/recording"
	"github.com/urfave/cli/v2"
)

// vocabulary makes ids of texts and texts of ids, as a model's file says.
type vocabulary struct {
	file  *gguf.File
	note  func(text string)
	tok   tokenizer.Tokenizer // nil where there is none: then texts are not available
	adds  tokenizer.Additions // what the file wants around a text
	auto  bool                // whether tok may be exchanged for another of the same ids
	taken []string            // marks that become tokens though the file has them as ordinary ones
	why   string              // why auto is tok, as it stands behind "since"
}

func tokenizerFlag() cli.Flag {
	return &cli.StringFlag{Name: "tokenizer", Usage: "go, hf (Hugging Face's, where it is built in), or auto: go where tests hold its ids equal to hf's, else hf where it is there and takes the vocabulary", Value: "auto"}
}

// readTokenizer reads which kind --tokenizer asks for.
func readTokenizer(c *cli.Context) (kind string, err error) {
	if kind = c.String("tokenizer"); !slices.Contains(tokenizer.Kinds, kind) {
		return "", usagef("--tokenizer %q is not known: auto, go or hf is wanted", kind)
	}
	return kind, nil
}

// newVocabulary makes the tokenizer of that kind, and says where go stands in for
// hf.
func newVocabulary(f *gguf.File, kind string, note func(text string)) (*vocabulary, error) {
	t, err := tokenizer.Choose(f, kind)
	if err != nil {
		return nil, err
	}
	if t.Declined != nil {
		note(fmt.Sprintf("the tokenizer go is used: %v", t.Declined))
	}
	return &vocabulary{file: f, note: note, tok: t.Tokenizer, auto: kind == "auto", why: t.Why, taken: t.Taken}, nil
}

// vocabularyFor is the vocabulary of a run that is given a text, or else ids, and
// says what it assumes. Of ids, a vocabulary that introgen does not know only
// costs the text, unless a tokenizer is asked for by name.
func vocabularyFor(ids bool, f *gguf.File, kind string, note func(text string)) (*vocabulary, error) {
	for _, line := range tokenizer.Ignored(f) {
		note(line)
	}
	v, err := newVocabulary(f, kind, note)
	switch {
	case err != nil && ids && kind != "hf":
		note(fmt.Sprintf("the text of the new ids is not available: %v", err))
		return &vocabulary{file: f, note: note}, nil
	case err != nil && ids:
		return nil, fmt.Errorf("%w; --tokenizer auto runs ids without a tokenizer", err)
	case err != nil:
		return nil, fmt.Errorf("%w; --prompt-ids runs without a tokenizer", err)
	case ids:
		return v, nil
	}
	return v, v.assume()
}

// assume says what the ids of a text rest on, and reads what is added to one.
func (v *vocabulary) assume() error {
	lines, err := tokenizer.Assumed(v.file)
	for _, line := range lines {
		v.note(line)
	}
	if err == nil {
		v.adds, err = tokenizer.ReadAdditions(v.file)
	}
	return err
}

// exchange replaces hf by go, which gives the same ids and takes more texts, where
// the user has left the choice open.
func (v *vocabulary) exchange(why error) bool {
	other := tokenizer.Go(v.tok)
	if !v.auto || other == v.tok {
		return false
	}
	v.note(fmt.Sprintf("the tokenizer go is used from here on: %v", why))
	v.tok, v.why = other, "hf does not take the text"
	return true
}

// encode returns the ids of a prompt, and says of which tokens the file says another
// type.
func (v *vocabulary) encode(text string) ([]int32, error) {
	for _, mark := range v.taken {
		if strings.Contains(text, mark) {
			v.note(fmt.Sprintf("%s in the prompt becomes one token, as in llama.cpp, though the file has it as an ordinary one (tokenizer.ggml.token_type)", mark))
		}
	}
	ids, err := bench.EncodePrompt(v.tok, v.adds, text)
	if err == nil {
		return ids, nil
	}
	if other := tokenizer.Go(v.tok); other != v.tok {
		if _, bad := bench.EncodePrompt(other, v.adds, text); bad == nil && v.exchange(err) {
			return bench.EncodePrompt(v.tok, v.adds, text)
		}
	}
	return nil, err
}

// name is what the tokenizer is called, or that there is none.
func (v *vocabulary) name() string {
	if v.tok == nil {
		return recording.NoTokenizer
	}
	return v.tok.Name()
}

// decode returns the text of new ids, "" where there is no tokenizer.
func (v *vocabulary) decode(ids []int32) (string, error) {
	if v.tok == nil {
		return "", nil
	}
	text, err := v.tok.Decode(ids)
	if err == nil {
		return text, nil
	}
	if other, bad := tokenizer.Go(v.tok).Decode(ids); bad == nil && v.exchange(err) {
		return other, nil
	}
	return "", err
}

// size is the number of tokens that ids may name: the tokenizer's, or the
// rows of the embedding where there is none.
func (v *vocabulary) size() int {
	if v.tok != nil {
		return v.tok.VocabSize()
	}
	return rows(v.file)
}

func rows(f *gguf.File) int {
	if t, ok := f.Tensor("token_embd.weight"); ok && len(t.Dims) >= 2 {
		return int(min(t.Dims[1], math.MaxInt32))
	}
	return math.MaxInt32 // loading the model will say what is missing
}

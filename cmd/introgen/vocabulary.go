package main

import (
	"fmt"
	"math"

	"github.com/introgen/introgen/bench"
	"github.com/introgen/introgen/engine/gguf"
	"github.com/introgen/introgen/engine/tokenizer"
	"github.com/urfave/cli/v2"
)

// chooseTokenizer makes the tokenizer that --tokenizer asks for, and says what it
// assumes. Where the prompt is given as ids, a vocabulary that introgen does not
// know only costs the text, unless a tokenizer is asked for by name.
func (g *generation) chooseTokenizer(c *cli.Context, kind string) error {
	for _, line := range tokenizer.Ignored(g.tokFile) {
		g.note(line)
	}
	err := g.makeTokenizer(kind)
	ids := c.IsSet("prompt-ids")
	switch {
	case err != nil && ids && kind != "hf":
		g.note(fmt.Sprintf("the text of the new ids is not available: %v", err))
		return nil
	case err != nil && ids:
		return fmt.Errorf("%w; --tokenizer auto runs ids without a tokenizer", err)
	case err != nil:
		return fmt.Errorf("%w; --prompt-ids runs without a tokenizer", err)
	case ids:
		return nil
	}
	return g.assume()
}

// makeTokenizer makes the tokenizer, and says where go stands in for hf.
func (g *generation) makeTokenizer(kind string) error {
	t, declined, err := tokenizer.Choose(g.tokFile, kind)
	if err != nil {
		return err
	}
	if declined != nil {
		g.note(fmt.Sprintf("the tokenizer go is used: %v", declined))
	}
	g.tok, g.auto = t, kind == "auto"
	return nil
}

// assume says what the ids of a text rest on.
func (g *generation) assume() error {
	lines, err := tokenizer.Assumed(g.tokFile)
	for _, line := range lines {
		g.note(line)
	}
	return err
}

// exchange replaces hf by go, which gives the same ids and takes more texts, where
// the user has left the choice open.
func (g *generation) exchange(why error) bool {
	other := tokenizer.Go(g.tok)
	if !g.auto || other == g.tok {
		return false
	}
	g.note(fmt.Sprintf("the tokenizer go is used from here on: %v", why))
	g.tok = other
	return true
}

// encode returns the ids of a prompt.
func (g *generation) encode(text string) ([]int32, error) {
	ids, err := bench.EncodePrompt(g.tok, text)
	if err == nil {
		return ids, nil
	}
	if other := tokenizer.Go(g.tok); other != g.tok {
		if _, bad := bench.EncodePrompt(other, text); bad == nil && g.exchange(err) {
			return bench.EncodePrompt(g.tok, text)
		}
	}
	return nil, err
}

// decode returns the text of new ids, "" where there is no tokenizer.
func (g *generation) decode(ids []int32) (string, error) {
	if g.tok == nil {
		return "", nil
	}
	text, err := g.tok.Decode(ids)
	if err == nil {
		return text, nil
	}
	if other, bad := tokenizer.Go(g.tok).Decode(ids); bad == nil && g.exchange(err) {
		return other, nil
	}
	return "", err
}

// vocabulary is the number of tokens that ids may name: the tokenizer's, or the
// rows of the embedding where there is none.
func (g *generation) vocabulary() int {
	if g.tok != nil {
		return g.tok.VocabSize()
	}
	return rows(g.tokFile)
}

func rows(f *gguf.File) int {
	if t, ok := f.Tensor("token_embd.weight"); ok && len(t.Dims) >= 2 {
		return int(min(t.Dims[1], math.MaxInt32))
	}
	return math.MaxInt32 // loading the model will say what is missing
}

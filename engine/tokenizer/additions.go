package tokenizer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/introgen/introgen/engine/gguf"
)

// The metadata keys of the tokens around a text.
const (
	keyBOS    = "tokenizer.ggml.bos_token_id"
	keyEOS    = "tokenizer.ggml.eos_token_id"
	keyAddBOS = "tokenizer.ggml.add_bos_token"
	keyAddEOS = "tokenizer.ggml.add_eos_token"
)

// Additions are the tokens that a file wants around a text, which Encode does not
// add: the one at its beginning (BOS) and the one at its end (EOS).
type Additions struct {
	BOS, EOS         int32 // -1 where the vocabulary has none
	AddBOS, AddEOS   bool
	BOSText, EOSText string // as the vocabulary spells them; "" where it has none
}

// ReadAdditions reads them. Where a key is missing it has llama.cpp's default: for
// SPM tokens 1 and 2, and BOS is added; for byte-level BPE nothing is added, but BOS
// by those pre-tokenizers whose models begin with it. One default differs: a BPE
// vocabulary without the key of a token has none here, where llama.cpp takes Falcon's
// token 11.
func ReadAdditions(f *gguf.File) (a Additions, err error) {
	err = gguf.Fault(func() error {
		if err := f.CheckWhole(); err != nil {
			return err
		}
		a, err = readAdditions(f)
		return err
	})
	if err != nil {
		return Additions{}, fmt.Errorf("tokenizer of %s: %w", f.Path, err)
	}
	return a, nil
}

func readAdditions(f *gguf.File) (Additions, error) {
	none := Additions{}
	model, given, err := f.String(keyModel)
	switch {
	case err != nil:
		return none, err
	case !given:
		return none, missing(keyModel)
	}
	tokens, err := requireStrings(f, keyTokens)
	if err != nil {
		return none, err
	}
	a := Additions{BOS: -1, EOS: -1}
	implied := false // AddBOS, where the file does not say
	switch model {
	case modelSPM:
		a.BOS, a.EOS, implied = 1, 2, true
	case modelBPE:
		pre, _, err := f.String(keyPre)
		if err != nil {
			return none, err
		}
		implied = slices.Contains(preWithBOS, pre)
	default:
		return none, unknownModel(model)
	}
	if a.BOS, err = readSpecial(f, keyBOS, a.BOS, tokens.n); err != nil {
		return none, err
	}
	if a.EOS, err = readSpecial(f, keyEOS, a.EOS, tokens.n); err != nil {
		return none, err
	}
	if a.AddBOS, err = readAdd(f, keyAddBOS, keyBOS, a.BOS, implied); err != nil {
		return none, err
	}
	if a.AddEOS, err = readAdd(f, keyAddEOS, keyEOS, a.EOS, false); err != nil {
		return none, err
	}
	for id, text := range tokens.all {
		if id == int(a.BOS) {
			a.BOSText = strings.Clone(text)
		}
		if id == int(a.EOS) {
			a.EOSText = strings.Clone(text)
		}
		if id >= int(max(a.BOS, a.EOS)) {
			break
		}
	}
	return a, nil
}

// preWithBOS are the pre-tokenizers with which llama.cpp adds BOS where the file
// does not say (load in src/llama-vocab.cpp).
var preWithBOS = []string{
	"llama3", "llama-v3", "llama-bpe", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2", "jina-v5-nano", "tekken", "chameleon",
}

// readSpecial reads the id of a token, of a vocabulary of n. A default that the
// vocabulary is too small for is no token.
func readSpecial(f *gguf.File, key string, byDefault int32, n int) (int32, error) {
	id, given, err := f.Uint32(key)
	switch {
	case err != nil:
		return 0, err
	case given && int64(id) >= int64(n):
		return 0, fmt.Errorf("%s is %d; the vocabulary has the tokens 0 to %d", key, id, n-1)
	case given:
		return int32(id), nil
	case int(byDefault) >= n:
		return -1, nil
	}
	return byDefault, nil
}

// readAdd reads whether a token is added, which must be there if the file says so.
func readAdd(f *gguf.File, key, keyID string, id int32, implied bool) (bool, error) {
	add, given, err := f.Bool(key)
	switch {
	case err != nil:
		return false, err
	case !given:
		return implied && id >= 0, nil
	case add && id < 0:
		return false, fmt.Errorf("%s is true and metadata %s is missing: which token to add is not known", key, keyID)
	}
	return add, nil
}

// Around returns ids with the tokens that are to be added, where they are not there
// yet: a text that begins with BOS, as many chat templates do, gets no second one.
func (a Additions) Around(ids []int32) []int32 {
	all := make([]int32, 0, len(ids)+2)
	if a.AddBOS && (len(ids) == 0 || ids[0] != a.BOS) {
		all = append(all, a.BOS)
	}
	all = append(all, ids...)
	if a.AddEOS && (len(ids) == 0 || ids[len(ids)-1] != a.EOS) {
		all = append(all, a.EOS)
	}
	return all
}

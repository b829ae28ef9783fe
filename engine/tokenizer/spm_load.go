package tokenizer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/introgen/introgen/engine/gguf"
)

// keyName is the model's name.
const keyName = "general.name"

// readSPM reads what SPM needs besides tokens and their types. Where a key is missing
// it has llama.cpp's default, and scores must be there.
func (s *source) readSPM(f *gguf.File) (err error) {
	if _, given := f.Get(keyCharsmap); given {
		return errCharsmap
	}
	if s.scores, err = readScores(f); err != nil {
		return err
	}
	if err := checkScores(s.scores, s.tokens.n); err != nil {
		return err
	}
	var given bool
	if s.spacing.prefix, given, err = f.Bool(keySpacePrefix); err != nil {
		return err
	} else if !given {
		s.spacing.prefix = true
	}
	if s.spacing.single, _, err = f.Bool(keySingle); err != nil {
		return err
	}
	name, _, err := f.String(keyName)
	if err != nil {
		return err
	}
	name = strings.ToLower(name)
	s.phi3 = strings.Contains(name, "phi-3") || strings.Contains(name, "phi3")
	s.unknown, err = readSpecial(f, keyUnknown, int32(slices.Index(s.types, typeUnknown)), s.tokens.n)
	return err
}

func readScores(f *gguf.File) ([]float32, error) {
	v, given := f.Get(keyScores)
	if !given {
		return nil, missing(keyScores)
	}
	if scores, ok := v.Float32s(); ok {
		return scores, nil
	}
	whole, ok := v.Int32s() // as llama.cpp takes them too
	if !ok {
		return nil, fmt.Errorf("%s must be an array of F32 or I32", keyScores)
	}
	scores := make([]float32, len(whole))
	for i, score := range whole {
		scores[i] = float32(score)
	}
	return scores, nil
}

//go:build hf && cgo

package tokenizer

import (
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/daulet/tokenizers"
)

// hfSPM is HuggingFace's BPE over an SPM vocabulary. Control tokens, spaces and
// decoding are those of the tokenizer in Go; the library finds user-defined tokens,
// merges, and falls back on bytes.
type hfSPM struct {
	*spm
	lib *tokenizers.Tokenizer
}

func newHFSPM(s *source) (Tokenizer, error) {
	k, err := newSPM(s)
	if err != nil {
		return nil, err
	}
	doc, err := spmJSON(k)
	if err != nil {
		return nil, err
	}
	lib, err := newLibrary(doc, map[string]*index{keyTokens: k.tokens})
	if err != nil {
		return nil, err
	}
	t := &hfSPM{spm: k, lib: lib}
	runtime.AddCleanup(t, func(lib *tokenizers.Tokenizer) { lib.Close() }, lib)
	return t, nil
}

// inGo implements Go.
func (t *hfSPM) inGo() Tokenizer { return t.spm }

// Name returns "hf".
func (t *hfSPM) Name() string { return "hf" }

// Encode implements Tokenizer.
func (t *hfSPM) Encode(text string) ([]int32, error) {
	if i := strings.IndexByte(text, 0); i >= 0 {
		return nil, fmt.Errorf("text has a NUL byte at offset %d, which the hf tokenizer cannot take; the tokenizer go can", i)
	}
	return t.each(text, func(ids []int32, part string) ([]int32, error) {
		if part == "" {
			return ids, nil
		}
		enc := t.lib.EncodeWithOptions(part, false)
		runtime.KeepAlive(t)
		if len(enc.IDs) == 0 {
			return nil, errors.New("the hf tokenizer failed to encode the text")
		}
		for _, id := range enc.IDs {
			ids = append(ids, int32(id))
		}
		return ids, nil
	})
}

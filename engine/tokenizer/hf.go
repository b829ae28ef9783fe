//go:build hf && cgo

package tokenizer

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"

	"github.com/daulet/tokenizers"

	"github.com/introgen/introgen/engine/gguf"
)

const hfBuiltIn = true

// hf is HuggingFace's tokenizers library. Its C interface carries no errors,
// so what it would drop, cut off or replace is refused before it is asked, by
// the rules of the encoder in Go.
type hf struct {
	*encoder
	lib *tokenizers.Tokenizer
}

func newHF(f *gguf.File) (Tokenizer, error) {
	return load(f, func(s *source) (Tokenizer, error) {
		if s.model == modelSPM {
			return newHFSPM(s)
		}
		e, err := newEncoder(s)
		if err != nil {
			return nil, err
		}
		return newHFFrom(s, e)
	})
}

// newHFFrom returns the library's tokenizer of what e was made from too.
func newHFFrom(s *source, e *encoder) (Tokenizer, error) {
	doc, err := tokenizerJSON(s, e)
	if err != nil {
		return nil, err
	}
	lib, err := newLibrary(doc, map[string]*index{keyTokens: e.tokens, keyMerges: e.merges})
	if err != nil {
		return nil, err
	}
	t := &hf{encoder: e, lib: lib}
	runtime.AddCleanup(t, func(lib *tokenizers.Tokenizer) { lib.Close() }, lib)
	return t, nil
}

// newLibrary has the library read a tokenizer.json made of texts.
func newLibrary(doc []byte, made map[string]*index) (*tokenizers.Tokenizer, error) {
	// The library ends the process where it has an error to tell that holds a NUL byte.
	for key, texts := range made {
		if strings.IndexByte(texts.text, 0) >= 0 {
			return nil, fmt.Errorf("%s has a NUL byte, which the hf tokenizer does not take; the tokenizer go does", key)
		}
	}
	if uint64(len(doc)) > math.MaxUint32 {
		return nil, fmt.Errorf("tokenizer.json would have %d bytes; the hf tokenizer takes less than 4 GiB", len(doc))
	}
	lib, err := tokenizers.FromBytes(doc)
	if err != nil {
		return nil, fmt.Errorf("the hf tokenizer does not take the vocabulary: %w", err)
	}
	return lib, nil
}

// inGo implements Go.
func (t *hf) inGo() Tokenizer { return t.encoder }

// Name returns "hf".
func (t *hf) Name() string { return "hf" }

// Encode implements Tokenizer.
func (t *hf) Encode(text string) ([]int32, error) {
	if err := checkText(text); err != nil {
		return nil, err
	}
	if i := strings.IndexByte(text, 0); i >= 0 {
		return nil, fmt.Errorf("text has a NUL byte at offset %d, which the hf tokenizer cannot take; the tokenizer go can", i)
	}
	if err := t.checkBytes(text); err != nil {
		return nil, err
	}
	if text == "" {
		return []int32{}, nil
	}
	enc := t.lib.EncodeWithOptions(text, false)
	runtime.KeepAlive(t)
	if len(enc.IDs) == 0 {
		return nil, errors.New("the hf tokenizer failed to encode the text")
	}
	ids := make([]int32, len(enc.IDs))
	for i, id := range enc.IDs {
		ids[i] = int32(id)
	}
	return ids, nil
}

// checkBytes refuses text with a byte that has no token.
func (t *hf) checkBytes(text string) error {
	for s := range t.segments(text) {
		if s.id >= 0 {
			continue
		}
		part := t.normal(text, s)
		for i := range len(part) {
			if t.bytes[part[i]] < 0 {
				return t.noToken(part[i], s.start, i)
			}
		}
	}
	return nil
}

// Decode implements Tokenizer.
func (t *hf) Decode(ids []int32) (string, error) {
	if len(ids) == 0 {
		return "", nil
	}
	in := make([]uint32, len(ids))
	var b []byte
	for i, id := range ids {
		var err error
		if b, err = t.appendToken(b[:0], id); err != nil {
			return "", fmt.Errorf("decode: element %d: %w", i, err)
		}
		if strings.IndexByte(string(b), 0) >= 0 {
			return "", fmt.Errorf("decode: element %d: token %d has a NUL byte, which the hf tokenizer cannot return; the tokenizer go can", i, id)
		}
		in[i] = uint32(id)
	}
	text := t.lib.Decode(in, false)
	runtime.KeepAlive(t)
	return text, nil
}

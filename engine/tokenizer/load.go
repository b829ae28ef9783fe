package tokenizer

import (
	"errors"
	"fmt"
	"iter"

	"github.com/introgen/introgen/engine/gguf"
)

// The metadata keys that make a tokenizer.
const (
	keyModel       = "tokenizer.ggml.model"
	keyPre         = "tokenizer.ggml.pre"
	keyTokens      = "tokenizer.ggml.tokens"
	keyTypes       = "tokenizer.ggml.token_type"
	keyMerges      = "tokenizer.ggml.merges"
	keyScores      = "tokenizer.ggml.scores"
	keyUnknown     = "tokenizer.ggml.unknown_token_id"
	keyCharsmap    = "tokenizer.ggml.precompiled_charsmap"
	keySingle      = "tokenizer.ggml.remove_extra_whitespaces"
	keySpacePrefix = "tokenizer.ggml.add_space_prefix"
	keySuppress    = "tokenizer.ggml.suppress_tokens"
)

// The values of keyModel that are supported.
const (
	modelBPE = "gpt2"  // byte-level BPE
	modelSPM = "llama" // SentencePiece's BPE
)

// Token types (enum llama_token_type).
const (
	typeNormal      = 1
	typeUnknown     = 2
	typeControl     = 3
	typeUserDefined = 4
	typeUnused      = 5
	typeByte        = 6
)

// source is what a file says about its tokenizer. Its strings are views of the
// file's header.
type source struct {
	model   string
	tokens  list
	types   []int32  // as many as tokens
	specIDs []int32  // the tokens that are recognised in text
	taken   []string // of these the texts of those that the file has as ordinary ones

	// Of byte-level BPE.
	pre    string
	merges list // "left right", lowest rank first

	// Of SPM.
	scores  []float32 // as many as tokens
	unknown int32     // the token for what has none, or -1
	spacing spacing
	phi3    bool // the model's name is Phi-3: see phi3Trims
}

// list is an array of strings that is walked, not indexed.
type list struct {
	n   int
	all iter.Seq2[int, string]
}

// load reads the tokenizer metadata of f and has build make something of them,
// whose errors come back naming the file.
func load[T any](f *gguf.File, build func(*source) (T, error)) (made T, err error) {
	err = gguf.Fault(func() error {
		if err := f.CheckWhole(); err != nil {
			return err // other parts than the first have no tokenizer
		}
		s, err := readSource(f)
		if err == nil {
			made, err = build(s)
		}
		return err
	})
	if err != nil {
		var none T
		return none, fmt.Errorf("tokenizer of %s: %w", f.Path, err)
	}
	return made, nil
}

func readSource(f *gguf.File) (*source, error) {
	s := &source{}
	var given bool
	var err error
	if s.model, given, err = f.String(keyModel); err != nil {
		return nil, err
	} else if !given {
		return nil, missing(keyModel)
	}
	var read func(*gguf.File) error
	switch s.model {
	case modelBPE:
		read = s.readBPE
	case modelSPM:
		read = s.readSPM
	default:
		return nil, unknownModel(s.model)
	}
	if s.tokens, err = requireStrings(f, keyTokens); err != nil {
		return nil, err
	}
	if v, given := f.Get(keyTypes); !given {
		s.types = untyped(s.tokens, s.model)
	} else if s.types, given = v.Int32s(); !given {
		return nil, fmt.Errorf("%s must be an array of I32", keyTypes)
	}
	if err := read(f); err != nil {
		return nil, err
	}
	return s, s.check()
}

func (s *source) readBPE(f *gguf.File) (err error) {
	if s.pre, _, err = f.String(keyPre); err != nil {
		return err
	}
	if s.pre == "" { // as llama.cpp takes it
		s.pre = preDefault
	}
	if prefix, _, err := f.Bool(keySpacePrefix); err != nil {
		return err
	} else if prefix {
		return fmt.Errorf("%s is true; of byte-level BPE only text without an added space is supported", keySpacePrefix)
	}
	s.merges, err = requireStrings(f, keyMerges)
	return err
}

// Ignored says what f asks of who generates tokens, and introgen does not do, a
// line each.
func Ignored(f *gguf.File) []string {
	if v, ok := f.Get(keySuppress); ok && v.Len() > 0 {
		return []string{fmt.Sprintf("metadata %s lists %d tokens, and introgen does not keep the model from generating them", keySuppress, v.Len())}
	}
	return nil
}

// Assumed says what of a text's ids rests on something that f does not say, a line
// each: for people who give a text.
func Assumed(f *gguf.File) (lines []string, err error) {
	pre, _, err := f.String(keyPre)
	if err != nil {
		return nil, err
	}
	if model, _, _ := f.String(keyModel); pre == "" && model == modelBPE {
		lines = append(lines, fmt.Sprintf("metadata %s is missing: texts are cut as llama.cpp's pre-tokenizer %q does, perhaps not as the model was trained", keyPre, preDefault))
	}
	if _, ok := f.Get(keyTypes); !ok {
		lines = append(lines, fmt.Sprintf("metadata %s is missing: control tokens in a text, such as <|im_start|>, are found only where they end a turn, as llama.cpp does", keyTypes))
	}
	return lines, nil
}

// check compares what must agree, and collects the special tokens.
func (s *source) check() error {
	if s.tokens.n == 0 {
		return errors.New(keyTokens + " is empty")
	}
	if len(s.types) != s.tokens.n {
		return fmt.Errorf("%s has %d elements and %s has %d; they must be as many", keyTypes, len(s.types), keyTokens, s.tokens.n)
	}
	for id, t := range s.types {
		switch t {
		case typeControl, typeUserDefined:
			s.specIDs = append(s.specIDs, int32(id))
		case typeNormal, typeUnknown, typeUnused, typeByte:
		default:
			return fmt.Errorf("%s of token %d is %d; it must be from %d to %d", keyTypes, id, t, typeNormal, typeByte)
		}
	}
	return nil
}

func requireStrings(f *gguf.File, key string) (list, error) {
	v, ok := f.Get(key)
	if !ok {
		return list{}, missing(key)
	}
	if k, ok := v.ElemKind(); !ok || k != gguf.KindString {
		return list{}, fmt.Errorf("%s must be an array of strings", key)
	}
	return list{v.Len(), v.Strings()}, nil
}

func unknownModel(model string) error {
	return fmt.Errorf("%s is %q; only gpt2, byte-level BPE, and llama, SentencePiece's BPE, are supported", keyModel, model)
}

func missing(key string) error {
	return fmt.Errorf("metadata %s is missing; without it the ids of a text are not known", key)
}

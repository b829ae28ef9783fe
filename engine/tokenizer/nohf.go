//go:build !(hf && cgo)

package tokenizer

import (
	"errors"

	"github.com/introgen/introgen/engine/gguf"
)

const hfBuiltIn = false

func newHF(*gguf.File) (Tokenizer, error) { return nil, errNoHF }

func newHFFrom(*source, *encoder) (Tokenizer, error) { return nil, errNoHF }

var errNoHF = errors.New("tokenizer hf is not built into this program: it needs cgo, the tag hf and libtokenizers.a, which make test sets up; the tokenizer go gives the same ids")

package tokenizer

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"
)

// preTokenizer cuts text into the words that BPE works on.
type preTokenizer struct {
	names        []string // of tokenizer.ggml.pre
	words        func(text string) iter.Seq[string]
	nfc          bool   // text is normalized to NFC first
	ignoreMerges bool   // a word that is a token is that token, whatever the merges say
	json         string // the same in HuggingFace's tokenizer.json
	// equal says that tests hold the ids equal to those of HuggingFace's library:
	// they walk through all that say so. auto takes hf for others.
	equal bool
}

// The patterns, and which model has which, are those of the tokenizer.json
// files of the models that the names stand for: openai-community/gpt2,
// HuggingFaceTB/SmolLM2, meta-llama/Meta-Llama-3, Qwen/Qwen2, Qwen/Qwen3.5,
// CohereForAI/c4ai-command-r-v01 and mistralai/Mistral-Nemo; of GPT-4o that of tiktoken. Further names, and the last, are
// llama.cpp's, which gives them the same patterns (src/llama-vocab.cpp).
var preTokenizers = []preTokenizer{
	{
		names: []string{"gpt-2", "phi-2", "exaone4"},
		words: func(text string) iter.Seq[string] { return cut(text, gpt2Word) },
		json:  byteLevelJSON(true),
		equal: true,
	},
	{
		names: []string{"smollm", "starcoder", "refact", "codeshell"},
		words: smolLMWords,
		json:  sequenceJSON(`{"type":"Digits","individual_digits":true}`, byteLevelJSON(true)),
		equal: true,
	},
	{
		names:        []string{"llama-bpe", "llama3", "llama-v3", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2", "glm4", "glm5"},
		words:        llamaWords(3),
		ignoreMerges: true,
		json:         sequenceJSON(splitJSON(llama3Pattern(`\p{N}{1,3}`)), byteLevelJSON(false)),
		equal:        true,
	},
	{
		names: []string{"dbrx", "smaug-bpe", "chatglm-bpe"}, // dbrx is Phi-4 too
		words: llamaWords(3),
		json:  sequenceJSON(splitJSON(llama3Pattern(`\p{N}{1,3}`)), byteLevelJSON(false)),
		equal: true,
	},
	{
		names: []string{"qwen2"},
		words: llamaWords(1),
		nfc:   true,
		json:  sequenceJSON(splitJSON(llama3Pattern(`\p{N}`)), byteLevelJSON(false)),
		equal: true,
	},
	{
		names: []string{"deepseek-r1-qwen", "megrez", "stablelm2", "hunyuan", "kormo", "f2llmv2", "solar-open", "grok-2"},
		words: llamaWords(1),
		json:  sequenceJSON(splitJSON(llama3Pattern(`\p{N}`)), byteLevelJSON(false)),
		equal: true,
	},
	{
		names:        []string{"tekken"},
		words:        casedWords(1, false),
		ignoreMerges: true,
		json:         sequenceJSON(splitJSON(casedPattern(`\p{N}`, "")), byteLevelJSON(false)),
		equal:        true,
	},
	{
		names: []string{"gpt-4o", "llama4", "kanana2", "minimax-m2"},
		words: casedWords(3, true),
		json:  sequenceJSON(splitJSON(casedPattern(`\p{N}{1,3}`, casedContraction)), byteLevelJSON(false)),
		equal: true,
	},
	{
		names: []string{"qwen35"},
		words: func(text string) iter.Seq[string] { return cut(text, qwen35Word) },
		nfc:   true,
		json:  sequenceJSON(splitJSON(qwen35Pattern), byteLevelJSON(false)),
		equal: true,
	},
	{
		names: []string{"command-r"},
		words: smolLMWords,
		nfc:   true,
		json:  sequenceJSON(`{"type":"Digits","individual_digits":true}`, byteLevelJSON(true)),
		equal: true,
	},
	{
		names: []string{"deepseek-llm"},
		words: passes(deepseekLLM),
		json:  passesJSON(deepseekLLM),
		equal: true,
	},
	{
		names: []string{"deepseek-coder"},
		words: passes(deepseekCoder),
		json:  passesJSON(deepseekCoder),
		equal: true,
	},
	{
		names: []string{"deepseek-v3"},
		words: passes(deepseekV3),
		json:  passesJSON(deepseekV3),
		equal: true,
	},
	{
		names: []string{"falcon"},
		words: passes(falcon),
		json:  passesJSON(falcon),
		equal: true,
	},
	{
		names: []string{preDefault},
		words: fallbackPieces,
		json: sequenceJSON(splitJSON(fallbackMarks), splitJSON(fallbackWords), splitJSON(fallbackNumbers), splitJSON(fallbackDigits),
			byteLevelJSON(false)),
		equal: true,
	},
}

func llamaWords(digits int) func(string) iter.Seq[string] {
	return func(text string) iter.Seq[string] {
		return cut(text, func(s string) int { return llamaWord(s, digits) })
	}
}

func casedWords(digits int, contracted bool) func(string) iter.Seq[string] {
	return func(text string) iter.Seq[string] {
		return cut(text, func(s string) int { return casedWord(s, digits, contracted) })
	}
}

// preDefault is the pre-tokenizer of a file that names none.
const preDefault = "default"

// findPreTokenizer returns the pre-tokenizer of that name.
func findPreTokenizer(name string) (*preTokenizer, error) {
	var known []string
	for i := range preTokenizers {
		p := &preTokenizers[i]
		if slices.Contains(p.names, name) {
			return p, nil
		}
		known = append(known, p.names...)
	}
	return nil, fmt.Errorf("%s is %q, which is not known; it is one of %s", keyPre, name, strings.Join(known, ", "))
}

// cut yields the words of text; first returns the length of the first word of
// a text that is not empty.
func cut(text string, first func(string) int) iter.Seq[string] {
	return func(yield func(string) bool) {
		for len(text) > 0 {
			n := first(text)
			if !yield(text[:n]) {
				return
			}
			text = text[n:]
		}
	}
}

// smolLMWords isolates each number character, and cuts what lies between as
// GPT-2 does, as if nothing followed.
func smolLMWords(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for len(text) > 0 {
			n, digit := untilNumber(text)
			for word := range cut(text[:n], gpt2Word) {
				if !yield(word) {
					return
				}
			}
			if digit > 0 && !yield(text[n:n+digit]) {
				return
			}
			text = text[n+digit:]
		}
	}
}

// untilNumber returns the length of what stands before the first number
// character, and that character's length: 0 when there is none.
func untilNumber(s string) (n, digit int) {
	for n < len(s) {
		c, w := classAt(s[n:])
		if c == number {
			return n, w
		}
		n += w
	}
	return n, 0
}

// gpt2Word follows GPT-2's pattern, alternative by alternative:
//
//	's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
func gpt2Word(s string) int {
	if n := contraction(s, false); n > 0 {
		return n
	}
	i := 0
	if s[0] == ' ' && len(s) > 1 {
		i = 1
	}
	if c, n := classAt(s[i:]); c != space {
		return i + n + runOf(s[i+n:], c)
	}
	return spaceWord(s)
}

// spaceWord takes the white space that s starts with, without the last
// character when something follows, to which it may belong: \s+(?!\S)|\s+
func spaceWord(s string) int {
	n := runOf(s, space)
	if n == len(s) {
		return n
	}
	if _, last := utf8.DecodeLastRuneInString(s[:n]); last < n {
		return n - last
	}
	return n
}

// llama3Pattern is the pattern of Llama 3, and with other numbers of Qwen 2.
func llama3Pattern(numbers string) string {
	return `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|` + numbers + `| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
}

// llamaWord follows llama3Pattern, with up to digits numbers in a word.
func llamaWord(s string, digits int) int {
	if n := contraction(s, true); n > 0 {
		return n
	}
	c, n := classAt(s)
	switch c {
	case letter:
		return n + runOf(s[n:], letter)
	case number:
		return numbersOf(s, digits)
	}
	if s[0] != '\r' && s[0] != '\n' {
		if c, w := classAt(s[n:]); w > 0 && c == letter {
			return n + w + runOf(s[n+w:], letter)
		}
	}
	return signsOrSpace(s, "\r\n")
}

// numbersOf returns the length of the numbers that s starts with, at most so many.
func numbersOf(s string, most int) (n int) {
	for range most {
		c, w := classAt(s[n:])
		if c != number {
			break
		}
		n += w
	}
	return n
}

// signsOrSpace takes what starts neither with a letter nor with a number, and after it
// any of the bytes behind:
//
//	[ ]?[^\s\p{L}\p{N}]+[behind]*|\s*[\r\n]+|\s+(?!\S)|\s+
func signsOrSpace(s, behind string) int {
	i := 0
	if s[0] == ' ' {
		i = 1
	}
	if k := runOf(s[i:], other); k > 0 {
		i += k
		return i + anyOf(s[i:], behind)
	}
	return linesOrSpace(s)
}

// anyOf returns the length of those of the bytes that s starts with.
func anyOf(s, bytes string) int {
	return len(s) - len(strings.TrimLeft(s, bytes))
}

// linesOrSpace takes white space that s starts with, up to its last line break where
// it has one:
//
//	\s*[\r\n]+|\s+(?!\S)|\s+
func linesOrSpace(s string) int {
	if n := strings.LastIndexAny(s[:runOf(s, space)], "\r\n"); n >= 0 {
		return n + 1
	}
	return spaceWord(s)
}

// contraction returns the length of the English contraction that s starts
// with: 's 't 're 've 'm 'll 'd, with fold in any case. "ſ" (U+017F) is an s
// then, as Unicode's case folding has it.
func contraction(s string, fold bool) int {
	if len(s) < 2 || s[0] != '\'' {
		return 0
	}
	if fold && strings.HasPrefix(s[1:], "ſ") {
		return 1 + len("ſ")
	}
	at := func(i int) byte {
		if i >= len(s) {
			return 0
		}
		if b := s[i]; fold && b >= 'A' && b <= 'Z' {
			return b | 0x20
		}
		return s[i]
	}
	switch at(1) {
	case 's', 't', 'm', 'd':
		return 2
	case 'r', 'v':
		if at(2) == 'e' {
			return 3
		}
	case 'l':
		if at(2) == 'l' {
			return 3
		}
	}
	return 0
}

package tokenizer

import (
	"slices"
	"strings"
)

// controlTexts are the texts of tokens that llama.cpp takes for control tokens
// whatever type they have, because they end a turn or mark the parts of a text to
// be filled in (load in src/llama-vocab.cpp). The list is sorted.
var controlTexts = []string{
	"</s>", "<EOT>", "<MID>", "<PAD>", "<PRE>", "<REPO>", "<SUF>", "<end_of_turn>", "<end_of_utterance>",
	"<eos>", "<fim-middle>", "<fim-pad>", "<fim-prefix>", "<fim-repo>", "<fim-suffix>", "<fim_middle>",
	"<fim_pad>", "<fim_prefix>", "<fim_suffix>", "<reponame>", "<|calls|>", "<|call|>", "<|code_middle|>",
	"<|code_prefix|>", "<|code_suffix|>", "<|end_of_text|>", "<|endoftext|>", "<|end|>", "<|eom_id|>",
	"<|eot_id|>", "<|file_sep|>", "<|fim_middle|>", "<|fim_pad|>", "<|fim_prefix|>", "<|fim_repo|>",
	"<|fim_suffix|>", "<|flush|>", "<|im_end|>", "<|middle|>", "<|prefix|>", "<|repo_name|>", "<|return|>",
	"<|suffix|>", "<｜end▁of▁sentence｜>", "<｜fim▁begin｜>", "<｜fim▁end｜>", "<｜fim▁hole｜>", "[EOS]", "[EOT]",
	"[PAD]", "[e~[", "_<EOT>", "▁<MID>", "▁<PRE>", "▁<SUF>",
}

// untyped returns the types of tokens of which a file has none: normal, but for
// those that llama.cpp makes control tokens by their texts, and in an SPM vocabulary
// those of bytes.
func untyped(tokens list, model string) []int32 {
	types := make([]int32, tokens.n)
	for id, text := range tokens.all {
		types[id] = typeNormal
		if _, ok := slices.BinarySearch(controlTexts, text); ok {
			types[id] = typeControl
		}
		if _, ok := byteOf(text); ok && model == modelSPM {
			types[id] = typeByte
		}
	}
	return types
}

// takeMarks makes control tokens of those that end a turn by their texts and that the
// file has as ordinary ones, as llama.cpp does: no text of people has these marks, and
// a chat template that writes one means the token. Those of controlTexts that a text
// may well have, such as </s>, stay what the file says.
func (s *source) takeMarks(tokens *index) {
	for _, text := range controlTexts {
		if !strings.HasPrefix(text, "<|") && !strings.HasPrefix(text, "<｜") && !strings.HasPrefix(text, "<end_of_") {
			continue
		}
		if id := tokens.find(text); id >= 0 && (s.types[id] == typeNormal || s.types[id] == typeUnused) {
			s.types[id] = typeControl
			s.specIDs = append(s.specIDs, id)
			s.taken = append(s.taken, text)
		}
	}
	slices.Sort(s.specIDs)
}

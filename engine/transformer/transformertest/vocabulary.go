package transformertest

import "strconv"

// Vocabulary gives w the tokenizer of n tokens, at least 288: byte-level BPE with
// the 256 characters of single bytes, the merges and words of "hello" behind them,
// some control tokens and fillers.
func Vocabulary(w *Writable, n int) {
	tokens := byteCharacters()
	merges := []string{"h e", "l l", "he ll", "hell o", "Ġ hello", "1 1"}
	tokens = append(tokens, "he", "ll", "hell", "hello", "Ġhello", "11")
	types := make([]int32, len(tokens), n)
	for i := range types {
		types[i] = 1
	}
	for _, control := range []string{"<|im_start|>", "<|im_end|>", "<|endoftext|>"} {
		tokens, types = append(tokens, control), append(types, 3)
	}
	for len(tokens) < n {
		tokens, types = append(tokens, "[PAD"+strconv.Itoa(len(tokens))+"]"), append(types, 5)
	}
	w.Set("tokenizer.ggml.model", "gpt2")
	w.Set("tokenizer.ggml.pre", "smollm")
	w.Set("tokenizer.ggml.tokens", tokens)
	w.Set("tokenizer.ggml.token_type", types)
	w.Set("tokenizer.ggml.merges", merges)
}

// byteCharacters are the characters by which byte-level BPE spells bytes, in the
// order of the bytes (bytes_to_unicode of GPT-2's encoder.py).
func byteCharacters() []string {
	all := make([]string, 256)
	next := rune(256)
	for b := range all {
		r := rune(b)
		if !(b >= '!' && b <= '~' || b >= 0xa1 && b <= 0xac || b >= 0xae) {
			r, next = next, next+1
		}
		all[b] = string(r)
	}
	return all
}

// Package tokenizer turns text into token ids and back, over the vocabulary of
// a GGUF file: byte-level BPE as GPT-2 has it (tokenizer.ggml.model = gpt2), or SPM,
// which is SentencePiece's BPE (llama).
//
// Two tokenizers give the same ids. "go" is this package's own and always
// there. "hf" is HuggingFace's tokenizers library, behind the build tag hf (and
// cgo); it is fed a tokenizer.json made from the same GGUF data, see
// tokenizerJSON and spmJSON, and serves as the oracle of the first. Each pre-tokenizer says
// whether tests hold the two equal on it; Choose's auto goes by that.
//
// # From text to ids: byte-level BPE
//
//  1. Tokens of type 3 (control) and 4 (user-defined) are found in the text,
//     leftmost first and the longest at each place. In a file without types
//     those are control tokens that llama.cpp knows by their texts.
//  2. What lies between them is normalized where the pre-tokenizer says so
//     (NFC for qwen2, qwen35 and command-r).
//  3. The pre-tokenizer (tokenizer.ggml.pre) cuts it into words. Known are
//     gpt-2, smollm, llama-bpe, dbrx, qwen2, deepseek-r1-qwen, tekken, gpt-4o, qwen35,
//     command-r, deepseek-llm, deepseek-coder, deepseek-v3 and falcon, with
//     the further names that llama.cpp gives to the same patterns, and
//     default, which a file without a name has too, as in llama.cpp; any other
//     name is an error, since a wrong cut gives wrong ids silently.
//  4. Each byte of a word becomes the token of its byte-level character, and
//     pairs of tokens are merged, the pair of lowest rank first and the leftmost
//     of equals, until no pair has a merge.
//
// # From text to ids: SPM
//
//  1. Control tokens are found in the text, as above. What lies between two is a text
//     of its own, as in llama.cpp; in SentencePiece no text names them. In a model
//     whose name has phi-3 in it, special tokens take the white space behind them.
//  2. Spaces become U+2581, and one is put before the text unless
//     tokenizer.ggml.add_space_prefix is false. Those at the ends and all but one of
//     several are dropped where remove_extra_whitespaces is true.
//  3. User-defined tokens are found in that, the longest at each place, and are not
//     merged. llama.cpp finds them in the text before its spaces are escaped, and puts
//     a space behind each: ids are equal where add_space_prefix is false or there are
//     no such tokens.
//  4. What is left is cut into characters, and neighbours are merged whose union has
//     the best score, the leftmost of equals. A union of type unused is taken apart
//     again at the end.
//  5. A character without a token becomes the tokens of its bytes, or where they are
//     missing the unknown token, one for several in a row.
//
// Tests hold ids and what they decode to equal to SentencePiece's, on three
// vocabularies that are trained for it; the script that wrote their figures compares
// those of real models too.
//
// # Unicode
//
// The cuts depend on the general categories L and N, of default, falcon and
// deepseek-coder also P, of deepseek-v3 P, S and M, of qwen35 M, and of tekken and
// gpt-4o those of case and M. Both tokenizers use those
// of Unicode 16: hf has them in Oniguruma 6.9.10, go in tables of its own, so
// that a newer Go does not change ids. One thing differs with the compiler
// that built libtokenizers: the step of smollm that isolates digits asks Rust's
// char::is_numeric, which knows 13 more numbers (U+11DE0 to U+11DE9, U+16FF4 to
// U+16FF6) where that Rust has Unicode 17. NFC, which qwen2, qwen35 and command-r ask for, is
// that of Unicode 9 in both.
//
// # What is refused
//
// Text that is not UTF-8, and text with a byte that the vocabulary has no token
// for (SmolLM2 lacks 21, among them the control characters 04, 06, 13, 14, 16
// and 1D): the error names the byte and its offset. The hf library would drop
// such bytes without a word, and its C interface cuts a text at a NUL byte, which
// only go takes. Of SPM a vocabulary with a table of characters to be replaced
// (tokenizer.ggml.precompiled_charsmap), without scores, or with one that is no number.
//
// # Cost
//
// A tokenizer is made anew in every process, so go makes little: it copies the
// texts of tokens and merges into two blocks with a hash table each, both at once, and
// finds the tokens of a merge when a text first needs them. That takes 4 ms for
// SmolLM2's 49,152 tokens and 48,900 merges, and 11 ms for the 262,144 tokens of
// Gemma 3. A text of n bytes takes O(n log n), even if it is one word.
package tokenizer

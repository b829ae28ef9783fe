// Package tokenizer turns text into token ids and back, over the vocabulary of
// a GGUF file: byte-level BPE as GPT-2 has it (tokenizer.ggml.model = gpt2).
//
// Two tokenizers give the same ids. "go" is this package's own and always
// there. "hf" is HuggingFace's tokenizers library, behind the build tag hf (and
// cgo); it is fed a tokenizer.json made from the same GGUF data, see
// tokenizerJSON, and serves as the oracle of the first. Each pre-tokenizer says
// whether tests hold the two equal on it; Choose's auto goes by that.
//
// # From text to ids
//
//  1. Tokens of type 3 (control) and 4 (user-defined) are found in the text,
//     leftmost first and the longest at each place. In a file without types
//     those are control tokens that llama.cpp knows by their texts.
//  2. What lies between them is normalized where the pre-tokenizer says so
//     (NFC for qwen2).
//  3. The pre-tokenizer (tokenizer.ggml.pre) cuts it into words. Known are
//     gpt-2, smollm, llama-bpe (also named llama3 and llama-v3), qwen2, and
//     default, which a file without a name has too, as in llama.cpp; any other
//     name is an error, since a wrong cut gives wrong ids silently.
//  4. Each byte of a word becomes the token of its byte-level character, and
//     pairs of tokens are merged, the pair of lowest rank first and the leftmost
//     of equals, until no pair has a merge.
//
// # Unicode
//
// The cuts depend on the general categories L, N and, of default, P. Both tokenizers use those
// of Unicode 16: hf has them in Oniguruma 6.9.10, go in tables of its own, so
// that a newer Go does not change ids. One thing differs with the compiler
// that built libtokenizers: the step of smollm that isolates digits asks Rust's
// char::is_numeric, which knows 13 more numbers (U+11DE0 to U+11DE9, U+16FF4 to
// U+16FF6) where that Rust has Unicode 17. NFC, which only qwen2 asks for, is
// that of Unicode 9 in both.
//
// # What is refused
//
// Text that is not UTF-8, and text with a byte that the vocabulary has no token
// for (SmolLM2 lacks 21, among them the control characters 04, 06, 13, 14, 16
// and 1D): the error names the byte and its offset. The hf library would drop
// such bytes without a word, and its C interface cuts a text at a NUL byte, which
// only go takes.
//
// # Cost
//
// A tokenizer is made anew in every process, so go makes little: it copies the
// texts of tokens and merges into two blocks with a hash table each, both at once, and
// finds the tokens of a merge when a text first needs them. That takes 4 ms for
// SmolLM2's 49,152 tokens and 48,900 merges. A text of n bytes takes
// O(n log n), even if it is one word.
package tokenizer

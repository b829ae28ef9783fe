//go:build hf && cgo

// Command linkcheck is a small program that libtokenizers.a must be linked into
// and work in, before it is taken for whole.
package main

import (
	"fmt"
	"os"
	"slices"

	"github.com/daulet/tokenizers"
)

// document makes "ab" of "a" and "b".
const document = `{"version":"1.0","truncation":null,"padding":null,"added_tokens":[],"normalizer":null,
"pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true,"use_regex":true},
"post_processor":null,"decoder":null,"model":{"type":"BPE","dropout":null,"unk_token":null,
"continuing_subword_prefix":null,"end_of_word_suffix":null,"fuse_unk":false,"byte_fallback":false,
"vocab":{"a":0,"b":1,"ab":2},"merges":[["a","b"]]}}`

func main() {
	t, err := tokenizers.FromBytes([]byte(document))
	if err != nil {
		fmt.Fprintln(os.Stderr, "linkcheck:", err)
		os.Exit(1)
	}
	defer t.Close()
	ids := t.EncodeWithOptions("abba", false).IDs
	if want := []uint32{2, 1, 0}; !slices.Equal(ids, want) {
		fmt.Fprintln(os.Stderr, "linkcheck: ids of \"abba\" are", ids, "and must be", want)
		os.Exit(1)
	}
}

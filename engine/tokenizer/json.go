package tokenizer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// tokenizerJSON returns what HuggingFace's tokenizers library reads, a
// tokenizer.json, of the tokenizer that t, made from s, is.
func tokenizerJSON(s *source, t *encoder) ([]byte, error) {
	var w bytes.Buffer
	w.Grow(4 * (len(t.tokens.text) + len(t.merges.text)))
	w.WriteString(`{"version":"1.0","truncation":null,"padding":null,"added_tokens":[`)
	for i, id := range s.specIDs {
		if i > 0 {
			w.WriteByte(',')
		}
		fmt.Fprintf(&w, `{"id":%d,"content":`, id)
		if err := writeString(&w, t.tokens.at(id)); err != nil {
			return nil, err
		}
		fmt.Fprintf(&w, `,"single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":%t}`,
			s.types[id] == typeControl)
	}
	w.WriteString(`],"normalizer":`)
	if t.pre.nfc {
		w.WriteString(`{"type":"NFC"}`)
	} else {
		w.WriteString("null")
	}
	w.WriteString(`,"pre_tokenizer":` + t.pre.json + `,"post_processor":null,"decoder":` + byteLevelJSON(true))
	fmt.Fprintf(&w, `,"model":{"type":"BPE","dropout":null,"unk_token":null,"continuing_subword_prefix":null,`+
		`"end_of_word_suffix":null,"fuse_unk":false,"byte_fallback":false,"ignore_merges":%t,"vocab":{`, t.pre.ignoreMerges)
	if err := writeVocabulary(&w, t.tokens); err != nil {
		return nil, err
	}
	w.WriteString(`},"merges":[`)
	for i, m := range s.merges.all {
		if i > 0 {
			w.WriteByte(',')
		}
		left, right, _ := strings.Cut(m, " ")
		w.WriteByte('[')
		if err := writeString(&w, left); err != nil {
			return nil, err
		}
		w.WriteByte(',')
		if err := writeString(&w, right); err != nil {
			return nil, err
		}
		w.WriteByte(']')
	}
	w.WriteString("]}}")
	return w.Bytes(), nil
}

func writeVocabulary(w *bytes.Buffer, tokens *index) error {
	comma := ""
	for id := range int32(tokens.len()) {
		t := tokens.at(id)
		if t == "" {
			continue // fillers: one object cannot hold several
		}
		w.WriteString(comma)
		comma = ","
		if err := writeString(w, t); err != nil {
			return err
		}
		w.WriteByte(':')
		w.Write(strconv.AppendInt(w.AvailableBuffer(), int64(id), 10))
	}
	return nil
}

// writeString writes a JSON string.
func writeString(w *bytes.Buffer, s string) error {
	b, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("tokenizer.json: %q: %w", s, err)
	}
	w.Write(b)
	return nil
}

// The parts of a pre-tokenizer in tokenizer.json.

// byteLevelJSON spells bytes as characters; with pattern it first cuts text by
// GPT-2's pattern.
func byteLevelJSON(pattern bool) string {
	return fmt.Sprintf(`{"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true,"use_regex":%t}`, pattern)
}

// splitJSON cuts text into the matches of a pattern.
func splitJSON(pattern string) string {
	return fmt.Sprintf(`{"type":"Split","pattern":{"Regex":%q},"behavior":"Isolated","invert":false}`, pattern)
}

// sequenceJSON applies one part to the pieces of the part before.
func sequenceJSON(parts ...string) string {
	return `{"type":"Sequence","pretokenizers":[` + strings.Join(parts, ",") + `]}`
}

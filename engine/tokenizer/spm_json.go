package tokenizer

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// spmJSON returns a tokenizer.json of what t does between two control tokens, to a
// text whose spaces are escaped. Merges, which an SPM vocabulary does not have, are all
// pairs of tokens whose union is one, in the order of scores.
func spmJSON(t *spm) ([]byte, error) {
	if slices.Contains(t.types, typeUnused) {
		return nil, fmt.Errorf("the hf tokenizer has nothing like the tokens of type %d (unused) that %s lists; the tokenizer go does", typeUnused, keyTypes)
	}
	var w bytes.Buffer
	w.WriteString(`{"version":"1.0","truncation":null,"padding":null,"added_tokens":[`)
	whole := map[int32]string{}
	for i, s := range t.user.tokens {
		if i > 0 {
			w.WriteByte(',')
		}
		whole[s.id] = s.text
		if id := t.tokens.find(s.text); id >= 0 && id != s.id {
			return nil, fmt.Errorf("%s: tokens %d and %d are both %q once spaces are escaped, which the hf tokenizer does not take; the tokenizer go does", keyTokens, id, s.id, s.text)
		}
		fmt.Fprintf(&w, `{"id":%d,"content":`, s.id)
		if err := writeString(&w, s.text); err != nil {
			return nil, err
		}
		w.WriteString(`,"single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":false}`)
	}
	unknown := []byte("null")
	if t.unknown >= 0 {
		var name bytes.Buffer
		if err := writeString(&name, t.tokens.at(t.unknown)); err != nil {
			return nil, err
		}
		unknown = name.Bytes()
	}
	fmt.Fprintf(&w, `],"normalizer":null,"pre_tokenizer":null,"post_processor":null,"decoder":null,"model":{"type":"BPE","dropout":null,`+
		`"unk_token":%s,"continuing_subword_prefix":null,"end_of_word_suffix":null,"fuse_unk":true,"byte_fallback":%t,"ignore_merges":false,"vocab":{`,
		unknown, slices.Min(t.bytes[:]) >= 0)
	comma := ""
	for id := range int32(t.tokens.len()) {
		text, ok := whole[id]
		if !ok {
			text = t.tokens.at(id)
		}
		if text == "" {
			continue
		}
		w.WriteString(comma)
		comma = ","
		if err := writeString(&w, text); err != nil {
			return nil, err
		}
		w.WriteByte(':')
		w.Write(strconv.AppendInt(w.AvailableBuffer(), int64(id), 10))
	}
	w.WriteString(`},"merges":[`)
	if err := t.writeMerges(&w); err != nil {
		return nil, err
	}
	w.WriteString("]}}")
	return w.Bytes(), nil
}

// writeMerges writes the merges, the best score first.
func (t *spm) writeMerges(w *bytes.Buffer) error {
	var order []int32
	for id, typ := range t.types {
		if typ == typeNormal {
			order = append(order, int32(id))
		}
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(t.scores[b], t.scores[a]) })
	comma := ""
	for _, id := range order {
		text := t.tokens.at(id)
		for at := range text {
			if at == 0 || t.tokens.find(text[:at]) < 0 || t.tokens.find(text[at:]) < 0 {
				continue
			}
			w.WriteString(comma + "[")
			comma = ","
			if err := errors.Join(writeString(w, text[:at]), afterComma(w, text[at:])); err != nil {
				return err
			}
			w.WriteByte(']')
		}
	}
	return nil
}

func afterComma(w *bytes.Buffer, text string) error {
	w.WriteByte(',')
	return writeString(w, text)
}

package tokenizer

import (
	"errors"
	"testing"
)

// TestValidUTF8 has the examples of the Unicode Standard, chapter 3.9, tables
// 3-8 to 3-11, and of Rust's String::from_utf8_lossy.
func TestValidUTF8(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "plain é": "plain é",
		"\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41": "��������A",
		"\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41": "��������A",
		"\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42": "�����A��B",
		"\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41": "����A",
		"Hello \xF0\x90\x80World":              "Hello �World",
		"a\xF0\x9F\x98":                        "a�",
		"\xF0\x9F":                             "�",
		"\xEF\xBF\xBD":                         "�",
		"\xE2\x82\xE2\x82\xAC":                 "�€",
	} {
		if got := validUTF8([]byte(in)); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestStream(t *testing.T) {
	k := smallEncoder(t, small("gpt-2", nil))
	for _, c := range []struct {
		bytes string // one id each, as small numbers them
		parts []string
		flush string
	}{
		{"ab", []string{"a", "b"}, ""},
		{"é!", []string{"", "é", "!"}, ""},
		{"😀", []string{"", "", "", "😀"}, ""},
		{"\xF0\x9F", []string{"", ""}, "�"},
		{"\xF0\x9Fa", []string{"", "", "�a"}, ""},
		{"\x9F\xFF", []string{"�", "�"}, ""},
		{"\xE2\x82\xE2\x82\xAC", []string{"", "", "�", "", "€"}, ""},
		{"\xE0\x80", []string{"", "��"}, ""},
		{"�", []string{"", "", "�"}, ""},
	} {
		s := NewStream(k)
		whole := ""
		var ids []int32
		for i := range len(c.bytes) {
			ids = append(ids, int32(c.bytes[i]))
			got, err := s.Next(int32(c.bytes[i]))
			if err != nil || got != c.parts[i] {
				t.Errorf("%q, id %d: got %q, %v; want %q", c.bytes, i, got, err, c.parts[i])
			}
			whole += got
		}
		if got := s.Flush(); got != c.flush {
			t.Errorf("%q: Flush gave %q, want %q", c.bytes, got, c.flush)
		}
		whole += c.flush
		if text, err := k.Decode(ids); err != nil || text != whole {
			t.Errorf("%q: Decode gave %q, %v; the stream %q", c.bytes, text, err, whole)
		}
		if got := s.Flush(); got != "" {
			t.Errorf("%q: a second Flush gave %q", c.bytes, got)
		}
	}
}

func TestStreamError(t *testing.T) {
	s := NewStream(smallEncoder(t, small("gpt-2", nil)))
	if _, err := s.Next(0xC3); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Next(256); err == nil {
		t.Error("an id outside the vocabulary is taken")
	}
	if got, err := s.Next(0xA9); err != nil || got != "é" {
		t.Errorf("after the error: %q, %v", got, err)
	}
}

// upper is a Tokenizer from elsewhere.
type upper struct{ Tokenizer }

func (upper) Decode(ids []int32) (string, error) {
	if ids[0] > 25 {
		return "", errors.New("no such letter")
	}
	return string('A' + ids[0]), nil
}

func TestStreamOfOtherTokenizer(t *testing.T) {
	s := NewStream(upper{})
	if got, err := s.Next(2); err != nil || got != "C" {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := s.Next(26); err == nil {
		t.Error("the error is lost")
	}
}

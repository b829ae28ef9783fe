package recording

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"
)

// MaxLine is the longest line of a recording, in bytes. A round of a million
// tokens fits; what is longer is no event of ours, and is not read into memory.
const MaxLine = 16 << 20

// Encode appends e to dst as one line, with its line break.
//
// JSON has no NaN and no infinities: a logit that is not finite is written as
// null and read as NaN, a reading of the machine that is not is written as −1,
// which means unknown. Anything else that is not finite is an error.
func Encode(dst []byte, e Event) ([]byte, error) {
	switch e := e.(type) {
	case *Span:
		return appendSpan(dst, e), nil
	case *Count:
		return appendCount(dst, e), nil
	case *Executed:
		return appendExecuted(dst, e)
	case *Unknown:
		if bytes.ContainsRune(e.Line, '\n') || len(e.Line) == 0 {
			return dst, fmt.Errorf("event %q cannot be written: its line is empty or holds a line break", e.Name)
		}
		return append(append(dst, e.Line...), '\n'), nil
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(finite(e)); err != nil {
		return dst, fmt.Errorf("event %q cannot be written: %w", e.Kind(), err)
	}
	line := buf.Bytes()[1:] // without the brace
	if len(line) > MaxLine-100 {
		return dst, fmt.Errorf("event %q cannot be written: its line has %d bytes, at most %d are allowed", e.Kind(), len(line), MaxLine-100)
	}
	dst = append(append(append(dst, `{"k":"`...), e.Kind()...), '"')
	if line[0] != '}' {
		dst = append(dst, ',')
	}
	return append(dst, line...), nil
}

// finite replaces readings that are not finite by −1, unknown.
func finite(e Event) Event {
	unknown := func(x float64) float64 {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return -1
		}
		return x
	}
	switch e := e.(type) {
	case *Machine:
		m := *e
		m.Load, m.OtherCores, m.MHz = unknown(m.Load), unknown(m.OtherCores), unknown(m.MHz)
		return &m
	case *Evidence:
		v := *e
		v.Resident = unknown(v.Resident)
		return &v
	}
	return e
}

// Spans, counts and executions are most of a recording, and are written between passes: so
// they are put together here, without reflection.

func appendSpan(dst []byte, s *Span) []byte {
	dst = append(dst, `{"k":"span","id":`...)
	dst = strconv.AppendInt(dst, int64(s.ID), 10)
	dst = append(dst, `,"in":`...)
	dst = strconv.AppendInt(dst, int64(s.Parent), 10)
	dst = append(dst, `,"name":`...)
	dst = appendString(dst, s.Name)
	if s.Detail != "" {
		dst = append(dst, `,"detail":`...)
		dst = appendString(dst, s.Detail)
	}
	if s.N != 0 {
		dst = append(dst, `,"n":`...)
		dst = strconv.AppendInt(dst, s.N, 10)
	}
	if s.Track != 0 {
		dst = append(dst, `,"track":`...)
		dst = strconv.AppendInt(dst, int64(s.Track), 10)
	}
	dst = append(dst, `,"start":`...)
	dst = strconv.AppendInt(dst, int64(s.Start), 10)
	dst = append(dst, `,"end":`...)
	dst = strconv.AppendInt(dst, max(-1, int64(s.End)), 10)
	return append(dst, "}\n"...)
}

func appendCount(dst []byte, c *Count) []byte {
	dst = append(dst, `{"k":"count","in":`...)
	dst = strconv.AppendInt(dst, int64(c.Span), 10)
	dst = append(dst, `,"name":`...)
	dst = appendString(dst, c.Name)
	dst = append(dst, `,"value":`...)
	dst = strconv.AppendInt(dst, c.Value, 10)
	dst = append(dst, `,"at":`...)
	dst = strconv.AppendInt(dst, int64(c.At), 10)
	return append(dst, "}\n"...)
}

func appendExecuted(dst []byte, e *Executed) ([]byte, error) {
	before := len(dst)
	dst = append(dst, `{"k":"executed","span":`...)
	dst = strconv.AppendInt(dst, int64(e.Span), 10)
	if e.Track != 0 {
		dst = append(dst, `,"track":`...)
		dst = strconv.AppendInt(dst, int64(e.Track), 10)
	}
	dst = appendNumbers(append(dst, `,"operations":`...), e.Operations)
	dst = appendNumbers(append(dst, `,"start_ns":`...), e.Start)
	dst = appendNumbers(append(dst, `,"ns":`...), e.Time)
	if n := len(dst) - before; n > MaxLine-100 {
		return dst[:before], fmt.Errorf("event %q cannot be written: its line has %d bytes, at most %d are allowed", e.Kind(), n, MaxLine-100)
	}
	return append(dst, "}\n"...), nil
}

func appendNumbers[T int | int64](dst []byte, numbers []T) []byte {
	dst = append(dst, '[')
	for i, n := range numbers {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendInt(dst, int64(n), 10)
	}
	return append(dst, ']')
}

// appendString quotes s. What is not plain ASCII goes the long way.
func appendString(dst []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' {
			quoted, err := json.Marshal(s)
			if err != nil { // a string cannot fail
				quoted = []byte(`""`)
			}
			return append(dst, quoted...)
		}
	}
	dst = append(dst, '"')
	dst = append(dst, s...)
	return append(dst, '"')
}

type logitLine struct {
	ID    int32    `json:"id"`
	Value *float32 `json:"value"`
}

// MarshalJSON writes a value that is not finite as null.
func (l Logit) MarshalJSON() ([]byte, error) {
	line := logitLine{ID: l.ID}
	if v := float64(l.Value); !math.IsNaN(v) && !math.IsInf(v, 0) {
		line.Value = &l.Value
	}
	return json.Marshal(line)
}

// UnmarshalJSON reads null as NaN.
func (l *Logit) UnmarshalJSON(b []byte) error {
	var line logitLine
	if err := json.Unmarshal(b, &line); err != nil {
		return err
	}
	l.ID, l.Value = line.ID, float32(math.NaN())
	if line.Value != nil {
		l.Value = *line.Value
	}
	return nil
}

// plainRound is Round without its methods.
type plainRound Round

type roundLine struct {
	*plainRound
	Bytes []byte `json:"text_bytes,omitempty"`
}

// MarshalJSON adds the bytes of a text that ends, or begins, in the middle of
// a character: JSON strings cannot hold them.
func (r *Round) MarshalJSON() ([]byte, error) {
	line := roundLine{plainRound: (*plainRound)(r)}
	if !utf8.ValidString(r.Text) {
		line.Bytes = []byte(r.Text)
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(line)
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), err
}

// UnmarshalJSON is the reverse of MarshalJSON.
func (r *Round) UnmarshalJSON(b []byte) error {
	line := roundLine{plainRound: (*plainRound)(r)}
	if err := json.Unmarshal(b, &line); err != nil {
		return err
	}
	if len(line.Bytes) == 0 {
		return nil
	}
	if text := string([]rune(string(line.Bytes))); text != r.Text {
		return fmt.Errorf("its text %.40q is not that of its bytes, %.40q", r.Text, text)
	}
	r.Text = string(line.Bytes)
	return nil
}

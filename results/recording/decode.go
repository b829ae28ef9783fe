package recording

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/introgen/introgen/trace"
)

// decoder turns lines into events. It keeps one copy of each name, of which a
// recording has few, each a thousand times.
type decoder struct {
	names map[string]string
}

// maxNames bounds the copies that are kept for a file full of different names.
const maxNames = 10_000

func (d *decoder) name(b []byte) string {
	if s, ok := d.names[string(b)]; ok {
		return s
	}
	s := string(b)
	if len(d.names) < maxNames {
		if d.names == nil {
			d.names = map[string]string{}
		}
		d.names[s] = s
	}
	return s
}

// decode reads one line, without its line break.
func (d *decoder) decode(line []byte) (Event, error) {
	if e, ok := d.quick(line); ok {
		return e, check(e)
	}
	var first struct {
		Kind *string `json:"k"`
	}
	if err := json.Unmarshal(line, &first); err != nil {
		return nil, err
	}
	if first.Kind == nil || *first.Kind == "" {
		return nil, errors.New(`no event: the key "k", its kind, is missing`)
	}
	e := newEvent(*first.Kind)
	if e == nil {
		return &Unknown{Name: *first.Kind, Line: bytes.Clone(line)}, nil
	}
	var err error
	switch e := e.(type) {
	case *Span:
		var s spanLine
		err = json.Unmarshal(line, &s)
		e.Record = trace.Record{ID: s.ID, Parent: s.In, Name: s.Name, Detail: s.Detail, N: s.N,
			Start: time.Duration(s.Start), End: time.Duration(s.End)}
	case *Count:
		var c countLine
		err = json.Unmarshal(line, &c)
		e.Sample = trace.Sample{Span: c.In, Name: c.Name, Value: c.Value, At: time.Duration(c.At)}
	default:
		err = json.Unmarshal(line, e)
	}
	if err != nil {
		return nil, fmt.Errorf("event %q: %w", e.Kind(), err)
	}
	return e, check(e)
}

type spanLine struct {
	ID     trace.ID `json:"id"`
	In     trace.ID `json:"in"`
	Name   string   `json:"name"`
	Detail string   `json:"detail"`
	N      int64    `json:"n"`
	Start  int64    `json:"start"`
	End    int64    `json:"end"`
}

type countLine struct {
	In    trace.ID `json:"in"`
	Name  string   `json:"name"`
	Value int64    `json:"value"`
	At    int64    `json:"at"`
}

func newEvent(kind string) Event {
	for _, e := range []Event{
		&Header{}, &Plan{}, &Start{}, &Exit{}, &Span{}, &Count{}, &Subject{}, &Device{}, &Library{}, &Pipeline{},
		&Kernel{}, &Round{}, &Evidence{}, &Machine{}, &Note{}, &End{},
	} {
		if e.Kind() == kind {
			return e
		}
	}
	return nil
}

// check refuses events that contradict themselves, so that no reader has to
// look out for them.
func check(e Event) error {
	if err := checkAmounts(e); err != nil {
		return err
	}
	switch e := e.(type) {
	case *Span:
		switch {
		case e.ID < 1 || e.Parent < 0 || e.Parent >= e.ID:
			return fmt.Errorf("span %d in span %d: numbers begin at 1, and a span is younger than what it is in", e.ID, e.Parent)
		case e.Name == "":
			return fmt.Errorf("span %d has no name", e.ID)
		case e.Start < 0 || e.End < -1 || e.End >= 0 && e.End < e.Start:
			return fmt.Errorf("span %d from %d to %d ns: it ends before it begins", e.ID, e.Start, e.End)
		}
	case *Count:
		if e.Span < 0 || e.At < 0 || e.Name == "" {
			return fmt.Errorf("count %q in span %d at %d ns: a name, and no negative number, is wanted", e.Name, e.Span, e.At)
		}
	case *Header:
		if e.Format != Format {
			return fmt.Errorf("header of the format %q: %q is wanted", e.Format, Format)
		}
		if e.Version < 1 {
			return fmt.Errorf("header of version %d: 1 to %d are known", e.Version, Version)
		}
	case *Library:
		return checkSpan("library", e.Name, e.Span)
	case *Pipeline:
		return checkSpan("pipeline", e.Library+" "+e.Function, e.Span)
	case *Kernel:
		if e.Dispatches < 0 || e.Time < 0 {
			return fmt.Errorf("kernel %q: %d dispatches in %d ns cannot be", e.Name, e.Dispatches, e.Time)
		}
	case *Round:
		if e.Number < 1 || e.Span < 1 {
			return fmt.Errorf("round %d of span %d: numbers begin at 1", e.Number, e.Span)
		}
		if n := len(e.PromptIDs); n > 0 && n != e.Prompt {
			return fmt.Errorf("round %d has %d ids of a prompt of %d tokens", e.Number, n, e.Prompt)
		}
	}
	return nil
}

// maxAmount bounds times (104 days) and counts, so that sums of many do not
// overflow. It is also the largest number that every reader of JSON takes as it
// is.
const maxAmount = 1 << 53

// checkAmounts refuses numbers beyond maxAmount where others are added to them.
// The machine's clock is only subtracted: it may be older than 104 days.
func checkAmounts(e Event) error {
	switch e := e.(type) {
	case *Span:
		return within(e, int64(e.Start), int64(e.End), e.N)
	case *Count:
		return within(e, int64(e.At), e.Value)
	case *Kernel:
		return within(e, e.Time, e.Dispatches)
	case *Machine:
		return within(e, e.At)
	case *Exit:
		return within(e, e.Reaped-e.Spawned, e.MaxRSS)
	case *End:
		return within(e, e.At, e.SpanCost)
	}
	return nil
}

func within(e Event, amounts ...int64) error {
	for _, n := range amounts {
		if n > maxAmount || n < -maxAmount {
			return fmt.Errorf("event %q holds %d: at most %d is taken", e.Kind(), n, int64(maxAmount))
		}
	}
	return nil
}

func checkSpan(what, name string, id trace.ID) error {
	if id < 1 {
		return fmt.Errorf("%s %q belongs to span %d: numbers begin at 1", what, name, id)
	}
	return nil
}

// quick reads the lines of spans and counts as Encode writes them, several
// times faster than package json. It gives up on everything else, also on what
// is wrong: then package json says what.
func (d *decoder) quick(line []byte) (Event, bool) {
	if rest, ok := bytes.CutPrefix(line, []byte(`{"k":"span"`)); ok {
		var s Span
		ok = d.fields(rest, func(key string, text []byte, n int64) bool {
			switch key {
			case "id":
				s.ID = trace.ID(n)
				return int64(s.ID) == n
			case "in":
				s.Parent = trace.ID(n)
				return int64(s.Parent) == n
			case "name":
				s.Name = d.name(text)
			case "detail":
				s.Detail = d.name(text)
			case "n":
				s.N = n
			case "start":
				s.Start = time.Duration(n)
			case "end":
				s.End = time.Duration(n)
			default:
				return false
			}
			return true
		})
		return &s, ok
	}
	if rest, ok := bytes.CutPrefix(line, []byte(`{"k":"count"`)); ok {
		var c Count
		ok = d.fields(rest, func(key string, text []byte, n int64) bool {
			switch key {
			case "in":
				c.Span = trace.ID(n)
				return int64(c.Span) == n
			case "name":
				c.Name = d.name(text)
			case "value":
				c.Value = n
			case "at":
				c.At = time.Duration(n)
			default:
				return false
			}
			return true
		})
		return &c, ok
	}
	return nil, false
}

// fields calls set with every `,"key":value` up to the closing brace. text is
// nil where the value is a number; the keys "name" and "detail" are texts, all
// others numbers.
func (d *decoder) fields(rest []byte, set func(key string, text []byte, n int64) bool) bool {
	for {
		if len(rest) == 1 && rest[0] == '}' {
			return true
		}
		if len(rest) < 2 || rest[0] != ',' || rest[1] != '"' {
			return false
		}
		key, after, ok := plainText(rest[2:])
		if !ok || len(after) < 2 || after[0] != ':' {
			return false
		}
		after = after[1:]
		isText := string(key) == "name" || string(key) == "detail"
		var text []byte
		var n int64
		if isText {
			if after[0] != '"' {
				return false
			}
			if text, rest, ok = plainText(after[1:]); !ok {
				return false
			}
		} else if n, rest, ok = number(after); !ok {
			return false
		}
		if !set(d.name(key), text, n) {
			return false
		}
	}
}

// plainText cuts b at the next quote; ok is false where anything before it is
// escaped or not ASCII.
func plainText(b []byte) (text, rest []byte, ok bool) {
	for i, c := range b {
		switch {
		case c == '"':
			return b[:i], b[i+1:], true
		case c == '\\' || c < ' ' || c >= 0x80:
			return nil, nil, false
		}
	}
	return nil, nil, false
}

// number reads a whole number of up to 18 digits, which cannot overflow.
func number(b []byte) (n int64, rest []byte, ok bool) {
	negative := len(b) > 0 && b[0] == '-'
	i := 0
	if negative {
		i = 1
	}
	begin := i
	for ; i < len(b) && b[i] >= '0' && b[i] <= '9'; i++ {
		if i-begin == 18 {
			return 0, nil, false
		}
		n = 10*n + int64(b[i]-'0')
	}
	if i == begin || i-begin > 1 && b[begin] == '0' {
		return 0, nil, false
	}
	if negative {
		n = -n
	}
	return n, b[i:], true
}

package recording

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
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
		return nil, understood(err)
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
		return nil, fmt.Errorf("event %q: %w", e.Kind(), understood(err))
	}
	if err := complete(e, line); err != nil {
		return nil, err
	}
	return e, check(e)
}

// complete refuses a line that lacks a key which every writer writes: 0 or
// nothing in its place would be a figure that nobody measured. A header is
// taken as it is, so that what stands behind it can be read.
func complete(e Event, line []byte) error {
	if _, ok := e.(*Header); ok {
		return nil
	}
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(line, &keys); err != nil {
		return fmt.Errorf("event %q: %w", e.Kind(), err)
	}
	for _, key := range required(e) {
		value, ok := keys[key]
		if !ok {
			return fmt.Errorf("event %q has no key %q", e.Kind(), key)
		}
		if string(value) == "null" && !mayBeNull(e, key) {
			return fmt.Errorf("event %q has null as its %q", e.Kind(), key)
		}
	}
	return nil
}

// required are the keys that an event of the kind always has, which are those
// that are written whatever they hold. The JSON Schema has the same.
func required(e Event) []string {
	var of reflect.Type
	switch e.(type) {
	case *Span:
		return []string{"id", "in", "name", "start", "end"}
	case *Count:
		return []string{"in", "name", "value", "at"}
	default:
		of = reflect.TypeOf(e).Elem()
	}
	var keys []string
	for i := range of.NumField() {
		if key, options, _ := strings.Cut(of.Field(i).Tag.Get("json"), ","); options == "" {
			keys = append(keys, key)
		}
	}
	return keys
}

// mayBeNull says whether null is how a writer writes the key's value where it is
// none: of a list.
func mayBeNull(e Event, key string) bool {
	of := reflect.TypeOf(e).Elem()
	for i := range of.NumField() {
		if name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ","); name == key {
			return slices.Contains([]reflect.Kind{reflect.Slice, reflect.Map, reflect.Pointer}, of.Field(i).Type.Kind())
		}
	}
	return false
}

// understood is why a line is no event, in words of the format instead of Go's.
func understood(err error) error {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return err
	}
	wanted := map[reflect.Kind]string{reflect.String: "a text", reflect.Bool: "true or false", reflect.Float64: "a number", reflect.Slice: "a list",
		reflect.Array: "a list", reflect.Map: "an object", reflect.Struct: "an object"}[wrong.Type.Kind()]
	if wanted == "" {
		wanted = "an integer"
	}
	// Of an embedded struct of Go's the path has the name as well.
	key := wrong.Field[strings.LastIndexByte(wrong.Field, '.')+1:]
	if key == "" {
		return fmt.Errorf("it is a JSON %s: %s is wanted", wrong.Value, wanted)
	}
	return fmt.Errorf("the JSON %s as its %q cannot be: %s is wanted", wrong.Value, key, wanted)
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

// quick reads the lines of spans and counts as Encode writes them, several
// times faster than package json. It gives up on everything else, also on what
// is wrong: then package json says what.
func (d *decoder) quick(line []byte) (Event, bool) {
	if rest, ok := bytes.CutPrefix(line, []byte(`{"k":"span"`)); ok {
		var s Span
		var seen keys
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
			return seen.add(key)
		})
		return &s, ok && seen.hold("id", "in", "name", "start", "end")
	}
	if rest, ok := bytes.CutPrefix(line, []byte(`{"k":"count"`)); ok {
		var c Count
		var seen keys
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
			return seen.add(key)
		})
		return &c, ok && seen.hold("in", "name", "value", "at")
	}
	return nil, false
}

// keys are those of a line of a span or a count; which has at most seven.
type keys struct {
	of [7]string
	n  int
}

// add says whether the key is new.
func (k *keys) add(key string) bool {
	if k.n == len(k.of) || slices.Contains(k.of[:k.n], key) {
		return false
	}
	k.of[k.n] = key
	k.n++
	return true
}

func (k *keys) hold(all ...string) bool {
	for _, key := range all {
		if !slices.Contains(k.of[:k.n], key) {
			return false
		}
	}
	return true
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

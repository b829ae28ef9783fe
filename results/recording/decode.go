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
	if err := json.Unmarshal(line, e); err != nil {
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
	for _, f := range required(e) {
		key := f.Tag.Get("json")
		value, ok := keys[key]
		if !ok {
			return fmt.Errorf("event %q has no key %q", e.Kind(), key)
		}
		// Null is how a writer writes a list that is none.
		if string(value) == "null" && !slices.Contains([]reflect.Kind{reflect.Slice, reflect.Map, reflect.Pointer}, f.Type.Kind()) {
			return fmt.Errorf("event %q has null as its %q", e.Kind(), key)
		}
	}
	return nil
}

// required are the fields whose keys an event of the kind always has, which are
// those that are written whatever they hold. The JSON Schema has the same.
func required(e Event) []reflect.StructField {
	return slices.DeleteFunc(reflect.VisibleFields(reflect.TypeOf(e).Elem()), func(f reflect.StructField) bool {
		_, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		return f.Anonymous || options != ""
	})
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

func newEvent(kind string) Event {
	for _, e := range []Event{
		&Header{}, &Plan{}, &Start{}, &Exit{}, &Span{}, &Count{}, &Subject{}, &Device{}, &Library{}, &Pipeline{},
		&Dispatch{}, &Barrier{}, &Kernel{}, &Operation{}, &Executed{}, &Round{}, &Output{}, &Evidence{}, &Limit{}, &Machine{},
		&Note{}, &End{},
	} {
		if e.Kind() == kind {
			return e
		}
	}
	return nil
}

// quick reads the lines of spans, counts and executions as Encode writes them, several
// times faster than package json. It gives up on everything else, also on what
// is wrong: then package json says what.
func (d *decoder) quick(line []byte) (Event, bool) {
	f := fields{rest: line}
	switch {
	case f.next(`{"k":"span"`):
		var s Span
		s.ID = f.id(`,"id":`)
		s.Parent = f.id(`,"in":`)
		s.Name = d.name(f.text(`,"name":"`))
		if f.next(`,"detail":"`) {
			s.Detail = d.name(f.text(""))
		}
		if f.next(`,"n":`) {
			s.N = f.number("")
		}
		if f.next(`,"track":`) {
			s.Track = int32(f.id(""))
		}
		s.Start = time.Duration(f.number(`,"start":`))
		s.End = time.Duration(f.number(`,"end":`))
		return &s, f.ended()
	case f.next(`{"k":"count"`):
		var c Count
		c.Span = f.id(`,"in":`)
		c.Name = d.name(f.text(`,"name":"`))
		c.Value = f.number(`,"value":`)
		c.At = time.Duration(f.number(`,"at":`))
		return &c, f.ended()
	case f.next(`{"k":"executed"`):
		var e Executed
		e.Span = f.id(`,"span":`)
		if f.next(`,"track":`) {
			e.Track = int(f.id(""))
		}
		e.Operations = numbers[int](&f, `,"operations":`)
		e.Start = numbers[int64](&f, `,"start_ns":`)
		e.Time = numbers[int64](&f, `,"ns":`)
		return &e, f.ended()
	}
	return nil, false
}

// fields reads a line field by field. What is not as it is expected to be is
// nothing, and so is all that follows it.
type fields struct {
	rest   []byte
	failed bool
}

// next passes over what is there, if that is so.
func (f *fields) next(text string) (ok bool) {
	if len(f.rest) >= len(text) && string(f.rest[:len(text)]) == text {
		f.rest, ok = f.rest[len(text):], true
	}
	return ok
}

// ended says whether all was as expected, up to the closing brace.
func (f *fields) ended() bool { return !f.failed && string(f.rest) == "}" }

func (f *fields) id(before string) trace.ID {
	n := f.number(before)
	f.failed = f.failed || int64(trace.ID(n)) != n
	return trace.ID(n)
}

func (f *fields) number(before string) (n int64) {
	ok := f.next(before)
	if ok {
		n, f.rest, ok = number(f.rest)
	}
	f.failed = f.failed || !ok
	return n
}

// numbers is a list of whole numbers.
func numbers[T int | int64](f *fields, before string) []T {
	if !f.next(before) || !f.next("[") {
		f.failed = true
		return nil
	}
	out := []T{}
	for !f.failed && !f.next("]") {
		if len(out) > 0 && !f.next(",") {
			f.failed = true
		}
		n := f.number("")
		f.failed = f.failed || int64(T(n)) != n
		out = append(out, T(n))
	}
	return out
}

// text is what stands up to the next quote.
func (f *fields) text(before string) (text []byte) {
	ok := f.next(before)
	if ok {
		text, f.rest, ok = plainText(f.rest)
	}
	f.failed = f.failed || !ok
	return text
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

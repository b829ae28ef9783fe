package objc

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"
)

// Message is a method that is sent through a Go function of type F, whose
// first two parameters are the receiver and the selector:
//
//	Name Message[func(ID, SEL) ID] `objc:"MTLDevice - name @@:"`
//
// The tag is the owner (a class or protocol), + for a class method or - for
// one of instances, the selector, and Apple's type encoding without offsets.
// A call costs about a microsecond and some small allocations.
type Message[F any] struct {
	SEL  SEL
	Send F
}

// Get sends a message that takes nothing to o, and returns the answer.
func Get[T any](m *Message[func(ID, SEL) T], o ID) T { return m.Send(o, m.SEL) }

// Set sends a message that takes one thing and answers nothing.
func Set[A any](m *Message[func(ID, SEL, A)], o ID, a A) { m.Send(o, m.SEL, a) }

// Do sends a message that takes nothing and answers nothing.
func Do(m *Message[func(ID, SEL)], o ID) { m.Send(o, m.SEL) }

// Fast is a method that is sent without reflection, by one of Runtime's Send
// methods; F only states its signature. It suits messages whose arguments and
// result are words, and that are sent often.
type Fast[F any] struct {
	SEL SEL
	_   [0]func(F)
}

// declared is a Message or a Fast of any signature.
type declared interface {
	signature() reflect.Type
	bind(rt *Runtime, name string)
}

func (m *Message[F]) signature() reflect.Type { return reflect.TypeFor[F]() }
func (m *Message[F]) bind(rt *Runtime, name string) {
	m.SEL = rt.registerName(name)
	purego.RegisterFunc(&m.Send, rt.entry(m.signature()))
}

func (m *Fast[F]) signature() reflect.Type       { return reflect.TypeFor[F]() }
func (m *Fast[F]) bind(rt *Runtime, name string) { m.SEL = rt.registerName(name) }

// entry is the function that sends a message of this signature. On amd64 a
// result that is returned in memory shifts the arguments by one, which
// objc_msgSend would take for another receiver.
func (rt *Runtime) entry(f reflect.Type) uintptr {
	if runtime.GOARCH == "amd64" && f.NumOut() == 1 && f.Out(0).Kind() == reflect.Struct && f.Out(0).Size() > 16 {
		return rt.msgSendStret
	}
	return rt.msgSend
}

// Selector is one declared message.
type Selector struct {
	Owner    string // class or protocol
	Class    bool   // a class method
	Name     string
	Encoding string // "@@:", without offsets
}

// String is "-[MTLDevice name]".
func (s Selector) String() string {
	sign := "-"
	if s.Class {
		sign = "+"
	}
	return fmt.Sprintf("%s[%s %s]", sign, s.Owner, s.Name)
}

// Selectors lists the messages that the fields of *table declare, in order. A
// field that is no message, or whose Go signature differs from the encoding
// in its tag, is an error.
func Selectors(table any) ([]Selector, error) {
	var out []Selector
	err := each(table, func(s Selector, _ declared) { out = append(out, s) })
	return out, err
}

// Bind registers the selectors of *table and makes its functions callable.
func Bind(rt *Runtime, table any) error {
	return each(table, func(s Selector, d declared) { d.bind(rt, s.Name) })
}

func each(table any, do func(Selector, declared)) error {
	v := reflect.ValueOf(table).Elem()
	for i := range v.NumField() {
		field := v.Type().Field(i)
		d, ok := v.Field(i).Addr().Interface().(declared)
		if !ok {
			return fmt.Errorf("objc: field %s is a %s, not a message", field.Name, field.Type)
		}
		tag := strings.Fields(field.Tag.Get("objc"))
		if len(tag) != 4 || (tag[1] != "+" && tag[1] != "-") {
			return fmt.Errorf("objc: field %s: its tag must be owner, + or -, selector, encoding", field.Name)
		}
		s := Selector{Owner: tag[0], Class: tag[1] == "+", Name: tag[2], Encoding: tag[3]}
		got, err := Encoding(d.signature())
		if err != nil {
			return fmt.Errorf("objc: %v: %w", s, err)
		}
		if got != s.Encoding {
			return fmt.Errorf("objc: %v: the Go signature is %s, the encoding %s", s, got, s.Encoding)
		}
		do(s, d)
	}
	return nil
}

var encodings = map[reflect.Type]string{
	reflect.TypeFor[ID]():             "@",
	reflect.TypeFor[*ID]():            "^@",
	reflect.TypeFor[SEL]():            ":",
	reflect.TypeFor[Block]():          "@?",
	reflect.TypeFor[CString]():        "*",
	reflect.TypeFor[unsafe.Pointer](): "^v",
	reflect.TypeFor[Size]():           "{?=QQQ}",
	reflect.TypeFor[Range]():          "{_NSRange=QQ}",
	reflect.TypeFor[Version]():        "{?=qqq}",
	reflect.TypeFor[bool]():           "B",
	reflect.TypeFor[uint8]():          "C",
	reflect.TypeFor[int64]():          "q",
	reflect.TypeFor[uint64]():         "Q",
	reflect.TypeFor[float64]():        "d",
}

// Encoding is the Objective-C type encoding, without offsets, of a method with
// the Go signature f: "v@:@QQ" for func(ID, SEL, ID, uint64, uint64).
// (Apple, Objective-C Runtime Programming Guide, Type Encodings.)
func Encoding(f reflect.Type) (string, error) {
	if f.Kind() != reflect.Func || f.NumOut() > 1 || f.NumIn() < 2 {
		return "", fmt.Errorf("%v is not the signature of a message", f)
	}
	var b strings.Builder
	add := func(t reflect.Type) error {
		e, ok := encodings[t]
		if !ok {
			return fmt.Errorf("%v in %v has no encoding", t, f)
		}
		b.WriteString(e)
		return nil
	}
	if f.NumOut() == 0 {
		b.WriteByte('v')
	} else if err := add(f.Out(0)); err != nil {
		return "", err
	}
	for i := range f.NumIn() {
		if err := add(f.In(i)); err != nil {
			return "", err
		}
	}
	if f.In(0) != reflect.TypeFor[ID]() || f.In(1) != reflect.TypeFor[SEL]() {
		return "", fmt.Errorf("%v does not begin with a receiver and a selector", f)
	}
	return b.String(), nil
}

// Plain brings an encoding as a runtime states it to the form of Encoding:
// without offsets, qualifiers, and names of classes, protocols and blocks'
// parameters, and a BOOL, which amd64 has as a char, as B.
func Plain(encoding, arch string) string {
	var b strings.Builder
	for i := 0; i < len(encoding); i++ {
		switch c := encoding[i]; {
		case c >= '0' && c <= '9', strings.IndexByte("rnNoORV", c) >= 0:
		case c == '"':
			for i++; i < len(encoding) && encoding[i] != '"'; i++ {
			}
		case c == '<':
			for depth := 1; depth > 0 && i+1 < len(encoding); {
				i++
				switch encoding[i] {
				case '<':
					depth++
				case '>':
					depth--
				}
			}
		case c == '{':
			// The name of a struct may have any of these letters.
			n := strings.IndexByte(encoding[i:], '=')
			if n < 0 {
				n = 0
			}
			b.WriteString(encoding[i : i+n+1])
			i += n
		case c == 'c' && arch == "amd64":
			b.WriteByte('B')
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// Send sends a message without arguments whose result, if any, is a word.
func (rt *Runtime) Send(o ID, sel SEL) uintptr {
	r, _, _ := purego.SyscallN(rt.msgSend, uintptr(o), uintptr(sel))
	return r
}

// Send1 sends a message with one word.
//
//go:uintptrescapes
func (rt *Runtime) Send1(o ID, sel SEL, a uintptr) {
	purego.SyscallN(rt.msgSend, uintptr(o), uintptr(sel), a)
}

// Send2 sends a message with two words.
//
//go:uintptrescapes
func (rt *Runtime) Send2(o ID, sel SEL, a, b uintptr) {
	purego.SyscallN(rt.msgSend, uintptr(o), uintptr(sel), a, b)
}

// Send3 sends a message with three words.
//
//go:uintptrescapes
func (rt *Runtime) Send3(o ID, sel SEL, a, b, c uintptr) {
	purego.SyscallN(rt.msgSend, uintptr(o), uintptr(sel), a, b, c)
}

// SendSizes sends a message with two sizes by value, laid out by hand.
func (rt *Runtime) SendSizes(o ID, sel SEL, a, b Size) {
	if runtime.GOARCH == "arm64" {
		// AAPCS64: a struct of more than 16 bytes is a pointer to a copy.
		at := &[2]Size{a, b}
		rt.Send2(o, sel, uintptr(unsafe.Pointer(&at[0])), uintptr(unsafe.Pointer(&at[1])))
		return
	}
	// System V: a struct of more than 16 bytes is on the stack, which begins
	// after the six integer registers.
	purego.SyscallN(rt.msgSend, uintptr(o), uintptr(sel), 0, 0, 0, 0,
		uintptr(a.Width), uintptr(a.Height), uintptr(a.Depth),
		uintptr(b.Width), uintptr(b.Height), uintptr(b.Depth))
}

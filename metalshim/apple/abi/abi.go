// Package abi is the table of Apple's Objective-C interfaces that the project
// may use: selectors, types, ownership and enum values. It was taken from the
// crates objc2-metal and objc2-foundation 0.3.2, which are generated from
// Apple's headers; rows about the runtime itself and NSObject, and the arrays
// of two rows of NSDictionary, were entered by hand. The driver's selectors
// are held against it, and the stand-in's C prototypes are made from it and
// from a second table of what only other programs send (programs.tsv, from the
// same crates). It is linked into tests and generators only.
package abi

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"sync"
)

//go:embed metal-abi.tsv
var table string

//go:embed programs.tsv
var programs string

// Method is one method of a class or of a protocol.
type Method struct {
	Owner    string // class or protocol, "MTLDevice"
	Protocol bool   // Owner is a protocol: the receiver's class has a name of its own
	Class    bool   // a class method (+), not an instance method
	Selector string // "newBufferWithLength:options:"
	// Return and Args are type encodings without receiver and selector: "@",
	// "Q", "{?=QQQ}", "^@" (an NSError's place), "@?" (a block).
	Return string
	Args   []string
	// Owned means that the result has +1 ownership: the caller releases it.
	Owned bool
}

// Encoding is the method's type encoding without offsets: "v@:{?=QQQ}{?=QQQ}".
func (m *Method) Encoding() string { return m.Return + "@:" + strings.Join(m.Args, "") }

// Key is "-[MTLDevice name]" or "+[NSObject alloc]", by which Find finds it.
func (m *Method) Key() string {
	sign := "-"
	if m.Class {
		sign = "+"
	}
	return sign + "[" + m.Owner + " " + m.Selector + "]"
}

// Constant is a value of an enum.
type Constant struct {
	Name, Type string
	Signed     bool // an NSInteger, not an NSUInteger
}

// Table is the parsed table.
type Table struct {
	Methods   []Method          // in the table's order
	Functions map[string]string // C function → encoding: "objc_getClass" → "#*"
	Enums     map[string]int64  // constant → value; unsigned ones above 2⁶³ wrap
	Constants []Constant        // those of Enums, in the table's order
	methods   map[string]*Method
}

// Find returns the method of a key such as "-[MTLDevice name]", or nil.
func (t *Table) Find(key string) *Method { return t.methods[key] }

// Load parses the embedded table, once.
var Load = sync.OnceValues(func() (*Table, error) { return parse(table) })

// LoadAll parses it together with the table of what only other programs send.
var LoadAll = sync.OnceValues(func() (*Table, error) { return parse(table + programs) })

// Columns of the table.
const (
	colKind = iota
	colOwner
	colReceiver
	colName
	colReturn
	colReturnEncoding
	colNote
	colArgs
	colEncoding
	colFamily
	colOwnership
	colDeprecated
	colSource
	columns
)

func parse(text string) (*Table, error) {
	t := &Table{Functions: map[string]string{}, Enums: map[string]int64{}, methods: map[string]*Method{}}
	n := 0
	for line := range strings.Lines(text) {
		n++
		if strings.HasPrefix(line, "#") {
			continue
		}
		col := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(col) != columns {
			return nil, fmt.Errorf("line %d has %d columns, not %d", n, len(col), columns)
		}
		if err := t.add(col); err != nil {
			return nil, fmt.Errorf("line %d: %s: %w", n, col[colName], err)
		}
	}
	for i := range t.Methods {
		t.methods[t.Methods[i].Key()] = &t.Methods[i]
	}
	if len(t.methods) != len(t.Methods) {
		return nil, fmt.Errorf("%d methods, but %d different ones", len(t.Methods), len(t.methods))
	}
	return t, nil
}

func (t *Table) add(col []string) error {
	switch col[colKind] {
	case "protocol", "class":
		types, err := Types(col[colEncoding])
		if err != nil {
			return err
		}
		if len(types) < 3 || types[1] != "@" || types[2] != ":" {
			return fmt.Errorf("encoding %q has no receiver and selector", col[colEncoding])
		}
		if got, want := len(types)-3, strings.Count(col[colName], ":"); got != want {
			return fmt.Errorf("encoding %q has %d arguments, the selector %d", col[colEncoding], got, want)
		}
		t.Methods = append(t.Methods, Method{
			Owner: col[colOwner], Protocol: col[colKind] == "protocol", Class: col[colReceiver] == "+",
			Selector: col[colName], Return: types[0], Args: types[3:],
			Owned: strings.HasPrefix(col[colOwnership], "+1"),
		})
	case "function":
		t.Functions[col[colName]] = col[colEncoding]
	case "enum":
		v, err := strconv.ParseInt(col[colReturn], 10, 64)
		if err != nil {
			u, uerr := strconv.ParseUint(col[colReturn], 10, 64)
			if uerr != nil {
				return fmt.Errorf("value %q: %w", col[colReturn], err)
			}
			v = int64(u)
		}
		t.Enums[col[colName]] = v
		t.Constants = append(t.Constants, Constant{Name: col[colName], Type: col[colOwner], Signed: col[colReturnEncoding] == "NSInteger"})
	case "struct":
	default:
		return fmt.Errorf("kind %q", col[colKind])
	}
	return nil
}

// Types divides an encoding into its types: "v@:@?{?=QQ}" → v, @, :, @?, {?=QQ}.
func Types(encoding string) ([]string, error) {
	var out []string
	for rest := encoding; rest != ""; {
		n := typeLen(rest)
		if n == 0 {
			return nil, fmt.Errorf("encoding %q: no type at %q", encoding, rest)
		}
		out = append(out, rest[:n])
		rest = rest[n:]
	}
	return out, nil
}

// typeLen is the length of the type that s begins with, 0 if there is none.
func typeLen(s string) int {
	if s == "" {
		return 0
	}
	switch s[0] {
	case '^':
		if n := typeLen(s[1:]); n > 0 {
			return 1 + n
		}
		return 0
	case '@':
		if strings.HasPrefix(s, "@?") {
			return 2
		}
		return 1
	case '{':
		depth := 0
		for i, c := range s {
			switch c {
			case '{':
				depth++
			case '}':
				if depth--; depth == 0 {
					return i + 1
				}
			}
		}
		return 0
	}
	if strings.IndexByte("#:*vBcCsSiIlLqQfd", s[0]) >= 0 {
		return 1
	}
	return 0
}

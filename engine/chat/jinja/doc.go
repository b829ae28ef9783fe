// Package jinja renders the templates that models put conversations into: the
// language of Python's jinja2 3.1 as Hugging Face's transformers sets it up for
// chat templates (blocks trimmed and left-stripped, an immutable sandbox, loop
// controls, the tag generation, and the functions raise_exception, strftime_now
// and tojson), without what needs other files.
//
// A template comes with a model, from anyone. So what it may cost is bounded (see
// Limits), it reaches nothing but its variables, and whatever is wrong with it is
// an *Error that names a line.
package jinja

import "fmt"

// Error is what is wrong with a template, or with what it is given.
type Error struct {
	Line int
	What string
	// Raised is whether the template itself refused, with raise_exception.
	Raised bool
	// Undefined is the name of the variable that has no value, where that is what
	// is wrong.
	Undefined string
}

func (e *Error) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.What) }

// Limits bound what one rendering may cost.
type Limits struct {
	Steps int // evaluated expressions and statements, and what handling long texts adds
	Bytes int // of all texts and lists made on the way, and of the output
}

// maxDepth bounds how deep a template and its values may be nested and its macros
// may call each other: about a fifth of what Python's own stack allows.
const maxDepth = 200

// caught turns a panic with an *Error into that error. Inside of the package errors
// are thrown, as in encoding/json and text/template: an expression has dozens of
// places that may fail, in the middle of values.
func caught(err *error) {
	switch p := recover().(type) {
	case nil:
	case *Error:
		*err = p
	default:
		panic(p)
	}
}

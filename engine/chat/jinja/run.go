package jinja

import (
	"fmt"
	"strings"
	"time"
)

// Template is a template that can be rendered, by several at a time.
type Template struct{ body []statement }

// MaxSource bounds the bytes of a template. The largest of public models has some
// twenty thousand.
const MaxSource = 1 << 20

// Parse reads a template. Its error is an *Error.
func Parse(source string) (*Template, error) {
	if len(source) > MaxSource {
		return nil, &Error{Line: 1, What: fmt.Sprintf("the template has %d bytes, and more than %d are not read", len(source), MaxSource)}
	}
	body, err := parse(source)
	if err != nil {
		return nil, err
	}
	return &Template{body}, nil
}

// Input is what a template is rendered with.
type Input struct {
	Variables *Dict
	// Required has the variables that are an error wherever their value is wanted
	// and Variables has none, with what is wrong then. Other ones are empty texts.
	Required map[string]string
	Now      time.Time // for strftime_now
	Limits   Limits
}

// Render returns the text. Its error is an *Error.
func (t *Template) Render(in Input) (out string, err error) {
	defer caught(&err)
	r := &run{Input: in, out: &strings.Builder{}}
	r.body(t.body, &scope{})
	return r.out.String(), nil
}

// run is one rendering.
type run struct {
	Input
	out          *strings.Builder
	line         at
	steps, bytes int
	depth        int
}

func (r *run) fail(format string, args ...any) {
	panic(&Error{Line: int(r.line), What: fmt.Sprintf(format, args...)})
}

// step counts what is evaluated.
func (r *run) step(n int) {
	if r.steps += n; r.steps > r.Limits.Steps {
		r.fail("the template takes more than %d steps: it may loop without end", r.Limits.Steps)
	}
}

// work counts the reading of n bytes.
func (r *run) work(n int) { r.step(n / 64) }

// grow counts n bytes that are about to be made.
func (r *run) grow(n int) {
	if n < 0 || n > r.Limits.Bytes || r.bytes+n > r.Limits.Bytes {
		r.fail("the template makes more than %d bytes of text and lists", r.Limits.Bytes)
	}
	r.bytes += n
	r.work(n)
}

// deeper bounds how deep values and statements are nested.
func (r *run) deeper(most int) (up func()) {
	if r.depth++; r.depth > most {
		r.fail("the template calls itself, or nests, deeper than %d levels", most)
	}
	return func() { r.depth-- }
}

// maxNested bounds expressions and statements that stand in each other, with those
// of the macros that called them.
const maxNested = 10 * maxDepth

func (r *run) value(e expression, s *scope) any {
	r.step(1)
	if r.depth++; r.depth > maxNested {
		r.fail("the template calls itself, or nests, deeper than %d levels", maxNested)
	}
	v := e.eval(r, s)
	r.depth--
	return v
}

// body executes statements in a scope.
func (r *run) body(all []statement, s *scope) flow {
	for _, one := range all {
		r.step(1)
		if r.depth++; r.depth > maxNested {
			r.fail("the template calls itself, or nests, deeper than %d levels", maxNested)
		}
		f := one.exec(r, s)
		r.depth--
		if f != onward {
			return f
		}
	}
	return onward
}

// captured is what f writes.
func (r *run) captured(f func()) string {
	outer := r.out
	r.out = &strings.Builder{}
	f()
	text := r.out.String()
	r.out = outer
	return text
}

func (r *run) write(s string) {
	r.grow(len(s))
	r.out.WriteString(s)
}

// scope has the variables of a block, and the block around it.
type scope struct {
	values map[string]any
	outer  *scope
}

func (s *scope) set(name string, v any) {
	if s.values == nil {
		s.values = map[string]any{}
	}
	s.values[name] = v
}

func (s *scope) inner() *scope { return &scope{outer: s} }

// lookup finds a variable, or a function that every template has.
func (r *run) lookup(s *scope, name string) any {
	for ; s != nil; s = s.outer {
		if v, ok := s.values[name]; ok {
			return v
		}
	}
	if v, ok := r.Variables.get(hashed{name}); ok {
		return v
	}
	if f, ok := globals[name]; ok {
		return f
	}
	if why, ok := r.Required[name]; ok {
		return &undefined{why: why, name: name, strict: true}
	}
	return &undefined{why: fmt.Sprintf("'%s' is undefined", name), name: name}
}

// strict fails where an undefined value may not be passed over in silence, used
// where it is used for more than that.
func (r *run) strict(u *undefined) {
	if u.strict {
		r.used(u)
	}
}

func (r *run) used(u *undefined) {
	panic(&Error{Line: int(r.line), What: u.why, Undefined: u.name})
}

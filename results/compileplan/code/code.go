// Package code writes a compile plan as a page of code that a program's author takes
// over: Rust with the crates that candle stands on, Swift, and C++ with Apple's
// metal-cpp. The page makes everything of the plan by Metal's calls with completion
// handlers. What a recording calls things may come from anybody: in a page it is a
// string literal or a comment, and nothing else.
package code

import (
	"bytes"
	_ "embed"
	"fmt"
	"io"
	"strings"
	"text/template"

	"github.com/introgen/introgen/results/compileplan"
	"github.com/introgen/introgen/results/sanitize"
)

// Language is one that a page can be written in.
type Language struct {
	Name   string // as --code takes it
	Ending string // of a file's name
	page   *template.Template
}

//go:embed page.rs.tmpl
var rust string

//go:embed page.swift.tmpl
var swift string

//go:embed page.cpp.tmpl
var cpp string

// Languages are those that are known.
var Languages = []Language{
	{"rust", ".rs", page(rust, func(r rune) string { return fmt.Sprintf(`\u{%x}`, r) })},
	{"swift", ".swift", page(swift, func(r rune) string { return fmt.Sprintf(`\u{%x}`, r) })},
	{"cpp", ".cpp", page(cpp, octal)},
}

// octal writes a character as bytes of UTF-8: three digits end an escape whatever
// follows, which a hexadecimal one does not.
func octal(r rune) string {
	var b strings.Builder
	for _, c := range []byte(string(r)) {
		fmt.Fprintf(&b, `\%03o`, c)
	}
	return b.String()
}

func page(text string, escape func(rune) string) *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"str":     func(s string) string { return literal(s, escape) },
		"comment": comment,
		"hex":     func(n uint64) string { return fmt.Sprintf("%#x", n) },
	}).Parse(text))
}

// literal is a string literal: what is not a plain character of ASCII is escaped, and
// of those quotes, backslashes, which begin Swift's interpolation too, and the question
// marks of C's trigraphs.
func literal(s string, escape func(rune) string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		if r < ' ' || r > '~' || strings.ContainsRune(`"\?`, r) {
			b.WriteString(escape(r))
		} else {
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// comment is a text in a comment of one line. A backslash would join the next line to
// it, as in C a trigraph for one does.
func comment(s string) string {
	s = strings.NewReplacer(`\`, "/", "??", "? ?").Replace(sanitize.Line(s))
	return strings.TrimRight(s, " ")
}

// constant is a function constant as a page has it.
type constant struct {
	Name  string
	Index int
	Data  int
	Bits  uint64
	Text  string
}

// need is a pipeline as a page has it.
type need struct {
	Place     int // of its library
	Library   string
	Pipeline  compileplan.Pipeline
	Constants []constant
}

// Write writes a page.
func (l Language) Write(w io.Writer, p *compileplan.Plan) error {
	d := struct {
		Title string
		Plan  *compileplan.Plan
		Order []need
		Left  []string
	}{Plan: p, Title: fmt.Sprintf("What a run compiled: %s.", p.Size())}
	for _, r := range p.Order() {
		of := p.Libraries[r.Library]
		n := need{Place: r.Library, Library: of.Name, Pipeline: of.Pipelines[r.Pipeline]}
		for _, c := range n.Pipeline.Constants {
			bits, err := c.Bits()
			if err != nil {
				return fmt.Errorf("%s %s: %w", of.Name, n.Pipeline.Function, err)
			}
			data, _ := c.DataType()
			n.Constants = append(n.Constants, constant{c.Name, c.Index, data, bits, comment(c.String())})
		}
		d.Order = append(d.Order, n)
	}
	for _, x := range p.Left {
		d.Left = append(d.Left, strings.TrimSpace(x.Library+" "+x.Function+" "+x.Constants)+": "+x.Why)
	}
	var b bytes.Buffer
	if err := l.page.Execute(&b, d); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}

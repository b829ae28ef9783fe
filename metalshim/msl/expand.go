package msl

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// macroToken is a token on its way through the preprocessor.
type macroToken struct {
	text  string
	space bool // white space precedes it
	lines int  // line breaks that precede it
	hide  *names
	// For a survey: the tokens of the source that it came from, and whether it may
	// be another where the compiler decides a condition otherwise.
	from, to int32
	doubt    bool
}

func (t macroToken) identifier() bool { return t.text != "" && letter(t.text[0]) }

// macroTokens cuts what is in one line into tokens.
func macroTokens(text string) []macroToken {
	tokens, _ := lex(text)
	out := make([]macroToken, len(tokens))
	for i, t := range tokens {
		out[i] = macroToken{text: t.text, space: t.space != ""}
	}
	return out
}

// names is a set of macros that a token must not be expanded by again.
type names struct {
	name string
	next *names
}

func (n *names) has(name string) bool {
	for ; n != nil; n = n.next {
		if n.name == name {
			return true
		}
	}
	return false
}

// both is the names that are in both sets.
func (n *names) both(o *names) (out *names) {
	for ; n != nil; n = n.next {
		if o.has(n.name) {
			out = &names{n.name, out}
		}
	}
	return out
}

// with is n and o together.
func (n *names) with(o *names) *names {
	if n == nil {
		return o
	}
	for ; o != nil; o = o.next {
		if !n.has(o.name) {
			n = &names{o.name, n}
		}
	}
	return n
}

// expand replaces macros by the rules of C's standard (ISO C 6.10.3), each token
// remembering the macros that it came from.
func (p *preprocessor) expand(in []macroToken) ([]macroToken, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, fmt.Errorf("macros are nested deeper than %d", maxDepth)
	}
	defer func() { p.depth-- }()
	stack := slices.Clone(in)
	slices.Reverse(stack)
	out := make([]macroToken, 0, len(in))
	for len(stack) > 0 {
		if p.budget--; p.budget < 0 {
			return nil, errTooLarge
		}
		t := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if t.text == "_Pragma" && p.survey == nil {
			if args, rest, _, ok := arguments(stack); ok && len(args) == 1 {
				stack = rest
				continue
			}
		}
		m, is := p.macros[t.text]
		if !is || !t.identifier() || t.hide.has(t.text) || p.survey.leaves(m) {
			t.doubt = t.doubt || p.survey.doubts(t, t.to)
			out = append(out, t)
			continue
		}
		body, hide, lines, to := m.body, t.hide, t.lines, t.to
		if m.function {
			args, rest, end, ok := arguments(stack)
			if !ok || !m.fits(&args) {
				p.survey.uncalled(p.depth, stack)
				t.doubt = t.doubt || p.survey.doubts(t, t.to)
				out = append(out, t)
				continue
			}
			to = max(to, end.to)
			var err error
			if body, err = p.substitute(m, args); err != nil {
				return nil, err
			}
			stack, hide = rest, t.hide.both(end.hide)
			for _, arg := range append(args, []macroToken{end}) {
				for _, x := range arg {
					lines += x.lines
				}
			}
		}
		doubt := p.survey.doubts(t, to) || t.doubt
		if len(body) == 0 && len(stack) > 0 {
			stack[len(stack)-1].lines += lines
			stack[len(stack)-1].doubt = stack[len(stack)-1].doubt || doubt
		} else if len(body) == 0 {
			p.survey.trail(doubt)
		}
		if p.budget -= len(body); p.budget < 0 {
			return nil, errTooLarge
		}
		hide = &names{t.text, hide} // a token whose set has it is not expanded
		for i := len(body) - 1; i >= 0; i-- {
			x := body[i]
			x.hide = x.hide.with(hide)
			x.from, x.to, x.doubt = t.from, to, x.doubt || doubt
			if i == 0 {
				x.space, x.lines = t.space, lines
			}
			stack = append(stack, x)
		}
	}
	return out, nil
}

// arguments reads the arguments of a macro from a stack of tokens, the next one
// last. end is the closing bracket.
func arguments(stack []macroToken) (args [][]macroToken, rest []macroToken, end macroToken, ok bool) {
	i := len(stack) - 1
	if i < 0 || stack[i].text != "(" {
		return nil, nil, macroToken{}, false
	}
	depth := 0
	arg := []macroToken{}
	for ; i >= 0; i-- {
		t := stack[i]
		switch t.text {
		case "(":
			if depth++; depth == 1 {
				continue
			}
		case ")":
			if depth--; depth == 0 {
				return append(args, arg), stack[:i], t, true
			}
		case ",":
			if depth == 1 {
				args = append(args, arg)
				arg = []macroToken{}
				continue
			}
		}
		arg = append(arg, t)
	}
	return nil, nil, macroToken{}, false
}

// fits says whether m takes args, and joins those of the three dots.
func (m macro) fits(args *[][]macroToken) bool {
	a, n := *args, len(m.params)
	if n == 0 {
		return len(a) == 1 && len(a[0]) == 0
	}
	if m.variadic {
		if len(a) == n-1 {
			a = append(a, nil)
		}
		for len(a) > n {
			last := append(append(slices.Clone(a[n-1]), macroToken{text: ","}), a[n]...)
			a = append(append(slices.Clone(a[:n-1]), last), a[n+1:]...)
		}
	}
	*args = a
	return len(a) == n
}

// substitute is m's body with the arguments in their places.
func (p *preprocessor) substitute(m macro, args [][]macroToken) ([]macroToken, error) {
	expanded := make([][]macroToken, len(args))
	index := func(i int) int {
		if i < 0 || i >= len(m.body) {
			return -1
		}
		return slices.Index(m.params, m.body[i].text)
	}
	var out []macroToken
	for i := 0; i < len(m.body); i++ {
		t := m.body[i]
		if t.text == "#" {
			if k := index(i + 1); k >= 0 {
				out = append(out, macroToken{text: quoted(args[k]), space: t.space})
				i++
				continue
			}
		}
		if t.text == "##" && i+1 < len(m.body) {
			right := m.body[i+1 : i+2]
			if k := index(i + 1); k >= 0 {
				right = args[k]
			}
			out = paste(out, right)
			i++
			continue
		}
		k := index(i)
		if k < 0 {
			out = append(out, t)
			continue
		}
		arg := args[k]
		if i+1 >= len(m.body) || m.body[i+1].text != "##" {
			if expanded[k] == nil && len(arg) > 0 {
				var err error
				if expanded[k], err = p.expand(arg); err != nil {
					return nil, err
				}
			}
			arg = expanded[k]
		}
		if p.budget -= len(arg); p.budget < 0 {
			return nil, errTooLarge
		}
		for j, x := range arg {
			x.lines = 0
			if j == 0 {
				x.space = t.space
			}
			out = append(out, x)
		}
	}
	return out, nil
}

// paste joins the last token of left to the first of right.
func paste(left, right []macroToken) []macroToken {
	if len(right) == 0 {
		if n := len(left); n > 0 && left[n-1].text == "," { // the comma before three dots that are empty
			return left[:n-1]
		}
		return left
	}
	n := len(left)
	if n == 0 || left[n-1].text == "," {
		return append(left, right...)
	}
	left = slices.Clone(left)
	left[n-1].text += right[0].text
	left[n-1].doubt = left[n-1].doubt || right[0].doubt
	return append(left, right[1:]...)
}

// quoted is the text of an argument as a string.
func quoted(arg []macroToken) string {
	var b strings.Builder
	for i, t := range arg {
		if i > 0 && (t.space || t.lines > 0) {
			b.WriteByte(' ')
		}
		b.WriteString(t.text)
	}
	return strconv.Quote(b.String())
}

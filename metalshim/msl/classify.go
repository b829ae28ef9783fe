package msl

import (
	"cmp"
	"slices"
	"strings"
)

// classify says what a declaration declares.
func (s *splitter) classify(d *declaration) *Part {
	p := &Part{}
	first := s.at(d.head)
	if slices.Contains(d.words, "_Pragma") {
		p.Kept = "a _Pragma stands before it"
		return p
	}
	for _, a := range d.attributes {
		if !plainAttributes[a.name] {
			p.Kept = "it has the attribute " + a.name
		}
	}
	if first == "vertex" || first == "fragment" || first == "mesh" || first == "object" {
		p.Kept = "it is a " + first + " function"
	}
	entry := slices.ContainsFunc(d.words, func(w string) bool { return entries[w] }) ||
		slices.ContainsFunc(d.attributes, func(a attribute) bool { return entries[a.name] })
	switch {
	case first == "template": // an explicit instantiation
		name := s.instantiated(d)
		if host := d.attributes.host(); name != "" && (entry || host != "") {
			p.Kernel = cmp.Or(host, name)
			return p
		}
		p.Kept = "it is an explicit instantiation"
	case d.params >= 0 && slices.Contains(d.words, "operator"):
		p.Kept = "it is an operator"
	case first == "using" && s.at(d.head+2) == "=":
		p.Names = []string{s.at(d.head + 1)}
	case first == "using" || first == "namespace" || first == "static_assert" || first == "_Static_assert" || first == "asm" || first == "extern" || first == ";" || first == "friend":
		p.Kept = "it is a " + cmp.Or(strings.Trim(first, ";"), "semicolon")
	case first == "typedef":
		s.typedef(d, p)
	case d.params >= 0 && (d.body < 0 || d.function) && d.equals < 0 || d.params >= 0 && s.bodiless(d):
		s.functionNames(d, p, entry)
	case d.class >= 0:
		s.classNames(d, p)
	default:
		s.variables(d, p)
	}
	if len(p.Names) == 0 && p.Kernel == "" && p.Kept == "" {
		p.Kept = "it declares what cannot be told"
	}
	if i := slices.IndexFunc(p.Names, func(n string) bool { return implied[n] || n == "" }); i >= 0 && p.Kept == "" {
		p.Kept = "C++ may ask for it without a mention"
	}
	return p
}

// bodiless says whether the declaration is that of a function that is deleted or
// defaulted.
func (s *splitter) bodiless(d *declaration) bool {
	return d.equals >= 0 && (s.at(d.equals+1) == "delete" || s.at(d.equals+1) == "default") && s.at(d.equals+2) == ";"
}

// instantiated is the name of the function that an explicit instantiation names:
// that before its arguments and parameters, or "".
func (s *splitter) instantiated(d *declaration) string {
	q := d.end - 2
	if s.at(q) == ")" {
		q = s.close(q) - 1
	}
	if s.at(q) == ">" {
		for depth := 0; q > d.head; q-- {
			if s.at(q) == ")" {
				q = s.close(q)
			} else if s.at(q) == ">" {
				depth++
			} else if s.at(q) == "<" {
				if depth--; depth == 0 {
					break
				}
			}
		}
		q--
	}
	if q <= d.head || !s.tok[q].name() {
		return ""
	}
	return s.at(q)
}

// functionNames is the name of a function, before its parameters, and that of the
// class it is a member of.
func (s *splitter) functionNames(d *declaration, p *Part, entry bool) {
	k := d.params - 1
	if s.at(k) == ">" { // arguments of a specialisation
		for depth := 0; k > d.head; k-- {
			if s.at(k) == ">" {
				depth++
			} else if s.at(k) == "<" {
				if depth--; depth == 0 {
					break
				}
			}
		}
		k--
	}
	if k < d.head || !s.tok[k].name() {
		return
	}
	name := s.at(k)
	p.Names = []string{name}
	if s.at(k-1) == "::" || s.at(k-1) == "~" {
		p.Kept = "it is a member's definition"
	}
	if entry && d.templates == 0 {
		p.Kernel = cmp.Or(d.attributes.host(), name)
	}
}

// classNames are those of a class or an enumeration, of the variables declared with
// it, and of the enumerators.
func (s *splitter) classNames(d *declaration, p *Part) {
	k := d.class + 1
	if s.at(d.class) == "enum" && (s.at(k) == "class" || s.at(k) == "struct") {
		k++
	} else if s.at(d.class) == "enum" && d.body >= 0 {
		for i := d.body + 1; i < d.last; i++ {
			if s.tok[i].name() && (s.at(i-1) == "{" || s.at(i-1) == ",") {
				p.Names = append(p.Names, s.at(i))
			}
		}
	}
	for ; k < d.end; k++ {
		if _, e, ok := s.list(k); ok {
			k = e - 1
		} else if heads[s.at(k)] && s.at(k+1) == "(" {
			k = s.close(k + 1)
		} else {
			break
		}
	}
	if s.tok[k].name() {
		p.Names = append(p.Names, s.at(k))
	} else if d.body < 0 {
		p.Names = nil
		return
	}
	from := d.last + 1
	if d.body < 0 {
		from = k + 1
	}
	for i := from; i < d.end; i++ {
		if s.tok[i].name() {
			p.Names = append(p.Names, s.at(i))
		}
	}
	if s.at(k+1) == "<" && d.templates > 0 || d.class > d.head && d.templates == 0 && d.equals >= 0 {
		// A specialisation belongs to a template that may be the library's.
		p.Kept = "it is a specialisation"
	}
}

// typedef names what stands last, and the class that it is made of.
func (s *splitter) typedef(d *declaration, p *Part) {
	if d.body >= 0 && d.class >= 0 {
		s.classNames(d, p)
		return
	}
	k := d.end - 2
	for s.at(k) == "]" && k > d.head {
		k = s.close(k) - 1
	}
	if k > d.head && s.at(k) == ")" { // of a function's parameters, or around the name
		if open := s.close(k); open-1 > d.head && (s.at(open-1) == ")" || s.tok[open-1].name()) {
			k = open - 1
		}
	}
	if k > d.head && s.tok[k].name() {
		p.Names = []string{s.at(k)}
		return
	}
	if s.at(k) == ")" {
		for i := max(s.close(k), d.head); i < k; i++ {
			if s.tok[i].name() {
				p.Names = append(p.Names, s.at(i))
			}
		}
	}
}

// variables are names before =, [, {, a comma or the end, outside of initialisers. A
// comma ends an initialiser; where it is one between a template's arguments there is
// a name too many, which does no harm.
func (s *splitter) variables(d *declaration, p *Part) {
	value := false
	for k := d.head; k < d.end; k++ {
		if _, e, ok := s.list(k); ok {
			k = e - 1
			continue
		}
		switch s.at(k) {
		case "(", "{", "[":
			k = s.close(k)
			continue
		case "=", ",":
			value = s.at(k) == "="
		case "<":
			if d.equals >= 0 && k > d.equals {
				break
			}
			e := s.closeAngle(k)
			if e < 0 { // it begins no template's arguments: what this is cannot be told
				p.Names = nil
				return
			}
			k = e
			continue
		}
		if !s.tok[k].name() || value {
			continue
		}
		switch s.at(k + 1) {
		case "=", "[", "{", ",", ";":
			p.Names = append(p.Names, s.at(k))
		}
	}
	if d.templates > 0 && d.equals < 0 || slices.Contains(d.words, "operator") {
		p.Names = nil
	}
}

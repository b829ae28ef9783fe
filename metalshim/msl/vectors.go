package msl

import (
	"slices"
	"strings"
)

var vectorNames = func() map[string]bool {
	names := map[string]bool{}
	for _, t := range strings.Fields("bool char uchar short ushort int uint long ulong half bfloat float") {
		for _, n := range []string{"2", "3", "4"} {
			names[t+n], names["simd_"+t+n], names["vector_"+t+n] = true, true, true
		}
	}
	return names
}()

// typeName is the name of a type in tokens from..to, with what qualifies it and the
// arguments of its template.
type typeName struct {
	from, to int
	sure     bool // it is a vector; else it may be one
}

// typeAt reads the name of a type that may be a vector, whose last part is token i.
func (r *rewriter) typeAt(i int) (n typeName, ok bool) {
	t := r.at(i)
	angle := r.at(i+1) == "<"
	n = typeName{i, i + 1, vectorNames[t] && !angle || r.aliases[t]}
	if t == "typename" {
		return r.dependent(i)
	}
	if t == "vec" && angle {
		n.sure = true
	}
	if !n.sure && !r.maybe[t] || t == "vec" && !angle {
		return n, false
	}
	if angle {
		e := r.closeAngle(i + 1)
		if e < 0 {
			return n, false
		}
		n.to = e + 1
	}
	for r.at(n.from-1) == "::" {
		switch {
		case n.from > 1 && r.tok[n.from-2].name() && r.at(n.from-2) != "return":
			n.from -= 2
		case r.at(n.from-2) == ">":
			open := r.openAngle(n.from - 2)
			if open < 1 {
				return n, false
			}
			n.from = open - 1
		default:
			n.from--
			return n, true
		}
	}
	if r.at(n.from-1) == "typename" && n.from < i {
		n.from--
	}
	return n, true
}

// dependent reads `typename A<T>::B`, a name that the sets of vectors do not have.
func (r *rewriter) dependent(i int) (n typeName, ok bool) {
	k := i + 1
	qualified := false
	for k < len(r.tok) {
		switch {
		case r.at(k) == "::":
			qualified = true
		case r.at(k) == "<":
			if k = r.closeAngle(k); k < 0 {
				return n, false
			}
		case r.tok[k].name() && (r.at(k-1) == "::" || k == i+1 || r.at(k-1) == "template"):
			if last := r.at(k+1) != "::" && r.at(k+1) != "<"; last && (r.aliases[r.at(k)] || r.maybe[r.at(k)] || vectorNames[r.at(k)]) {
				return n, false // read at its last part
			}
		default:
			return typeName{i, k, false}, qualified
		}
		k++
	}
	return n, false
}

// vectorCast rewrites float4(a, b), (float4) a and float4 v(a, b), which C++ does not
// have for clang's vectors. Token i is the last part of the type's name.
func (r *rewriter) vectorCast(i int) {
	n, ok := r.typeAt(i)
	if !ok {
		return
	}
	before, after := r.at(n.from-1), r.at(n.to)
	switch {
	case before == "operator" || before == "typedef" || before == "new":
	case after == "(":
		r.conversion(n, before)
	case before == "(" && after == ")":
		r.cast(n)
	case n.sure && n.to < len(r.tok) && r.tok[n.to].name() && (r.at(n.to+1) == "(" || r.at(n.to+1) == ","):
		r.direct(n)
	}
}

// conversion rewrites float4(a, b).
func (r *rewriter) conversion(n typeName, before string) {
	if r.isDeclarator(n, before) {
		return
	}
	if !n.sure {
		open := n.to
		if end := r.close(open); end == open+2 && digit(r.at(open + 1)[0]) || end == open+1 {
			return // C++ knows what to do with a number, or nothing
		}
		if r.classes[r.at(n.to-1)] && (before == ";" || before == "{" || before == "}" || before == ":" || before == "" || before == "explicit" || before == "inline") {
			return // a constructor's declaration
		}
	}
	first, last := n.from, n.to-1
	// metal::float4 is the same name without metal.
	if n.to-n.from == 3 && r.at(first) == "metal" && vectorNames[r.at(last)] {
		first = last
	}
	prefix := "msl_mk<"
	if first != n.to-1 && r.at(first+1) != "<" || r.at(first) == "typename" || r.at(first) == "::" {
		prefix = "::metal::msl_mk<"
	}
	r.out[first] = prefix + r.out[first]
	r.out[last] += r.angle(last)
	r.boolVectors(n.to)
}

// angle closes a list that ends in token last.
func (r *rewriter) angle(last int) string {
	if r.at(last) == ">" {
		return " >"
	}
	return ">"
}

// isDeclarator says whether what stands in brackets behind a type is a name that is
// declared, as in float4 (&a)[2], or the types of a function's parameters.
func (r *rewriter) isDeclarator(n typeName, before string) bool {
	k := n.to + 1
	for addressSpace(r.at(k)) || r.at(k) == "const" {
		k++
	}
	end := r.close(n.to)
	if end < 0 {
		return false
	}
	if s := r.at(k); (s == "&" || s == "*" || s == "&&") && end == k+2 && r.tok[k+1].name() && (r.at(end+1) == "[" || r.at(end+1) == "(") {
		switch before {
		case ";", "{", "}", "(", ",", ")", "", "const", "constexpr", "static", "device", "threadgroup", "thread", "constant", "volatile", ">":
			return k > n.to+1 || before != "(" && before != ","
		}
	}
	return k > n.to+1 || end == k+1 && (r.at(k) == "*" || r.at(k) == "&")
}

// cast rewrites (float4) a.
func (r *rewriter) cast(n typeName) {
	open, end := n.from-1, n.to
	if r.at(end+1) == "{" || r.close(open) != end {
		return
	}
	// A name, a bracket or a template's end before "(" makes it an argument.
	nested := false
	if open > 0 {
		p := r.tok[open-1]
		words := []string{"return", "else", "case", "do", "and", "or", "not"}
		switch {
		case p.text == ")" && r.castBefore(open-1):
			nested = true
		case p.word() && !slices.Contains(words, p.text) || p.text == "]" || p.text == ")" || p.text == ">" && r.openAngle(open-1) > 0 && r.tok[max(r.openAngle(open-1)-1, 0)].name():
			return
		case slices.Contains([]string{"-", "+", "!", "~", "*", "&", "++", "--"}, p.text):
			q := token{text: ";"}
			if open > 1 {
				q = r.tok[open-2]
			}
			nested = !(q.word() && !slices.Contains(words, q.text)) && q.text != ")" && q.text != "]"
			nested = nested || q.text == ")" && r.castBefore(open-2)
		}
	}
	x := r.tok[min(end+1, len(r.tok)-1)]
	if end+1 >= len(r.tok) || !x.word() && !slices.Contains([]string{"(", "*", "-", "+", "!", "~", "&", "++", "--", "::"}, x.text) && x.text[0] != '.' {
		return
	}
	if !n.sure && (x.text == "*" || x.text == "&" || x.text == "-" || x.text == "+") && r.at(end+1) != "-" && r.at(end+1) != "+" && !r.maybe[r.at(n.to-1)] {
		return
	}
	if x.text == "(" {
		r.boolVectors(end + 1)
	}
	r.out[open], r.out[end] = "", ""
	r.out[n.from] = "::metal::msl_castop<" + r.out[n.from]
	r.out[n.to-1] += r.angle(n.to-1) + "()->*"
	if r.at(end+1) == "(" {
		r.boolVectors(end + 1)
	}
	if nested {
		if last := r.operand(end + 1); last > 0 {
			r.out[n.from] = "(" + r.out[n.from]
			r.after[last] += ")"
		}
	}
}

// castBefore says whether the bracket that closes at end is that of a cast.
func (r *rewriter) castBefore(end int) bool {
	open := r.close(end)
	if open < 0 || open+1 >= end {
		return false
	}
	if r.out[open] == "" && r.out[end] == "" {
		return true // one that is rewritten
	}
	if open > 0 && (r.tok[open-1].word() && r.at(open-1) != "return" || r.at(open-1) == "]" || r.at(open-1) == ">") {
		return false
	}
	for k := open + 1; k < end; k++ {
		if !castType(r.at(k)) {
			return false
		}
	}
	return true
}

// operand is the last token of the operand of a cast that begins at token k, or 0.
func (r *rewriter) operand(k int) int {
	for ; k < len(r.tok); k++ {
		t := r.at(k)
		if slices.Contains([]string{"-", "+", "!", "~", "*", "&", "++", "--"}, t) {
			continue
		}
		if t == "(" && r.close(k) > 0 {
			next := r.at(r.close(k) + 1)
			if p := (token{text: next}); p.word() || next == "(" && r.castBefore(r.close(k)) {
				k = r.close(k) // a cast
				continue
			}
		}
		break
	}
	last := 0
	for k < len(r.tok) {
		switch t := r.at(k); {
		case t == "(" || t == "[":
			if k = r.close(k); k < 0 {
				return last
			}
		case t == "<" && last == k-1 && r.tok[last].name() && r.closeAngle(k) > 0 && (r.at(r.closeAngle(k)+1) == "(" || r.at(r.closeAngle(k)+1) == "::"):
			k = r.closeAngle(k)
		case t == "::" || t == "." || t == "->":
			last = k
			k++
			continue
		case t == "++" || t == "--":
		case r.tok[k].word() && (last == 0 || slices.Contains([]string{"::", ".", "->", "template"}, r.at(last))):
		default:
			return last
		}
		last = k
		k++
	}
	return last
}

// direct rewrites float4 v(a, b); in a function's body, or of a constant.
func (r *rewriter) direct(n typeName) {
	begin := r.statement(n.from)
	if begin < 0 {
		return
	}
	constant := false
	for k := begin; k < n.from; k++ {
		switch r.at(k) {
		case "constant", "constexpr":
			constant = true
		case "typedef", "using", "extern", "operator", "kernel", "template":
			return
		}
	}
	if r.in[n.from] != inBody && !constant {
		return
	}
	name := r.source(n.from, n.to)
	for k := n.to; k < len(r.tok) && r.tok[k].name(); {
		end := k + 1
		if r.at(end) == "(" {
			last := r.close(end)
			if last < 0 || r.at(last+1) != ";" && r.at(last+1) != "," || last == end+1 {
				return
			}
			r.out[end] = " = ::metal::msl_mk<" + name + r.angle(n.to-1) + "("
			r.boolVectors(end)
			end = last + 1
		} else {
			end = r.initializer(end)
		}
		if r.at(end) != "," {
			return
		}
		k = end + 1
	}
}

// members rewrites v(a, b) among the initializers of a constructor where v is a
// vector.
func (r *rewriter) members() {
	vectors := map[string]bool{}
	for i := range r.tok {
		if r.in[i] == inClass && (vectorNames[r.at(i)] || r.aliases[r.at(i)] || r.at(i) == "vec") {
			if n, ok := r.typeAt(i); ok && n.to < len(r.tok) && r.tok[n.to].name() {
				for k := n.to; ; k += 2 {
					vectors[r.at(k)] = true
					if r.at(k+1) != "," || !r.tok[min(k+2, len(r.tok)-1)].name() {
						break
					}
				}
			}
		}
	}
	if len(vectors) == 0 {
		return
	}
	for i := range r.tok {
		if r.at(i) != ":" || r.in[i] == inBody {
			continue
		}
		k := i - 1
		for r.at(k) == "const" || addressSpace(r.at(k)) || r.at(k) == "noexcept" {
			k--
		}
		if r.at(k) != ")" {
			continue
		}
		for k = i + 1; k < len(r.tok) && r.tok[k].name(); k++ {
			open := k + 1
			if r.at(open) == "<" {
				open = r.closeAngle(open) + 1
			}
			if r.at(open) != "(" && r.at(open) != "{" || r.close(open) < 0 {
				break
			}
			end := r.close(open)
			if vectors[r.at(k)] && r.at(open) == "(" && r.count(open+1, end) > 1 {
				r.out[open] = "(::metal::msl_mk<decltype(" + r.at(k) + ")>("
				r.out[end] = "))"
			}
			if r.at(end+1) != "," {
				break
			}
			k = end + 1
		}
	}
}

// alias remembers names that are given to vector types, and to types that may be
// vectors: those that hang on a template's parameters.
func (r *rewriter) alias(i int) {
	name, from := "", i+1
	if r.at(i) == "using" {
		if r.at(i+2) != "=" {
			return
		}
		name, from = r.at(i+1), i+3
	} else {
		k := i
		for k < len(r.tok) && r.tok[k].text != ";" && r.tok[k].text != "{" {
			k++
		}
		if k >= len(r.tok) || r.at(k) != ";" || !r.tok[k-1].word() || vectorNames[r.at(k-1)] {
			return
		}
		name = r.at(k - 1)
	}
	k := from
	for r.at(k) == "typename" || r.at(k) == "const" || r.at(k) == "metal" || r.at(k) == "::" || addressSpace(r.at(k)) {
		k++
	}
	dependent := false
	for r.at(k+1) == "::" || r.at(k+1) == "<" && r.closeAngle(k+1) > 0 && r.at(r.closeAngle(k+1)+1) == "::" {
		dependent = dependent || r.at(k+1) == "<" || r.at(from) == "typename"
		if r.at(k+1) == "<" {
			k = r.closeAngle(k + 1)
		}
		k += 2
		if r.at(k) == "template" {
			k++
		}
	}
	t, end := r.at(k), k+1
	if r.at(end) == "<" {
		if end = r.closeAngle(end) + 1; end == 0 {
			return
		}
	}
	if s := r.at(end); s == "*" || s == "&" || s == "[" || s == "(" {
		return
	}
	switch {
	case vectorNames[t] || r.aliases[t] || t == "vec" && r.at(k+1) == "<":
		r.aliases[name] = true
	case t == "half" || t == "bfloat" || r.maybe[t] || dependent || r.at(k+1) == "<" && (t == "conditional_t" || t == "decay_t" || strings.HasSuffix(t, "vec_t")):
		r.maybe[name] = true
	}
}

package msl

import "slices"

// scope is what stands within two braces.
type scope int

const (
	outside  scope = iota // at the outermost level, or in a namespace
	inClass               // among the members of a class
	inBody                // in a function's body
	inValues              // in an initializer or an enumeration
)

// scopes says for each token in which scope it stands, and in which namespace.
func (r *rewriter) scopes() {
	r.in = make([]scope, len(r.tok))
	r.spaces = map[int]string{}
	type level struct {
		scope
		path string
		end  int
	}
	stack := []level{{outside, "", len(r.tok)}}
	start := 0 // of the declaration under way
	for i := range r.tok {
		top := stack[len(stack)-1]
		if i == top.end && len(stack) > 1 {
			stack = stack[:len(stack)-1]
			top = stack[len(stack)-1]
			start = i + 1
		}
		r.in[i] = top.scope
		switch r.at(i) {
		case ";":
			start = i + 1
		case "{":
			end := r.close(i)
			if end < 0 {
				end = len(r.tok)
			}
			next := level{r.opens(start, i, top.scope), top.path, end}
			if k := start; next.scope == outside {
				for ; k < i && r.at(k) != "namespace"; k++ {
				}
				for k++; k < i; k++ {
					if r.tok[k].name() {
						next.path += r.at(k) + "::"
					}
				}
				if next.path != "" {
					r.spaces[i] = next.path
				}
			}
			stack = append(stack, next)
			start = i + 1
		}
		if top.scope == outside && top.path != "" {
			r.spaces[i] = top.path
		}
	}
}

// opens says which scope the brace at end opens, before which a declaration began
// at start.
func (r *rewriter) opens(start, end int, around scope) scope {
	class, call, values := false, false, false
	for k := start; k < end; k++ {
		switch t := r.at(k); t {
		case "namespace", "extern":
			if around == outside && (t == "namespace" || k+1 == end-1) {
				return outside
			}
		case "enum":
			return inValues
		case "struct", "class", "union":
			class = class || !call
		case "=", "return":
			values = values || r.at(k-1) != "operator"
		case "<":
			if e := r.closeAngle(k); e > 0 && e < end {
				k = e
			}
		case "(", "[":
			call = call || t == "(" && !heads[r.at(k-1)]
			if e := r.close(k); e > k {
				k = min(e, end)
			}
		}
	}
	switch {
	case values:
		if around == inBody { // a lambda's body, or an initializer within which nothing is declared
			return inBody
		}
		return inValues
	case class && !call:
		return inClass
	case around == inBody, call, start == end:
		return inBody
	}
	return inValues
}

// statement is where the declaration or statement begins whose specifiers token i
// is among, or −1 where it stands in brackets or an expression.
func (r *rewriter) statement(i int) int {
	for k := i - 1; k >= -1; k-- {
		switch t := r.at(k); {
		case t == "" || t == ";" || t == "{" || t == "}" || t == "else" || t == "do":
			return k + 1
		case t == ":" && (r.at(k-1) == "public" || r.at(k-1) == "private" || r.at(k-1) == "protected" || r.at(k-1) == "default"):
			return k + 1
		case t == ":":
			for n := k; n > k-8 && n >= 0; n-- { // case 1:, label:
				if r.at(n) == "case" || n < k && (r.at(n) == ";" || r.at(n) == "{" || r.at(n) == "}") {
					return k + 1
				}
			}
			return -1
		case t == ")":
			open := r.close(k)
			if open < 0 {
				return -1
			}
			if !heads[r.at(open-1)] {
				return k + 1 // of an if or a for
			}
			k = open - 1
		case t == "]":
			if k = r.close(k); k < 0 {
				return -1
			}
		case t == ">":
			if k = r.openAngle(k); k < 0 {
				return -1
			}
		case t == "::" || r.tok[k].name() && t != "return":
		default:
			return -1
		}
	}
	return 0
}

// openAngle is the '<' that the '>' at i closes, or −1.
func (r *rewriter) openAngle(i int) int {
	depth := 0
	for last := max(0, i-longestList); i >= last; i-- {
		switch r.tok[i].text {
		case ")", "]", "}":
			if i = r.close(i); i < 0 {
				return -1
			}
		case ">":
			depth++
		case "<":
			if depth--; depth == 0 {
				return i
			}
		case ";":
			return -1
		}
	}
	return -1
}

// trailing says whether the address space at i qualifies a member function, behind
// whose parameters it stands.
func (r *rewriter) trailing(i int) bool {
	k := i - 1
	for slices.Contains([]string{"const", "volatile", "noexcept", "device", "thread", "threadgroup", "constant"}, r.at(k)) {
		k--
	}
	return r.at(k) == ")" && r.close(k) >= 0 && !heads[r.at(r.close(k)-1)] &&
		slices.Contains([]string{"{", ";", "=", ":", "const", "volatile", "noexcept", "->", "override", "final"}, r.at(i+1))
}

// ofConstructor says whether the address space at i qualifies a constructor.
func (r *rewriter) ofConstructor(i int) bool {
	if !r.trailing(i) {
		return false
	}
	for k := i - 1; k > 0; k-- {
		if r.at(k) == ")" {
			return r.close(k) > 0 && r.classes[r.at(r.close(k)-1)]
		}
	}
	return false
}

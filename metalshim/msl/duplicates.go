package msl

import (
	"slices"
	"strconv"
	"strings"
)

// spelling is a function or a class as it was written first.
type spelling struct {
	from, to   int // its tokens
	head, body string
	defaulted  bool
}

// dropDuplicates drops functions and classes that differ from an earlier one
// only in address spaces, which are gone by now, as in code that has to write a
// function once for each space. Their bodies must do the same: which of two a call
// means could not be told any more. What is written twice in the very same words is
// left to clang.
func (r *rewriter) dropDuplicates() error {
	first := map[string]spelling{} // by signature
	var differs error
	// again notes what is written in from..to, whose body begins at brace, and takes
	// it away where it was there before.
	again := func(path string, from, brace, to int) bool {
		defaulted := r.at(brace) == "="
		declared := r.at(brace) == ";"
		brace, _ = r.head(from, brace)
		signature, names := r.signature(from, brace)
		now := spelling{from, to, joinTokens(r.tok[from:brace]), r.meaning(brace, to, names), defaulted}
		key := path + "\x00" + signature
		if declared { // it is no definition
			key += "\x00;"
		}
		was, seen := first[key]
		switch {
		case !seen:
			first[key] = now
			return false
		case was.head == now.head:
			return false
		case was.defaulted && !now.defaulted:
			r.erase(was.from, was.to)
			first[key] = now
			return false
		case !now.defaulted && differs == nil && !r.alike(was.body, now.body, 0):
			differs = r.fail(from, "%s: it is written for several address spaces and does not do the same in each: functions that the address space alone tells apart must have the same body, or other names",
				strings.Join(strings.Fields(now.head), " "))
		}
		r.erase(from, to)
		return true
	}
	type scope struct {
		path  string // its number: the same for a namespace that is opened again
		class bool
	}
	scopes := []scope{{"0", false}}
	paths := map[string]string{}
	var signature []string
	start := 0 // where the declaration begins
	for i := 0; i < len(r.tok); i++ {
		top := scopes[len(scopes)-1]
		switch r.at(i) {
		case "{":
			end := r.close(i)
			if name, class, ok := scopeHead(signature); ok {
				if class && end > 0 {
					to := end + 1
					if r.at(to) == ";" {
						to++
					}
					if again(top.path, start, i, to) {
						signature, start, i = nil, to, to-1
						continue
					}
				}
				whole := top.path + "/" + name
				if paths[whole] == "" {
					paths[whole] = strconv.Itoa(len(paths) + 1)
				}
				scopes = append(scopes, scope{paths[whole], class})
				signature, start = nil, i+1
				continue
			}
			if end < 0 {
				return differs
			}
			_, function := r.head(start, i)
			if function && len(signature) > 2 {
				again(top.path, start, i, end+1)
			}
			i = end
			if function || r.at(end+1) == ";" {
				signature, start = nil, end+1
			}
			continue
		case "}":
			if len(scopes) > 1 {
				scopes = scopes[:len(scopes)-1]
			}
			signature, start = nil, i+1
			continue
		case ";":
			head := i
			if t := r.at(i - 1); r.at(i-2) == "=" && (t == "default" || t == "delete") {
				head = i - 2
			}
			if _, function := r.head(start, head); top.class && function {
				again(top.path, start, head, i+1)
			}
			signature, start = nil, i+1
			continue
		}
		if top.class && (r.at(i) == "public" || r.at(i) == "private" || r.at(i) == "protected") && r.at(i+1) == ":" {
			i++
			signature, start = nil, i+1
			continue
		}
		signature = append(signature, strings.Fields(r.out[i])...)
	}
	return differs
}

// head looks at tokens from..to, which stand before a body: whether they are the head
// of a function, which has parameters and no value, and where that ends, before the
// initializers of a constructor.
func (r *rewriter) head(from, to int) (end int, function bool) {
	called, value := false, false
	end = to
	for k := from; k < to; k++ {
		switch r.at(k) {
		case ":":
			if called {
				end = min(end, k)
			}
		case "=":
			value = value || r.at(k-1) != "operator"
		case "<":
			if e := r.closeAngle(k); e > 0 && e < to && r.at(k-1) != "operator" {
				k = e
			}
		case "(", "[":
			called = called || r.at(k) == "(" && !heads[r.at(k-1)]
			if e := r.close(k); e > 0 && e < to {
				k = e
			}
		}
	}
	return end, called && !value
}

// passing are words of a function's head that tell it from no other.
var passing = map[string]bool{"inline": true, "static": true, "constexpr": true, "explicit": true}

// signature is the head of a function or a class in tokens from..to as it now
// stands, without what tells it from no other, and the names of its parameters,
// which the signature and the body have by their numbers.
func (r *rewriter) signature(from, to int) (text string, names map[string]string) {
	names = map[string]string{}
	rename := map[int]bool{}
	for k := from; k < to; k++ {
		if r.at(k) == "<" && r.at(k-1) != "operator" {
			if e := r.closeAngle(k); e > 0 && e < to {
				k = e
			}
			continue
		}
		if r.at(k) != "(" || r.close(k) < 0 {
			continue
		}
		end := min(r.close(k), to)
		if heads[r.at(k-1)] || r.at(k-1) == "operator" {
			k = end
			continue
		}
		if end == k+1 {
			break
		}
		for n, at := range r.items(k+1, end) {
			if name := r.parameterName(at, end); name > 0 {
				names[r.at(name)] = "$" + strconv.Itoa(n)
				rename[name] = true
			}
		}
		break
	}
	var words []string
	for k := from; k < to; k++ {
		if heads[r.at(k)] && r.at(k+1) == "(" && r.close(k+1) > 0 && r.at(k) == "__attribute__" {
			k = r.close(k + 1)
			continue
		}
		if rename[k] {
			words = append(words, names[r.at(k)])
			continue
		}
		for _, w := range strings.Fields(r.out[k]) {
			if w == "const" && len(words) > 0 && words[len(words)-1] == "const" || passing[w] {
				continue
			}
			words = append(words, w)
		}
	}
	return strings.Join(words, " "), names
}

// builtinTypes are the words of types that are no names.
var builtinTypes = map[string]bool{"void": true, "bool": true, "char": true, "short": true, "int": true, "long": true,
	"unsigned": true, "signed": true, "float": true, "half": true, "const": true, "volatile": true, "auto": true}

// parameterName is the token of the name of the parameter that begins at from, or 0.
func (r *rewriter) parameterName(from, end int) int {
	typed := 0 // tokens of its type
	for k := from; k < end; k++ {
		switch t := r.at(k); {
		case t == "," || t == "=":
			return 0
		case t == "<":
			if e := r.closeAngle(k); e > 0 && e < end {
				k = e
			}
			typed++
		case t == "(" || t == "[":
			if e := r.close(k); e > 0 {
				k = min(e, end)
			}
		case addressSpace(t) || t == "const" || t == "volatile" || t == "typename" || t == "struct":
		case r.tok[k].name() && typed > 0 && !builtinTypes[t] && r.at(k-1) != "::" && r.at(k+1) != "::":
			if n := r.at(k + 1); k+1 == end || n == "," || n == "=" || n == "[" {
				return k
			}
			typed++
		default:
			typed++
		}
	}
	return 0
}

// meaning is a body in tokens from..to without address spaces and without the
// names of parameters.
func (r *rewriter) meaning(from, to int, names map[string]string) string {
	var b strings.Builder
	for k := from; k < to; k++ {
		t := r.at(k)
		if addressSpace(t) && t != "constant" {
			continue
		}
		if t == "constant" {
			t = "const"
		}
		if n := names[t]; n != "" && r.at(k-1) != "." && r.at(k-1) != "->" && r.at(k-1) != "::" {
			t = n
		}
		b.WriteString(t)
		b.WriteByte(' ')
	}
	return strings.TrimSuffix(b.String(), "; ")
}

// alike says whether two bodies, as meaning writes them, do the same: they are the same
// words, but for names of functions that do the same.
func (r *rewriter) alike(a, b string, depth int) bool {
	if a == b {
		return true
	}
	one, two := strings.Fields(a), strings.Fields(b)
	if len(one) != len(two) || depth > 3 {
		return false
	}
	for k := range one {
		if one[k] == two[k] {
			continue
		}
		x, y := r.bodiesOf(one[k]), r.bodiesOf(two[k])
		if len(x) == 0 || len(x) != len(y) {
			return false
		}
		for i := range x {
			own := strings.Fields(x[i]) // it may call itself
			for n := range own {
				if own[n] == one[k] {
					own[n] = two[k]
				}
			}
			if !r.alike(strings.Join(own, " "), y[i], depth+1) {
				return false
			}
		}
	}
	return true
}

// bodiesOf are the heads and bodies of the functions of a name, in the order of the
// source, as meaning writes them.
func (r *rewriter) bodiesOf(name string) (all []string) {
	for i := range r.tok {
		if r.at(i) != name || r.at(i+1) != "(" || r.in[i] == inBody {
			continue
		}
		end := r.close(i + 1)
		if end < 0 {
			return nil
		}
		brace := end + 1
		for r.at(brace) == "const" || addressSpace(r.at(brace)) {
			brace++
		}
		if r.at(brace) != "{" || r.close(brace) < 0 {
			continue
		}
		_, names := r.signature(i, brace)
		all = append(all, r.meaning(i+1, r.close(brace)+1, names))
	}
	return all
}

// scopeHead says whether the tokens before a "{" open a namespace or a class,
// whose members are declarations of their own.
func scopeHead(signature []string) (name string, class, ok bool) {
	if slices.Contains(signature, "=") && !slices.Contains(signature, "template") {
		return "", false, false
	}
	for k, w := range signature {
		switch w {
		case "namespace", "extern":
			if k == 0 || signature[k-1] == "inline" {
				return strings.Join(signature[k:], " "), false, true
			}
		case "struct", "class", "union":
			// "template <class T> void f(" has them too, within brackets.
			if k > 0 && (signature[k-1] == "<" || signature[k-1] == ",") {
				continue
			}
			if slices.Contains(signature[k:], "(") {
				return "", false, false
			}
			return strings.Join(signature, " "), true, true
		}
	}
	return "", false, false
}

// erase takes tokens from..to away. Line markers and line breaks stay.
func (r *rewriter) erase(from, to int) {
	for i := from; i < to; i++ {
		r.out[i] = ""
		r.drop[i] = true
	}
}

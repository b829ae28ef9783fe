package msl

// comparisons are the operators whose result for two vectors is a vector of bool. To
// clang it is one of integers, whose true is −1, and C++ lets no operator of its own
// take two of clang's vectors. So a > b becomes a > ::metal::msl_each > b, of the same
// precedence: the first one holds a, the second gives bools.
var comparisons = map[string]bool{"<": true, ">": true, "<=": true, ">=": true, "==": true, "!=": true}

// boolVectors rewrites the comparisons within token from and its closing bracket, where
// the result of one is converted, deduced or passed on. Comparisons elsewhere, such as a
// loop's, are left to clang, which compiles them faster.
func (r *rewriter) boolVectors(from int) { r.boolVectorsIn(from+1, r.close(from)) }

// deduced rewrites those in the initializer, from token i on, of a variable whose type
// is that of the initializer.
func (r *rewriter) deduced(i int) {
	for k := i; k < len(r.tok); k++ {
		switch r.at(k) {
		case "(", "[", "{":
			if k = r.close(k); k < 0 {
				return
			}
		case ";", ")", "}":
			r.boolVectorsIn(i, k)
			return
		}
	}
}

// noFunctions are words before brackets in which comparisons mean the same to clang, or
// must stay as they are.
var noFunctions = map[string]bool{"if": true, "for": true, "while": true, "switch": true, "return": true, "sizeof": true,
	"alignof": true, "alignas": true, "decltype": true, "constexpr": true, "static_assert": true, "__attribute__": true, "_Pragma": true,
	"operator": true, "assert": true, "all": true, "any": true, "select": true, pragma: true}

// called looks at the arguments of a call of what token i names, with or without a
// template's list.
func (r *rewriter) called(i int) {
	open := i + 1
	if r.at(open) == "<" {
		e := r.closeAngle(open)
		if e < 0 || r.at(e+1) != "(" {
			return
		}
		open = e + 1
	}
	if r.at(open) != "(" || r.close(open) < 0 || noFunctions[r.at(i)] {
		return
	}
	r.boolVectors(open)
	r.braces(i, open)
}

func (r *rewriter) boolVectorsIn(from, end int) {
	for i := from; i < end; i++ {
		t := r.at(i)
		switch {
		case t == "[" || t == "{":
			if e := r.close(i); e > i { // an index is a scalar, and a lambda's body has its own statements
				i = e
			}
		case t == "<":
			if e := r.closeAngle(i); e > 0 && e < end && r.templateList(i, e) {
				i = e
				continue
			}
			r.compares(i)
		case comparisons[t]:
			// The lexer keeps >> in two.
			if t == ">" && (r.at(i+1) == ">" && r.tok[i+1].space == "" || r.at(i-1) == ">" && r.tok[i].space == "") {
				continue
			}
			r.compares(i)
		case t == "!" && r.at(i+1) != "=" && r.negates(i):
			r.out[i] = "::metal::msl_not->*"
		}
	}
}

func (r *rewriter) compares(i int) {
	if r.at(i+1) == "nullptr" || r.at(i-1) == "nullptr" || r.at(i-1) == "operator" || r.out[i] != r.at(i) {
		return
	}
	r.out[i] = r.at(i) + " ::metal::msl_each " + r.at(i)
}

// negates says whether the ! at i may become a binary operator of the first operand: not
// behind another unary operator.
func (r *rewriter) negates(i int) bool {
	switch r.at(i - 1) {
	case "(", ",", "?", ":", "=", "return", "&&", "||", "==", "!=":
		return true
	}
	return false
}

// templateList says whether what stands between the < at i and the > at e is a
// template's list: names, numbers and what they are made of, behind a name, and no
// operand on the right unless it is in brackets.
func (r *rewriter) templateList(i, e int) bool {
	if !r.tok[i-1].name() {
		return false
	}
	for k := i + 1; k < e; k++ {
		switch r.at(k) {
		case "&&", "||", "?", "==", "!=":
			return false
		}
	}
	switch after := r.at(e + 1); after {
	case "(", ")", "::", ",", "{", ";", ">", "&", "*", "[":
		return true
	}
	return false
}

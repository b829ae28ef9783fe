package msl

import "strings"

// threadgroupVariable rewrites the declaration of variables in threadgroup
// memory, whose address space is token i, already blanked. Pointers and
// references to such memory are left alone.
//
// The variable becomes raw memory and a reference to it, so that types with
// constructors are allowed. The memory is thread_local only to be found by
// the lanes pass, which moves it into the threadgroup's block.
func (r *rewriter) threadgroupVariable(i int) {
	switch r.at(i - 1) {
	case ";", "{", "}", ")", ":", "":
	default:
		return
	}
	var names []int // tokens of the declared names
	end, depth := i+1, 0
scan:
	for ; end < len(r.tok); end++ {
		switch t := r.at(end); t {
		case ";":
			break scan
		case "<":
			depth++
		case ">":
			depth--
		case "(", "{", "=":
			return // a function, a reference to an array, or an initialiser
		case "*", "&":
			if depth == 0 {
				return
			}
		case "[":
			if end = r.close(end); end < 0 {
				return
			}
		default:
			next := r.at(end + 1)
			if depth == 0 && r.tok[end].word() && (next == "[" || next == "," || next == ";") {
				names = append(names, end)
			}
		}
	}
	if len(names) == 0 || end >= len(r.tok) {
		return
	}
	var b strings.Builder
	b.WriteString(";")
	for _, n := range names {
		name := r.at(n)
		r.out[n] = "msl_t_" + name
		b.WriteString(" static thread_local ::metal::msl_threadgroup_memory<msl_t_" + name + "> msl_s_" + name +
			"; msl_t_" + name + "& " + name + " = msl_s_" + name + ".get();")
	}
	r.out[i] = "typedef"
	r.out[end] = b.String()
}

package msl

// threadgroupVariable rewrites the declaration of variables in threadgroup
// memory, whose address space is token i, already blanked. Pointers and
// references to such memory are left alone.
//
// The variable becomes raw memory and a reference to it, so that types with
// constructors are allowed. The memory is thread_local only to be found by
// the lanes pass, which moves it into the threadgroup's block. Each thread that
// comes to a declaration with an initializer stores it.
func (r *rewriter) threadgroupVariable(i int) error {
	if r.trailing(i) {
		return nil
	}
	name, ok := r.declarator(i + 1)
	if !ok {
		return nil
	}
	begin := r.statement(i)
	if begin < 0 { // a parameter, or the type of a cast or a template's argument
		return nil
	}
	for k := begin; k < i; k++ {
		switch r.at(k) {
		case "typedef", "using":
			return r.fail(i, "a name for a type in threadgroup memory: name the type without threadgroup, and write it where a variable or a pointer is declared")
		case "template", "operator":
			return nil
		}
	}
	if r.in[i] != inBody {
		if r.at(name+1) == "(" {
			return nil // a function, of which clang will say what is wrong
		}
		return r.fail(i, "threadgroup variable %s: it must stand in a function's body", r.at(name))
	}
	aligned := ""
	for k := begin; k < name; k++ {
		switch r.at(k) {
		case "static":
			r.out[k] = ""
		case "constexpr":
			return r.fail(i, "threadgroup variable %s: it cannot be constexpr", r.at(name))
		case "alignas":
			if e := r.close(k + 1); r.at(k+1) == "(" && e > 0 {
				aligned += "alignas(" + joinTokens(r.tok[k+2:e]) + ") "
				r.blank(k, e+1)
			}
		}
	}
	all, end, err := r.shared(i, name)
	if err != nil {
		return err
	}
	specifiers := r.source(begin, name)
	r.out[i] = "typedef"
	memory := "" // of the names so far that have no initializer
	for k, d := range all {
		n := r.at(d.name)
		memory += " " + aligned + "static thread_local ::metal::msl_threadgroup_memory<msl_t_" + n + "> msl_s_" + n +
			"; msl_t_" + n + "& " + n + " = msl_s_" + n + ".get();"
		r.out[d.name] = "msl_t_" + n
		next := end
		if k+1 < len(all) {
			next = all[k+1].name - 1
		}
		if d.initial > 0 {
			r.out[d.initial] = ";" + memory + " const msl_t_" + n + " msl_i_" + n + " " + r.at(d.initial)
			r.out[next] = "; ::metal::msl_store(" + n + ", msl_i_" + n + ");"
			if memory = ""; next != end {
				r.out[next] += " typedef " + specifiers
			}
		} else if next == end {
			r.out[end] = ";" + memory
		}
	}
	return nil
}

// sharedName is one name of a declaration of threadgroup variables.
type sharedName struct {
	name    int // token
	initial int // where its initializer begins, or 0
}

// shared reads the names of a declaration, whose address space is token i and whose
// first name is token name, up to its semicolon.
func (r *rewriter) shared(i, name int) (all []sharedName, end int, err error) {
	for {
		d := sharedName{name: name}
		for end = name + 1; r.at(end) == "[" || heads[r.at(end)]; end++ {
			if r.at(end) == "[" && r.at(end+1) == "]" {
				return nil, 0, r.fail(i, "threadgroup variable %s: its length must be stated", r.at(name))
			}
			if heads[r.at(end)] && r.at(end+1) == "(" {
				end++
			}
			if end = r.close(end); end <= 0 {
				return nil, 0, r.fail(i, "threadgroup variable %s: its declaration has no end", r.at(name))
			}
		}
		if t := r.at(end); t == "=" || t == "{" || t == "(" {
			d.initial = end
			end = r.initializer(end)
		}
		all = append(all, d)
		if r.at(end) == ";" {
			return all, end, nil
		}
		if name = end + 1; r.at(end) != "," || name >= len(r.tok) || !r.tok[name].name() {
			return nil, 0, r.fail(i, "threadgroup variable %s: its declaration cannot be read; declare one variable at a time", r.at(d.name))
		}
	}
}

// initializer is where the comma or the semicolon behind an initializer stands.
func (r *rewriter) initializer(at int) int {
	for ; at < len(r.tok); at++ {
		switch r.at(at) {
		case "(", "[", "{":
			e := r.close(at)
			if e < 0 {
				return len(r.tok)
			}
			at = e
		case "<":
			if e := r.closeAngle(at); e > 0 && r.tok[at-1].name() && (r.at(e+1) == "(" || r.at(e+1) == "{" || r.at(e+1) == "::") {
				at = e
			}
		case ",", ";", "}":
			return at
		}
	}
	return at
}

// declarator is the name that specifiers from token i on declare. It is not ok where
// they declare a pointer or a reference, or no variable.
func (r *rewriter) declarator(i int) (name int, ok bool) {
	for k := i; k < len(r.tok); k++ {
		if _, e, list := r.list(k); list {
			k = e - 1
			continue
		}
		switch t := r.at(k); {
		case t == "*" || t == "&" || t == "&&" || t == "operator":
			return 0, false
		case heads[t] && r.at(k+1) == "(":
			if k = r.close(k + 1); k < 0 {
				return 0, false
			}
		case t == "<":
			if k = r.closeAngle(k); k < 0 {
				return 0, false
			}
		case t == "::":
		case !r.tok[k].name():
			return 0, false
		default:
			switch r.at(k + 1) {
			case "(":
				if s := r.at(k + 2); s == "*" || s == "&" || s == "&&" || addressSpace(s) {
					return 0, false
				}
				return k, k > i
			case "[", ",", ";", "=", "{":
				return k, k > i || r.tok[max(i-2, 0)].name()
			}
		}
	}
	return 0, false
}

func addressSpace(word string) bool {
	_, ok := addressSpaces[word]
	return ok
}

package msl

// braces gives {a, b} for a parameter of a vector type its type: clang's vectors take no
// list there. Token i is the name of what is called, and open the bracket of the arguments. The type is that of all functions of
// the source with this name, and a list for which they differ is left to the compiler.
func (r *rewriter) braces(i, open int) {
	end := r.close(open)
	for k, n := open+1, 0; k < end; k++ {
		switch r.at(k) {
		case ",":
			n++
		case "(", "[", "{":
			e := r.close(k)
			if e < 0 {
				return
			}
			if after := r.at(e + 1); r.at(k) == "{" && (r.at(k-1) == "," || k == open+1) && (after == "," || e+1 == end) {
				if t := r.parameterType(r.at(i), n); t != "" {
					r.out[k], r.out[e] = "msl_mk<"+t+">(", ")"
				}
			}
			k = e
		case "<":
			if e := r.closeAngle(k); e > 0 && e < end && r.templateList(k, e) {
				k = e
			}
		}
	}
}

// parameterType is the vector type of parameter n of the functions called name, or ""
// where one has another.
func (r *rewriter) parameterType(name string, n int) string {
	if r.lists == nil {
		r.lists = map[string][][]string{}
		for i := range r.tok {
			if !r.tok[i].name() || r.at(i+1) != "(" || r.in[i] != outside && r.in[i] != inClass || i == 0 {
				continue
			}
			if before := r.tok[i-1]; !before.name() && before.text != ">" && before.text != "*" && before.text != "&" {
				continue
			}
			r.lists[r.at(i)] = append(r.lists[r.at(i)], r.vectorTypes(i+1))
		}
	}
	found := ""
	for _, types := range r.lists[name] {
		if n >= len(types) {
			continue
		}
		if types[n] == "" || found != "" && types[n] != found {
			return ""
		}
		found = types[n]
	}
	return found
}

// vectorTypes are the types of the parameters in the list that token open opens, "" for
// those that are no vectors' names.
func (r *rewriter) vectorTypes(open int) []string {
	types := []string{""}
	end := r.close(open)
	for k := open + 1; k < end; k++ {
		switch t := r.at(k); {
		case t == ",":
			types = append(types, "")
		case t == "(" || t == "[" || t == "{":
			if k = r.close(k); k < 0 {
				return nil
			}
		case t == "<":
			if e := r.closeAngle(k); e > 0 && e < end {
				k = e
			}
		case t == "*": // a pointer
			types[len(types)-1] = ""
		case (vectorNames[t] || r.aliases[t]) && (r.tok[k+1].name() || r.at(k+1) == "&" || r.at(k+1) == "," || k+1 == end):
			types[len(types)-1] = t
		}
	}
	return types
}

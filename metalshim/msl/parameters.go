package msl

// vectorParameters finds the type parameters of templates that stand for a
// vector in some instance, as F4 in softmax<half, half4>, and those that may.
// Conversions to them are written like those to a vector's own name.
func (r *rewriter) vectorParameters() {
	parameters := map[string][]string{} // by function or struct
	declared := map[int]bool{}          // tokens where one is declared
	for i := range r.tok {
		if r.at(i) != "template" || r.at(i+1) != "<" {
			continue
		}
		end := r.closeAngle(i + 1)
		if end < 0 {
			continue
		}
		if at := r.declared(end + 1); at > 0 {
			declared[at] = true
			name, own := r.at(at), r.typeParameters(i+2, end)
			for k, n := range own { // overloads of the name, one after the other
				if k < len(parameters[name]) && parameters[name][k] != n && n != "" {
					r.maybe[n] = true
				}
			}
			parameters[name] = own
		}
	}
	for i, t := range r.tok {
		names := parameters[t.text]
		if len(names) == 0 || declared[i] {
			continue
		}
		var given []int
		if r.at(i+1) == "<" {
			if end := r.closeAngle(i + 1); end > 0 {
				given = r.items(i+2, end)
			}
		}
		for k, name := range names {
			switch {
			case name == "":
			case k >= len(given):
				// It is deduced, or the template's own default.
				r.maybe[name] = r.maybe[name] || !r.classes[t.text]
			default:
				from := given[k]
				for r.at(from) == "metal" || r.at(from) == "::" || r.at(from) == "const" {
					from++
				}
				if vectorNames[r.at(from)] || r.at(from) == "vec" {
					r.aliases[name] = true
				} else if !castType(r.at(from)) && r.at(from) != "bfloat" {
					r.maybe[name] = true
				}
			}
		}
	}
}

// declared is the token of the name that a template's declaration at i declares: that
// before the first bracket, or behind struct; or 0.
func (r *rewriter) declared(i int) int {
	for k := i; k < len(r.tok) && k < i+longestList; k++ {
		switch r.at(k) {
		case "struct", "class":
			return k + 1
		case "[":
			if k = r.close(k); k < 0 {
				return 0
			}
		case "<":
			if k = r.closeAngle(k); k < 0 {
				return 0
			}
		case "(":
			if r.tok[k-1].word() {
				return k - 1
			}
			return 0
		case ";", "{", "template":
			return 0
		}
	}
	return 0
}

// items are where the parts of a list, divided by commas, begin.
func (r *rewriter) items(from, end int) []int {
	out := []int{from}
	for k := from; k < end; k++ {
		switch r.at(k) {
		case "(", "[", "{":
			if e := r.close(k); e > k {
				k = e
			}
		case "<":
			if e := r.closeAngle(k); e > k {
				k = e
			}
		case ",":
			out = append(out, k+1)
		}
	}
	return out
}

// typeParameters are the names of a template's parameters, "" for one that is no
// type.
func (r *rewriter) typeParameters(from, end int) []string {
	var out []string
	for _, at := range r.items(from, end) {
		name := ""
		if t := r.at(at); (t == "typename" || t == "class") && at+1 < end && r.tok[at+1].name() {
			name = r.at(at + 1)
		}
		out = append(out, name)
	}
	return out
}

// arguments are how many arguments a template with the parameters in tokens from..end
// needs, and takes; −1 is any number.
func (r *rewriter) arguments(from, end int) (required, most int) {
	if from >= end {
		return 0, 0
	}
	all := r.items(from, end)
	most = len(all)
	for k, at := range all {
		last := end
		if k+1 < len(all) {
			last = all[k+1] - 1
		}
		optional := false
		for ; at < last; at++ {
			switch r.at(at) {
			case "=":
				optional = true
			case "...":
				optional, most = true, -1
			}
		}
		if !optional {
			required++
		}
	}
	return required, most
}

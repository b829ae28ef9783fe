package msl

// vectorParameters finds the type parameters of templates that stand for a
// vector in some instance, as F4 in softmax<half, half4>. Conversions to them are
// written like those to a vector's own name.
func (r *rewriter) vectorParameters() {
	parameters := map[string][]string{} // by function or struct
	for i := range r.tok {
		if r.at(i) != "template" || r.at(i+1) != "<" {
			continue
		}
		end := r.closeAngle(i + 1)
		if end < 0 {
			continue
		}
		if name := r.declared(end + 1); name != "" {
			parameters[name] = r.typeParameters(i+2, end)
		}
	}
	for i, t := range r.tok {
		names := parameters[t.text]
		if len(names) == 0 || r.at(i+1) != "<" {
			continue
		}
		end := r.closeAngle(i + 1)
		if end < 0 {
			continue
		}
		for k, from := range r.items(i+2, end) {
			if k < len(names) && names[k] != "" && (vectorNames[r.at(from)] || r.at(from) == "vec") {
				r.aliases[names[k]] = true
			}
		}
	}
}

// declared is the name that a template's declaration at i declares: that before
// the first bracket, or behind struct.
func (r *rewriter) declared(i int) string {
	for k := i; k < len(r.tok) && k < i+longestList; k++ {
		switch r.at(k) {
		case "struct", "class":
			return r.at(k + 1)
		case "[":
			if k = r.close(k); k < 0 {
				return ""
			}
		case "<":
			if k = r.closeAngle(k); k < 0 {
				return ""
			}
		case "(":
			if r.tok[k-1].word() {
				return r.at(k - 1)
			}
			return ""
		case ";", "{", "template":
			return ""
		}
	}
	return ""
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
		if t := r.at(at); t == "typename" || t == "class" {
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

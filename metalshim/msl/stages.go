package msl

import "slices"

// Function is a function that an application can name and that is no kernel.
type Function struct {
	Name  string
	Stage string // "vertex", "fragment", "mesh", "object" or "intersection"
}

// stages are the words and attributes of functions that draw.
var stages = []string{"vertex", "fragment", "mesh", "object", "intersection"}

// Other finds a function that is no kernel by its name.
func (l *Library) Other(name string) (Function, bool) {
	i := slices.IndexFunc(l.Others, func(f Function) bool { return f.Name == name })
	if i < 0 {
		return Function{}, false
	}
	return l.Others[i], true
}

// stage takes a function away that draws, whose word or list of attributes is token
// at, and returns the token behind it. It returns at where the word is another name.
func (r *rewriter) stage(at int, word string, pending *head) int {
	begin := at
	for begin > 0 && r.at(begin-1) != ";" && r.at(begin-1) != "}" && r.at(begin-1) != "{" {
		begin--
	}
	host := pending.host
	k := at + 1
	if list, e, ok := r.list(at); ok {
		host, k = list.host(), e
	}
	for ; k < len(r.tok) && r.at(k) != "("; k++ {
		if list, e, ok := r.list(k); ok {
			if h := list.host(); h != "" {
				host = h
			}
			k = e - 1
			continue
		}
		if t := r.at(k); t == "<" {
			if e := r.closeAngle(k); e > 0 {
				k = e
				continue
			}
		}
		if t := r.at(k); !r.tok[k].name() && t != "::" && t != "*" && t != "&" && t != "<" && t != ">" {
			return at
		}
	}
	if r.named(word) {
		return at
	}
	if k == at+1 || k >= len(r.tok) || !r.tok[k-1].name() && r.at(k-1) != ">" {
		return at
	}
	name := r.at(k - 1)
	end := r.close(k)
	for end++; end > 0 && end < len(r.tok) && r.at(end) != "{" && r.at(end) != ";"; end++ {
		if r.at(end) == "=" || r.at(end) == "}" {
			return at
		}
	}
	if end <= 0 || end >= len(r.tok) {
		return at
	}
	if r.at(end) == "{" {
		if end = r.close(end); end < 0 {
			return at
		}
	}
	if host == "" {
		host = name
	}
	if pending.template == "" && !slices.ContainsFunc(r.others, func(f Function) bool { return f.Name == host }) {
		r.others = append(r.others, Function{host, word})
	}
	r.erase(begin, end+1)
	*pending = head{}
	return end + 1
}

// drawing is the stage that a list of attributes names, or "".
func (all attributes) drawing() string {
	for _, s := range stages {
		if all.has(s) {
			return s
		}
	}
	return ""
}

// named says whether the source gives a type the name.
func (r *rewriter) named(word string) bool {
	for i := 1; i < len(r.tok); i++ {
		if r.at(i) == word && slices.Contains([]string{"struct", "class", "enum", "using", "union"}, r.at(i-1)) {
			return true
		}
	}
	return false
}

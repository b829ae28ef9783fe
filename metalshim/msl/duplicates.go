package msl

import (
	"slices"
	"strconv"
	"strings"
)

// dropDuplicates drops functions and classes that differ from an earlier one
// only in address spaces, which are gone by now. Their bodies are taken to do
// the same, as they do in code that has to write a function once for each
// space. What is written twice in the very same words is left to clang.
func (r *rewriter) dropDuplicates() {
	first := map[string]string{} // signature → as it was written first
	again := func(path string, signature []string, from, to int) bool {
		key := path + "\x00" + strings.Join(signature, " ")
		written := joinTokens(r.tok[from:to])
		was, seen := first[key]
		if !seen {
			first[key] = written
		}
		return seen && was != written
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
			if name, class, ok := scopeHead(signature); ok {
				if class && again(top.path, signature, start, i) {
					if end := r.close(i); end > 0 {
						if r.at(end+1) == ";" {
							end++
						}
						r.erase(start, end+1)
						signature, start, i = nil, end+1, end
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
			end := r.close(i)
			if end < 0 {
				return
			}
			function := slices.Contains(signature, "(") && !slices.Contains(signature, "=")
			if function && len(signature) > 2 {
				if again(top.path, signature, start, i) {
					r.erase(start, end+1)
				}
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
			if top.class && slices.Contains(signature, "(") && !slices.Contains(signature, "=") {
				if again(top.path, signature, start, i) {
					r.erase(start, i+1)
				}
			}
			signature, start = nil, i+1
			continue
		}
		if top.class && (r.at(i) == "public" || r.at(i) == "private" || r.at(i) == "protected") && r.at(i+1) == ":" {
			i++
			signature, start = nil, i+1
			continue
		}
		for _, w := range strings.Fields(r.out[i]) {
			if w == "const" && len(signature) > 0 && signature[len(signature)-1] == "const" {
				continue
			}
			signature = append(signature, w)
		}
	}
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

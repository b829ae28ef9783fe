package msl

import "fmt"

// Read reads what the text of a source declares, without compiling it; file names
// it in errors.
func Read(file, text string) (*Library, error) {
	p, err := preprocess(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	tokens := plain(p.out)
	if len(tokens) > 0 {
		tokens[0].space = fmt.Sprintf("# 1 %q\n", file) + tokens[0].space
	}
	r, err := read(tokens)
	if err != nil {
		return nil, err
	}
	l := r.library()
	l.Undecided = p.undecided
	all := r.bodies()
	for i := range l.Kernels {
		k := &l.Kernels[i]
		k.Single = single(all, k.Function, 0)
	}
	return l, nil
}

// body is what a function's own text does.
type body struct {
	loops  bool
	stores int      // to elements of arrays
	words  []string // all names in it
}

// bodies finds the functions and what they do. Overloads count as one.
func (r *rewriter) bodies() map[string]body {
	out := map[string]body{}
	for i := 1; i < len(r.tok); i++ {
		if r.at(i) != "(" || !r.tok[i-1].name() {
			continue
		}
		end := r.close(i)
		if end < 0 || r.at(end+1) != "{" {
			continue
		}
		last := r.close(end + 1)
		if last < 0 {
			break
		}
		name := r.at(i - 1)
		b := out[name]
		for k := end + 1; k < last; k++ {
			switch t := r.tok[k]; {
			case t.text == "for" || t.text == "while" || t.text == "do":
				b.loops = true
			case t.text == "]" && r.at(k+1) == "=":
				b.stores++
			case t.name():
				b.words = append(b.words, t.text)
			}
		}
		out[name] = b
		i = last
	}
	return out
}

// single says that a function stores to one element and no more: it has one
// store outside of any loop, itself or in one function that it calls. What it
// calls to find that element may loop.
func single(all map[string]body, name string, depth int) bool {
	b, ok := all[name]
	if !ok || depth == maxDepth {
		return false
	}
	if b.stores > 0 {
		return b.stores == 1 && !b.loops
	}
	stores := ""
	for _, w := range b.words {
		if w != name && w != stores && all[w].stores > 0 {
			if stores != "" {
				return false
			}
			stores = w
		}
	}
	return stores != "" && !b.loops && single(all, stores, depth+1)
}

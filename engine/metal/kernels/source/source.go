package source

import (
	"fmt"

	"github.com/introgen/introgen/metalshim/soft/msl"
)

// Kernel is a function that can be made into a pipeline.
type Kernel struct {
	Name   string // by which the host asks for it
	Params []msl.Param
	// Single says that a thread stores one element: it needs as many threads
	// as there are elements.
	Single bool
}

// Library is what a source declares.
type Library struct {
	Kernels   []Kernel // in the order of the source
	Constants []msl.FunctionConstant
	// Undecided are names in conditions that only a compiler knows. They were
	// taken for names without a meaning.
	Undecided []string
}

// Kernel finds a kernel by its name.
func (l *Library) Kernel(name string) (*Kernel, bool) {
	for i := range l.Kernels {
		if l.Kernels[i].Name == name {
			return &l.Kernels[i], true
		}
	}
	return nil, false
}

// Read reads the text of a source; file names it in errors.
func Read(file, text string) (*Library, error) {
	p, err := preprocess(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	tokens := p.out
	r, err := msl.Rewrite(fmt.Sprintf("# 1 %q\n", file) + write(tokens))
	if err != nil {
		return nil, err
	}
	all := bodies(tokens)
	l := &Library{Constants: r.Constants, Undecided: p.undecided}
	for _, k := range r.Kernels {
		l.Kernels = append(l.Kernels, Kernel{k.Name, k.Params, single(all, k.Function, 0)})
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
func bodies(tokens []token) map[string]body {
	out := map[string]body{}
	for i := 0; i < len(tokens); i++ {
		if tokens[i].text != "(" || i == 0 || !tokens[i-1].identifier() {
			continue
		}
		end := closing(tokens, i)
		if end < 0 || end+1 >= len(tokens) || tokens[end+1].text != "{" {
			continue
		}
		last := closing(tokens, end+1)
		if last < 0 {
			break
		}
		name := tokens[i-1].text
		b := out[name]
		for k := end + 1; k < last; k++ {
			switch t := tokens[k]; {
			case t.text == "for" || t.text == "while" || t.text == "do":
				b.loops = true
			case t.text == "]" && tokens[k+1].text == "=":
				b.stores++
			case t.identifier():
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

// closing is the bracket that closes the one at i, or −1.
func closing(tokens []token, i int) int {
	depth := 0
	for ; i < len(tokens); i++ {
		switch tokens[i].text {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

package lanes

import (
	"fmt"
	"regexp"
	"strings"
)

// entryName is the one-lane kernel the pass transforms.
const entryName = "msl_entry"

// chunk is one top-level piece of a module: a function definition, or one line.
type chunk struct {
	text string
	fn   string // name of the function when it is a definition
}

// module is textual IR cut at top level.
type module struct {
	chunks []chunk
	types  map[string]*typ // named struct types that could be read
}

var (
	reDefine     = regexp.MustCompile(`^define [^@\n]*@("[^"]*"|[-\w.$]+)\(`)
	reTypeDef    = regexp.MustCompile(`(?m)^%("[^"]*"|[-\w.$]+) = type (.*)$`)
	reAttrGroup  = regexp.MustCompile(`(?m)^attributes #(\d+) = \{(.*)\}$`)
	reThreadVar  = regexp.MustCompile(`^@("[^"]*"|[-\w.$]+) = .*\bthread_local(?:\(\w+\))? .*?\b(global|constant) (.*)$`)
	reGlobalName = regexp.MustCompile(`@("[^"]*"|[-\w.$]+)`)
	reUsedList   = regexp.MustCompile(`^@llvm\.(?:compiler\.)?used = `)
)

// parseModule cuts a module at its definitions.
func parseModule(ir string) (*module, error) {
	m := &module{types: map[string]*typ{}}
	lines := strings.Split(ir, "\n")
	for i := 0; i < len(lines); i++ {
		d := reDefine.FindStringSubmatch(lines[i])
		if d == nil {
			m.chunks = append(m.chunks, chunk{text: lines[i]})
			continue
		}
		j := i
		for j < len(lines) && lines[j] != "}" {
			j++
		}
		if j == len(lines) {
			return nil, fmt.Errorf("function @%s has no closing brace", d[1])
		}
		m.chunks = append(m.chunks, chunk{strings.Join(lines[i:j+1], "\n"), strings.Trim(d[1], `"`)})
		i = j
	}
	for _, d := range reTypeDef.FindAllStringSubmatch(ir, -1) {
		p := &cursor{s: d[2]}
		if t := p.parseType(); p.err == nil && p.end() {
			m.types[d[1]] = t
		}
	}
	return m, nil
}

// entry returns the one-lane kernel's text.
func (m *module) entry() (string, error) {
	for _, c := range m.chunks {
		if c.fn == entryName {
			return c.text, nil
		}
	}
	return "", fmt.Errorf("no definition of @%s in the module", entryName)
}

// stringAttributes returns the "key"="value" attributes of group n: the target
// and its features, which every function made here must share with the input.
func (m *module) stringAttributes(n string) string {
	for _, c := range m.chunks {
		if a := reAttrGroup.FindStringSubmatch(c.text); a != nil && a[1] == n {
			var keep []string
			for _, q := range regexp.MustCompile(`"[^"]*"(?:="[^"]*")?`).FindAllString(a[2], -1) {
				if !strings.Contains(q, "stack-protector") && !strings.HasPrefix(q, `"prefer-vector-width`) {
					keep = append(keep, q)
				}
			}
			return strings.Join(keep, " ")
		}
	}
	return ""
}

// threadVar is a static threadgroup variable: a thread_local global.
type threadVar struct {
	name string
	typ  *typ
}

// threadVars lists the module's thread_local globals in order.
func (m *module) threadVars() ([]threadVar, error) {
	var out []threadVar
	for _, c := range m.chunks {
		d := reThreadVar.FindStringSubmatch(c.text)
		if c.fn != "" || d == nil {
			continue
		}
		p := &cursor{s: d[3]}
		t := p.parseType()
		if p.err != nil {
			return nil, fmt.Errorf("thread_local @%s: %w", d[1], p.err)
		}
		out = append(out, threadVar{d[1], t})
	}
	return out, nil
}

// compose returns the module's text with the entry replaced by made, and with
// the functions that nothing in made needs, the used lists and the
// thread_local globals left out.
func (m *module) compose(made string) string {
	need := map[string]bool{}
	var visit func(text string)
	visit = func(text string) {
		for _, g := range reGlobalName.FindAllStringSubmatch(text, -1) {
			n := strings.Trim(g[1], `"`)
			if need[n] {
				continue
			}
			need[n] = true
			for _, c := range m.chunks {
				if c.fn == n && n != entryName {
					visit(c.text)
				}
			}
		}
	}
	visit(made)
	var b strings.Builder
	for _, c := range m.chunks {
		switch {
		case c.fn == entryName, c.fn != "" && !need[c.fn]:
		case c.fn == "" && (reUsedList.MatchString(c.text) || reThreadVar.MatchString(c.text)):
		default:
			b.WriteString(c.text)
			b.WriteByte('\n')
		}
	}
	b.WriteString(made)
	return b.String()
}

package ir

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// EntryName is the one-lane kernel the pass transforms.
const EntryName = "msl_entry"

// chunkKind says what a top-level piece of a module is.
type chunkKind uint8

const (
	otherChunk chunkKind = iota // comments, metadata, the target, named types …
	definition
	declaration
	variableChunk
	attributeGroup
)

// chunk is one top-level piece of a module: a function definition, or one line.
type chunk struct {
	kind chunkKind
	name string // of a function or a variable; the number of an attribute group
	text string

	// Of a variable:
	external    bool   // another module defines it
	threadLocal bool   // each thread has its own
	value       string // its type and what follows
}

// Module is textual IR cut at top level.
type Module struct {
	chunks []*chunk
	types  map[string]*Type // named struct types that could be read
	// What has been found out of functions: whether their own code is plain, and that
	// of all that they reach.
	plains, staying map[string]bool
}

// Parse cuts a module at its definitions.
func Parse(text string) (*Module, error) {
	if len(text) > maxSource {
		return nil, fmt.Errorf("module of %d bytes, at most %d", len(text), maxSource)
	}
	m := &Module{types: map[string]*Type{}, plains: map[string]bool{}, staying: map[string]bool{}}
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		c := m.readChunk(lines[i])
		if c.kind == definition {
			j := i
			for j < len(lines) && lines[j] != "}" {
				j++
			}
			if j == len(lines) {
				return nil, fmt.Errorf("function @%s has no closing brace", c.name)
			}
			c.text = strings.Join(lines[i:j+1], "\n")
			i = j
		}
		m.chunks = append(m.chunks, c)
	}
	return m, nil
}

// readChunk looks at the first line of a piece.
func (m *Module) readChunk(line string) *chunk {
	c := &chunk{text: line}
	p := &cursor{s: line}
	switch p.peek() {
	case '@':
		c.kind, c.name = variableChunk, Unquoted(p.name())
		p.expect("=")
		for w := p.word(); w != "" && p.err == nil; w = p.word() {
			switch w {
			case "external":
				c.external = true
			case "thread_local":
				c.threadLocal = true
			case "global", "constant":
				c.value = line[p.pos:]
				return c
			}
			if p.peek() == '(' {
				p.balanced()
			}
		}
	case '%':
		name := p.name()
		if p.try("=") && p.try("type") {
			if t := p.parseType(); p.err == nil && p.end() {
				m.types[name] = t
			}
		}
	default:
		kind := map[string]chunkKind{"define": definition, "declare": declaration, "attributes": attributeGroup}[p.word()]
		if kind == attributeGroup && p.try("#") {
			c.kind, c.name = kind, p.word()
		} else if at := strings.IndexByte(line, '@'); kind != otherChunk && at >= 0 {
			c.kind = kind
			p = &cursor{s: line, pos: at}
			c.name = Unquoted(p.name())
		}
	}
	return c
}

// definition returns the text of a function, "" when the module has none.
func (m *Module) definition(name string) string {
	for _, c := range m.chunks {
		if c.kind == definition && c.name == name {
			return c.text
		}
	}
	return ""
}

// Returns is the number that a function returns straight away.
func (m *Module) Returns(function string) (int, bool) {
	for line := range strings.Lines(m.definition(function)) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "ret i32 "); ok {
			n, err := strconv.Atoi(rest)
			return n, err == nil
		}
	}
	return 0, false
}

// Undefined lists the variables that other modules define. needed holds those
// of them that the kernel reads, by itself or in a variable that another
// function, which runs before it, stores after a look at them.
func (m *Module) Undefined() (all []string, needed map[string]bool) {
	reads := map[string]bool{}
	for g := range Globals(m.definition(EntryName)) {
		reads[g.Name] = true
	}
	needed = map[string]bool{}
	for _, c := range m.chunks {
		if c.external {
			all = append(all, c.name)
			needed[c.name] = reads[c.name]
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	for _, c := range m.chunks {
		if c.kind != definition || c.name == EntryName || !slices.ContainsFunc(storedTo(c.text), func(v string) bool { return reads[v] }) {
			continue
		}
		for g := range Globals(c.text) {
			if _, is := needed[g.Name]; is {
				needed[g.Name] = true
			}
		}
	}
	return all, needed
}

// storedTo lists the variables that a function stores to.
func storedTo(function string) []string {
	var out []string
	for line := range strings.Lines(function) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "store ") {
			continue
		}
		if in, err := ParseInst(withoutMetadata(line)); err == nil {
			for g := range Globals(in.Args[1].Text) {
				out = append(out, g.Name)
			}
		}
	}
	return out
}

// attributes takes an attribute group apart.
func (c *chunk) attributes() []string {
	_, list, _ := strings.Cut(c.text, "{")
	list, _, _ = strings.Cut(list, "}")
	return strings.Fields(list)
}

// DropChoices takes flags from the instructions of all functions but the entry,
// and attributes from all.
func (m *Module) DropChoices(flags map[string]bool, attribute func(string) bool) {
	for _, c := range m.chunks {
		switch {
		case c.kind == definition && c.name != EntryName:
			var b strings.Builder
			for line := range strings.Lines(c.text) {
				b.WriteString(WithoutFlags(line, flags))
			}
			c.text = b.String()
		case c.kind == attributeGroup:
			for _, a := range c.attributes() {
				if attribute(a) {
					c.text = strings.Replace(c.text, " "+a, "", 1)
				}
			}
		}
	}
}

// Attributes returns the "key"="value" attributes of the kernel: the target and
// its features, which every function made of it must share with it.
func (f *Function) Attributes() string {
	var keep []string
	for _, c := range f.Module.chunks {
		if c.kind != attributeGroup || c.name != f.attributes {
			continue
		}
		for _, a := range c.attributes() {
			if strings.HasPrefix(a, `"`) && !strings.Contains(a, "stack-protector") && !strings.HasPrefix(a, `"prefer-vector-width`) {
				keep = append(keep, a)
			}
		}
		break
	}
	return strings.Join(keep, " ")
}

// ThreadVar is a static threadgroup variable: a thread_local global.
type ThreadVar struct {
	name string
	Type *Type
}

// threadVars lists the module's thread_local globals in order.
func (m *Module) threadVars() ([]ThreadVar, error) {
	var out []ThreadVar
	for _, c := range m.chunks {
		if !c.threadLocal {
			continue
		}
		p := &cursor{s: c.value}
		t := p.parseType()
		if p.err != nil {
			return nil, fmt.Errorf("thread_local @%s: %w", c.name, p.err)
		}
		out = append(out, ThreadVar{c.name, t})
	}
	return out, nil
}

// Declarations lists, sorted, those of want, by name, that the module does not
// declare itself.
func (m *Module) Declarations(want map[string]string) []string {
	have := map[string]bool{}
	for _, c := range m.chunks {
		if c.kind == declaration {
			have[c.name] = true
		}
	}
	var out []string
	for _, n := range slices.Sorted(maps.Keys(want)) {
		if !have[n] {
			out = append(out, want[n])
		}
	}
	return out
}

// Declare adds the declarations of functions that are not there.
func (m *Module) Declare(want map[string]string) {
	for _, line := range m.Declarations(want) {
		m.chunks = append(m.chunks, m.readChunk(line))
	}
}

// ReplaceEntry returns the module's text with the entry replaced by made, and
// with the functions that nothing in made needs, the used lists and the
// thread_local globals left out.
func (m *Module) ReplaceEntry(made string) string {
	functions := map[string]*chunk{}
	for _, c := range m.chunks {
		if c.kind == definition {
			functions[c.name] = c
		}
	}
	need := map[string]bool{}
	var visit func(text string)
	visit = func(text string) {
		for g := range Globals(text) {
			if need[g.Name] {
				continue
			}
			need[g.Name] = true
			if c := functions[g.Name]; c != nil && c.name != EntryName {
				visit(c.text)
			}
		}
	}
	visit(made)
	var b strings.Builder
	for _, c := range m.chunks {
		switch {
		case c.kind == definition && (c.name == EntryName || !need[c.name]):
		case c.kind == variableChunk && (c.threadLocal || c.name == "llvm.used" || c.name == "llvm.compiler.used"):
		default:
			b.WriteString(c.text)
			b.WriteByte('\n')
		}
	}
	b.WriteString(made)
	return b.String()
}

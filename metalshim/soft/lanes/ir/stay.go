package ir

import (
	"maps"
	"slices"
	"strings"
)

// Functions that clang leaves as calls (those marked noinline, large ones, recursive
// ones) are run for one lane after another. That is right for plain code only: a
// function that waits for other lanes, asks for its lane or holds threadgroup
// memory has to become part of the kernel.

// plain says whether a call of the function may stay one.
func (m *Module) plain(name string) bool {
	was, ok := m.staying[name]
	if !ok {
		was = m.definition(name) != "" && m.allPlain(name)
		m.staying[name] = was
	}
	return was
}

func (m *Module) allPlain(name string) bool {
	for reached := range m.reached(name) {
		if !m.plainText(reached) {
			return false
		}
	}
	return true
}

// reached are the module's functions that a function calls or names, directly or
// through others, itself included.
func (m *Module) reached(name string) map[string]bool {
	seen := map[string]bool{}
	var visit func(string)
	visit = func(name string) {
		text := m.definition(name)
		if text == "" || seen[name] {
			return
		}
		seen[name] = true
		_, body, _ := strings.Cut(text, "\n")
		for g := range Globals(body) {
			visit(g.Name)
		}
	}
	visit(name)
	return seen
}

// plainText says whether a function's own code is plain.
func (m *Module) plainText(name string) bool {
	if was, ok := m.plains[name]; ok {
		return was
	}
	ok := true
	_, body, _ := strings.Cut(m.definition(name), "\n")
	for g := range Globals(body) {
		ok = ok && !strings.HasPrefix(g.Name, syncPrefix) && g.Name != "msl_lane" && g.Name != threadLocalAddress
	}
	m.plains[name] = ok
	return ok
}

// Looks says whether a function reads memory that others may write meanwhile.
func (m *Module) Looks(name string) bool {
	for reached := range m.reached(name) {
		for _, sign := range []string{" atomic ", " volatile ", "atomicrmw ", "cmpxchg "} {
			if strings.Contains(m.definition(reached), sign) {
				return true
			}
		}
	}
	return false
}

// Tangled lists, sorted, the functions that the kernel calls though they have to
// become part of it.
func (m *Module) Tangled() []string {
	out := map[string]bool{}
	for name := range m.reached(EntryName) {
		if name != EntryName && !m.plain(name) {
			out[name] = true
		}
	}
	return slices.Sorted(maps.Keys(out))
}

// Inlined is a module's text in which the functions named are always made part of
// those that call them, whatever the source says.
func (m *Module) Inlined(names []string) string {
	var b strings.Builder
	for _, c := range m.chunks {
		text := c.text
		if c.kind == definition && slices.Contains(names, c.name) {
			head, body, _ := strings.Cut(text, "\n")
			text = m.alwaysInline(head) + "\n" + body
		}
		b.WriteString(text)
		b.WriteByte('\n')
	}
	return b.String()
}

// alwaysInline writes the first line of a definition with its attributes in full.
func (m *Module) alwaysInline(head string) string {
	at := strings.LastIndex(head, ") ")
	if at < 0 {
		return head
	}
	before, number, ok := strings.Cut(head[at:], "#")
	if !ok {
		return head[:at] + strings.Replace(head[at:], "{", "alwaysinline {", 1)
	}
	number, after, _ := strings.Cut(number, " ")
	attributes := []string{"alwaysinline"}
	for _, c := range m.chunks {
		if c.kind != attributeGroup || c.name != number {
			continue
		}
		for _, a := range c.attributes() {
			if a != "noinline" && a != "optnone" && a != "alwaysinline" {
				attributes = append(attributes, a)
			}
		}
	}
	return head[:at] + before + strings.Join(attributes, " ") + " " + after
}

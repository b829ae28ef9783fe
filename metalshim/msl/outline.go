package msl

import (
	"errors"
	"slices"
	"sort"
	"strings"
)

// Outline is a source cut into the declarations of its outermost level, with their
// places. What a compiler's own macros decide is not decided in it.
type Outline struct {
	Groups     []Group // in the order of the source
	Directives []Directive
	// Words are names in text that Read leaves out and another compiler may see.
	Words []string
	// Macros are the words of all definitions of a macro, by its name.
	Macros map[string][]string
	// Pastes are macros that make names of others.
	Pastes map[string]bool
}

// Group is bytes From..To of the source, which stand for whole declarations: most
// often one, or those that one call of a macro makes.
type Group struct {
	From, To int
	Parts    []Part
	// Fixed says why the text must stay as it is, or is "".
	Fixed string
	// Whole says why its declarations cannot be written out one by one, or is "".
	Whole string
	// Readings are the parts that other compilers may read instead; where they may read
	// only the body of a function otherwise there are none, and Macros are those that
	// decide it.
	Readings [][]Part
	Macros   []string
}

// OutlineOf reads a source's outline. What cannot be cut into declarations is an
// error; Read may take it all the same.
func OutlineOf(text string) (*Outline, error) {
	s, err := surveyed(text)
	if err != nil {
		return nil, err
	}
	room := maxParts
	all, err := parts(s.out, &room)
	if err != nil {
		return nil, err
	}
	o := &Outline{Directives: s.directives, Macros: s.bodies, Pastes: s.pastes}
	for w := range s.words {
		o.Words = append(o.Words, w)
	}
	slices.Sort(o.Words)
	for i := 0; i < len(all); {
		k := i + 1
		for k < len(all) && s.out[all[k-1].to-1].to > s.out[all[k].from].from {
			k++
		}
		g := Group{Parts: all[i:k]}
		from, to := s.out[all[i].from].from, s.out[all[k-1].to-1].to
		g.From, g.To = s.tokens[from].from, s.tokens[to-1].to
		if err := s.judge(&g, from, to, &room); err != nil {
			return nil, err
		}
		o.Groups = append(o.Groups, g)
		i = k
	}
	s.chained(o.Groups)
	return o, nil
}

// judge says what may be done to a group, which is tokens from..to of the source.
func (s *survey) judge(g *Group, from, to int32, room *int) error {
	doubt, inner := false, false
	for _, p := range g.Parts {
		doubt, inner = doubt || p.doubt, inner || p.inner
	}
	var items []*item
	single := true // one item makes it all, but for semicolons
	for k := from; k < to; k++ {
		it := s.items[k]
		if it == nil {
			single = single && (k == from || s.source[s.tokens[k].from] == ';')
			continue
		}
		items = append(items, it)
		g.Macros = append(g.Macros, it.names...)
		if it.again {
			g.Whole = "what its macro expands to would expand again"
		}
		if it.uneven && it.others != nil {
			g.Fixed = "the compiler's macros decide where it ends"
		}
		k = max(k, it.to-1)
	}
	for _, d := range s.within(g.From, g.To) {
		if d.Word == "pragma" && !loopPragma(d.Rest) && !strings.Contains(d.Rest, "diagnostic") {
			g.Fixed = "#pragma " + d.Rest + " stands in it"
		}
		g.Whole = "directives stand in it"
	}
	if len(g.Parts) > 1 && !single {
		g.Whole = "several calls of macros make it"
	}
	if inner && !doubt && len(g.Parts) == 1 {
		return nil // only its body depends on the compiler
	}
	worlds := [][]macroToken{nil}
	if !inner && !doubt {
		return nil
	}
	at := from
	for _, it := range items {
		if it.unknown {
			g.Fixed = "the compiler's macros decide what it is"
			return nil
		}
		if it.others == nil {
			continue
		}
		if worlds = s.through(worlds, at, it.from, it.others); len(worlds) > mostWorlds {
			g.Fixed = "the compiler's macros decide what it is"
			return nil
		}
		at = it.to
	}
	for _, w := range s.through(worlds, at, to, [][]macroToken{nil}) {
		read, err := parts(w, room)
		if errors.Is(err, errTooLarge) {
			return err
		}
		if err != nil {
			g.Fixed = "the compiler's macros decide where it ends"
			return nil
		}
		g.Readings = append(g.Readings, read)
	}
	return nil
}

// through continues texts by tokens from..to of the source, as they are expanded,
// and by each of the ends.
func (s *survey) through(texts [][]macroToken, from, to int32, ends [][]macroToken) (out [][]macroToken) {
	i := sort.Search(len(s.out), func(i int) bool { return s.out[i].from >= from })
	k := sort.Search(len(s.out), func(i int) bool { return s.out[i].from >= to })
	for _, t := range texts {
		t = append(slices.Clone(t), s.out[i:k]...)
		for _, end := range ends {
			out = append(out, append(slices.Clone(t), end...))
		}
	}
	return out
}

// within are the directives in bytes from..to.
func (s *survey) within(from, to int) []Directive { return Within(s.directives, from, to) }

// Within are those of the directives, which are in order, that begin in bytes
// from..to.
func Within(all []Directive, from, to int) []Directive {
	i := sort.Search(len(all), func(i int) bool { return all[i].From >= from })
	k := sort.Search(len(all), func(i int) bool { return all[i].From >= to })
	return all[i:max(i, k)]
}

// loopPragma says whether a pragma belongs to the statement behind it.
func loopPragma(rest string) bool {
	f := strings.Fields(rest)
	if len(f) == 0 {
		return true
	}
	word, _, _ := strings.Cut(f[0], "(")
	return word == "unroll" || word == "nounroll" || len(f) > 1 && (f[0] == "clang" || f[0] == "GCC") && (f[1] == "loop" || f[1] == "unroll")
}

// Loop says whether the directive is a pragma that belongs to the statement behind
// it, and goes with it.
func (d Directive) Loop() bool { return d.Word == "pragma" && loopPragma(d.Rest) }

// chained fixes groups that conditions cut across.
func (s *survey) chained(groups []Group) {
	const across = "an #if begins or ends in it"
	for i := range groups {
		g := &groups[i]
		depth := 0
		for _, d := range s.within(g.From, g.To) {
			switch {
			case !d.conditional():
			case strings.HasPrefix(d.Word, "if"):
				depth++
			case depth == 0:
				g.Fixed = across
			case d.Word == "endif":
				depth--
			}
		}
		if depth != 0 {
			g.Fixed = across
		}
	}
	at := func(from int) int {
		return sort.Search(len(groups), func(i int) bool { return groups[i].To > from })
	}
	until := 0
	for _, c := range s.chains {
		if c.odd {
			for i := max(at(c.from), until); i < len(groups) && groups[i].From < c.to; i++ {
				groups[i].Fixed = "the branches of an #if do not close their brackets"
				until = i + 1
			}
		}
		if i := at(c.to); (c.odd || c.open) && i < len(groups) {
			groups[i].Fixed = "what stands before it under an #if has no end"
		}
	}
}

package trim

import (
	"slices"

	"github.com/introgen/introgen/metalshim/msl"
)

// trimmer finds what of an outline is needed.
type trimmer struct {
	o       *msl.Outline
	keep    map[string]bool
	groups  []group
	by      map[string][]place // parts by the names that they declare
	reached map[string]bool    // names that something needed mentions
	all     bool               // names are made that cannot be told: every helper is needed
	queue   []string
}

// group is what has been found of one of the outline's.
type group struct {
	needed []bool
	count  int
	stays  string // why all of it stays, though not all is needed
	read   bool   // what its readings mention is reached
}

// place is a part of a group.
type place struct{ group, part int }

func newTrimmer(o *msl.Outline, keep []string) *trimmer {
	t := &trimmer{o: o, keep: map[string]bool{}, groups: make([]group, len(o.Groups)), by: map[string][]place{}, reached: map[string]bool{}}
	for _, name := range keep {
		t.keep[name] = true
	}
	for i, g := range o.Groups {
		t.groups[i].needed = make([]bool, len(g.Parts))
		for k, p := range g.Parts {
			for _, name := range p.Names {
				t.by[name] = append(t.by[name], place{i, k})
			}
		}
	}
	return t
}

// kernels are the source's, in its order.
func (t *trimmer) kernels() []string {
	var out []string
	seen := map[string]bool{}
	for _, g := range t.o.Groups {
		for _, p := range g.Parts {
			if p.Kernel != "" && !seen[p.Kernel] {
				seen[p.Kernel] = true
				out = append(out, p.Kernel)
			}
		}
	}
	return out
}

// asked says that a part is needed whatever mentions it.
func (t *trimmer) asked(p *msl.Part) bool { return p.Kept != "" || p.Kernel != "" && t.keep[p.Kernel] }

// wanted says whether a part is needed, as far as is known.
func (t *trimmer) wanted(p *msl.Part) bool {
	return t.asked(p) || t.all && p.Kernel == "" || slices.ContainsFunc(p.Names, func(n string) bool { return t.reached[n] })
}

// settle finds what is needed.
func (t *trimmer) settle() {
	for _, w := range t.o.Words {
		t.reach(w)
	}
	for i := range t.o.Groups {
		for k := range t.o.Groups[i].Parts {
			if t.asked(&t.o.Groups[i].Parts[k]) {
				t.need(place{i, k})
			}
		}
		if why := t.o.Groups[i].Fixed; why != "" {
			t.stay(i, why)
		}
	}
	t.follow()
	for pass := 0; t.decide(pass >= mostPasses); pass++ {
		t.follow()
	}
}

// mostPasses bounds how often the groups are gone through: each time one that must
// stay whole may need another. A source with a longer chain of them stays as it is
// wherever one of its groups could be such.
const mostPasses = 64

// follow needs all that what is needed mentions.
func (t *trimmer) follow() {
	for len(t.queue) > 0 {
		name := t.queue[len(t.queue)-1]
		t.queue = t.queue[:len(t.queue)-1]
		for _, at := range t.by[name] {
			t.need(at)
		}
		for _, w := range t.o.Macros[name] {
			t.reach(w)
		}
		if t.o.Pastes[name] && !t.all {
			t.all = true
			for i, g := range t.o.Groups {
				for k, p := range g.Parts {
					if p.Kernel == "" {
						t.need(place{i, k})
					}
				}
			}
		}
	}
}

func (t *trimmer) reach(name string) {
	if !t.reached[name] {
		t.reached[name] = true
		t.queue = append(t.queue, name)
	}
}

func (t *trimmer) need(at place) {
	g := &t.groups[at.group]
	if g.needed[at.part] {
		return
	}
	g.needed[at.part] = true
	g.count++
	of := &t.o.Groups[at.group]
	for _, w := range of.Parts[at.part].Words {
		t.reach(w)
	}
	if len(of.Readings) == 0 {
		for _, w := range of.Macros {
			t.reach(w)
		}
	}
}

// stay needs all of a group.
func (t *trimmer) stay(i int, why string) {
	g := &t.groups[i]
	if g.stays != "" {
		return
	}
	g.stays = why
	for k := range g.needed {
		if !g.needed[k] {
			t.need(place{i, k})
		}
	}
	for _, w := range t.o.Groups[i].Macros {
		t.reach(w)
	}
	t.readings(i)
}

// readings reaches what other readings of a group mention.
func (t *trimmer) readings(i int) {
	if t.groups[i].read {
		return
	}
	t.groups[i].read = true
	for _, parts := range t.o.Groups[i].Readings {
		for _, p := range parts {
			for _, w := range p.Words {
				t.reach(w)
			}
		}
	}
}

// decide looks for groups of which not all is needed and that cannot be cut, and
// says whether there was one. all has those stay too that could be.
func (t *trimmer) decide(all bool) bool {
	found := false
	for i := range t.groups {
		g, of := &t.groups[i], &t.o.Groups[i]
		switch {
		case g.stays != "":
		case g.count == len(g.needed):
			found = found || !g.read && len(of.Readings) > 0
			t.readings(i)
		case all && (of.Whole != "" || len(of.Readings) > 0):
			t.stay(i, "too much depends on it")
			found = true
		case g.count > 0 && of.Whole != "":
			t.stay(i, of.Whole)
			found = true
		case !t.agree(of):
			t.stay(i, "the compiler's macros decide what it declares")
			found = true
		}
	}
	return found
}

// agree says whether what is needed of a group is the same however it is read.
func (t *trimmer) agree(of *msl.Group) bool {
	want := t.texts(of.Parts)
	return !slices.ContainsFunc(of.Readings, func(parts []msl.Part) bool { return !slices.Equal(want, t.texts(parts)) })
}

// texts are what is needed of parts.
func (t *trimmer) texts(parts []msl.Part) []string {
	var out []string
	for i := range parts {
		if t.wanted(&parts[i]) {
			out = append(out, parts[i].Text)
		}
	}
	return out
}

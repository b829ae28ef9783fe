package msl

import "slices"

// worlds knows what each macro may be at a place of the text, whichever way the
// compiler decides the conditions that the text leaves to it.
type worlds struct {
	now    map[string][]*macro // nil in a list: it is not defined. A name that is not here never was
	chains []branches
}

// mostReadings bounds how many definitions of a macro are told apart. One that has
// more is taken for any.
const mostReadings = 8

// branches are those of one #if … #endif.
type branches struct {
	before map[string][]*macro   // what the branch under way has changed, as it was
	ends   []map[string][]*macro // what the branches before it have changed, as they left it
	live   bool                  // the branch under way may be the one
}

// set is a #define, or an #undef where m is nil.
func (w *worlds) set(name string, m *macro) { w.put(name, []*macro{m}) }

func (w *worlds) put(name string, list []*macro) {
	was, known := w.now[name]
	if !known {
		was = []*macro{nil}
	}
	for i := len(w.chains) - 1; i >= 0; i-- {
		if _, noted := w.chains[i].before[name]; noted {
			break
		}
		w.chains[i].before[name] = was
	}
	w.now[name] = list
}

// open begins a chain with its first branch.
func (w *worlds) open(live bool) {
	w.chains = append(w.chains, branches{map[string][]*macro{}, nil, live})
}

// branch ends a branch and begins the next.
func (w *worlds) branch(live bool) {
	c := &w.chains[len(w.chains)-1]
	end := map[string][]*macro{}
	for name, was := range c.before {
		end[name] = w.now[name]
		w.now[name] = was
	}
	if c.live {
		c.ends = append(c.ends, end)
	}
	c.before, c.live = map[string][]*macro{}, live
}

// close ends a chain. all says that one of its branches is taken by every compiler.
func (w *worlds) close(all bool) {
	w.branch(false)
	c := w.chains[len(w.chains)-1]
	w.chains = w.chains[:len(w.chains)-1]
	ends := c.ends
	if !all {
		ends = append(ends, nil)
	}
	changed := map[string]bool{}
	for _, end := range ends {
		for name := range end {
			changed[name] = true
		}
	}
	for name := range changed {
		var list []*macro
		for _, end := range ends {
			left, ok := end[name]
			if !ok {
				left = w.now[name]
			}
			for _, m := range left {
				if !slices.ContainsFunc(list, m.same) {
					list = append(list, m)
				}
			}
		}
		w.put(name, list[:min(len(list), mostReadings+1)])
	}
}

// of are the readings of a name; nil stands for a name that is no macro.
func (w *worlds) of(name string) []*macro {
	if list, ok := w.now[name]; ok {
		return list
	}
	return []*macro{nil}
}

// settled is what the name is for every compiler, if the text says it.
func (w *worlds) settled(name string) (m *macro, ok bool) {
	list := w.now[name]
	if len(list) != 1 {
		return nil, false
	}
	return list[0], true
}

// same says whether two definitions are the same.
func (m *macro) same(o *macro) bool {
	if m == nil || o == nil {
		return m == o
	}
	return m.function == o.function && m.variadic == o.variadic && slices.Equal(m.params, o.params) &&
		slices.EqualFunc(m.body, o.body, func(a, b macroToken) bool { return a.text == b.text && a.space == b.space })
}

// level says that a macro's body closes every bracket that it opens.
func (m *macro) level() bool {
	if m == nil {
		return true
	}
	var b brackets
	for _, t := range m.body {
		b.add(t.text)
	}
	return b.level()
}

// brackets counts those that are open.
type brackets struct {
	open []byte
	odd  bool // one was closed that was not open
	last string
	any  bool
}

func (b *brackets) add(text string) {
	b.last, b.any = text, true
	switch text {
	case "(", "[", "{":
		b.open = append(b.open, text[0])
	case ")", "]", "}":
		n := len(b.open)
		if n == 0 || b.open[n-1] != map[string]byte{")": '(', "]": '[', "}": '{'}[text] {
			b.odd = true
			return
		}
		b.open = b.open[:n-1]
	}
}

func (b *brackets) level() bool { return !b.odd && len(b.open) == 0 }

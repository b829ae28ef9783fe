package msl

import "slices"

// mostWorlds bounds how many ways to read the macros of one item are tried.
const mostWorlds = 32

// flush expands what stands in front of a directive.
func (s *survey) flush() error {
	in := s.pending
	s.pending = nil
	if len(in) == 0 {
		return nil
	}
	s.met = s.met[:0]
	out, err := s.p.expand(in)
	if err != nil {
		return err
	}
	if s.cut {
		return errCut
	}
	met := slices.Clone(s.met)
	first := in[0].from
	cover := make([]*item, len(in))
	for i := 0; i < len(out); {
		it := &item{from: out[i].from, to: out[i].to}
		k := i
		for ; k < len(out) && out[k].from < it.to; k++ {
			it.to = max(it.to, out[k].to)
		}
		if source := in[it.from-first : it.to-first]; k-i > 1 || len(source) > 1 || source[0].text != out[i].text || out[i].doubt {
			it.again = s.repeats(out[i:k])
			s.items[it.from] = it
			for at := it.from; at < it.to; at++ {
				cover[at-first] = it
			}
		}
		i = k
	}
	for _, m := range met {
		it := cover[m.from-first]
		if it == nil { // it expands to nothing as Read takes it
			it = &item{from: m.from, to: m.to}
			s.items[m.from], cover[m.from-first] = it, it
		}
		if it.others != nil || it.unknown {
			it.names = append(it.names, m.name)
			continue
		}
		it.names = append(it.names, m.name)
		if err := s.read(it, m.name, in[it.from-first:it.to-first]); err != nil {
			return err
		}
	}
	for _, t := range out {
		if it := cover[t.from-first]; t.doubt && it.others == nil {
			it.unknown = true
		}
	}
	s.out = append(s.out, out...)
	return nil
}

// repeats says whether tokens would not stay as they are if they stood in the source.
func (s *survey) repeats(tokens []macroToken) bool {
	return slices.ContainsFunc(tokens, func(t macroToken) bool {
		m, is := s.p.macros[t.text]
		return is && !m.given || t.text == "#" || t.text == "##"
	})
}

// read expands an item in all ways, one of whose macros has several readings.
func (s *survey) read(it *item, name string, source []macroToken) (err error) {
	var b brackets
	for _, t := range source {
		b.add(t.text)
	}
	it.uneven = !b.level()
	names := []string{name}
	for found := true; found && err == nil && !it.unknown; {
		found, err = s.readings(it, &names, source)
	}
	return err
}

// readings expands an item with each reading of the names. found says that it met
// other names, which now are among them.
func (s *survey) readings(it *item, names *[]string, source []macroToken) (found bool, err error) {
	it.others = nil
	all, ok := s.product(*names)
	if !ok {
		it.unknown = true
		return false, nil
	}
	s.fixed = map[string]bool{}
	before, list := map[string]macro{}, *names
	trails := s.trails
	for _, name := range list {
		s.fixed[name] = true
		if m, is := s.p.macros[name]; is {
			before[name] = m
		}
	}
	defer func() {
		// Where a reading ends in a macro that takes arguments, they stand behind it.
		it.unknown = it.unknown || s.cut
		s.fixed, s.cut, s.trails = nil, false, trails
		for _, name := range list {
			delete(s.p.macros, name)
		}
		for name, m := range before {
			s.p.macros[name] = m
		}
	}()
	for _, one := range all {
		for k, m := range one {
			delete(s.p.macros, list[k])
			if m != nil {
				s.p.macros[list[k]] = *m
			}
			it.uneven = it.uneven || !m.level()
		}
		s.met = s.met[:0]
		out, err := s.p.expand(source)
		if err != nil {
			return false, err
		}
		for _, m := range s.met {
			if !slices.Contains(*names, m.name) {
				*names, found = append(slices.Clone(*names), m.name), true
			}
		}
		if found {
			return true, nil
		}
		it.again = it.again || s.repeats(out)
		it.others = append(it.others, out)
	}
	return false, nil
}

// product is all ways to read the names. It is not ok where they are too many, or
// where two readings would take different tokens of the source.
func (s *survey) product(names []string) (out [][]*macro, ok bool) {
	out = [][]*macro{nil}
	for _, name := range names {
		list := s.worlds.of(name)
		now, is := s.p.macros[name]
		called := is && now.function
		if len(list) > mostReadings {
			return nil, false
		}
		var more [][]*macro
		for _, world := range out {
			for _, m := range list {
				if m != nil && m.function != called {
					return nil, false
				}
				more = append(more, append(slices.Clone(world), m))
			}
		}
		if out = more; len(out) > mostWorlds {
			return nil, false
		}
	}
	return out, true
}

package forward

// Calls is one dispatch of each kernel that the plan of c could ever launch, in
// the order in which they are first needed: for short and long prompts and the
// longest, one token and many keys, on devices of either class (see chooseTile).
// Buffers,
// sizes and values are those of some pass; the table of arguments, the function
// constants' numbers and the kind of the grid are the same in all.
func Calls(c Config) ([]Dispatch, error) {
	var calls []Dispatch
	seen := map[string]bool{}
	take := func(s *Step) {
		if s.Op == Run && !seen[s.Dispatch.Function] {
			seen[s.Dispatch.Function] = true
			copied := s.Clone()
			calls = append(calls, *copied.Dispatch)
		}
	}
	for _, architecture := range []string{"", "applegpu_g13g"} {
		c.Architecture = architecture
		p, err := New(c)
		if err != nil {
			return nil, err
		}
		p.dry = true
		for s := range p.Build() {
			take(s)
		}
		pass := func(tokens, pos int) error {
			steps, err := p.Step(make([]uint32, tokens), pos)
			if err != nil {
				return err
			}
			for s := range steps {
				take(s)
			}
			return nil
		}
		most, _ := p.config.positions()
		for _, tokens := range []int{min(13, most-1), min(40, most-1), most} {
			if tokens < 1 {
				continue
			}
			if err := pass(tokens, 0); err != nil {
				return nil, err
			}
			if tokens == most {
				continue
			}
			if err := pass(1, tokens); err != nil {
				return nil, err
			}
		}
		for keys := range p.changes(2, most) {
			p.pretend(keys - 1)
			if err := pass(1, keys-1); err != nil {
				return nil, err
			}
		}
	}
	return calls, nil
}

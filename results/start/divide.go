package start

import "time"

// OneEach is the same start with a library of its own for each kernel that is used:
// took says how long such a library of another one takes. The first is made where the
// whole one was, the others right before the pipeline that needs them.
func (s *Start) OneEach(took func(library Compile) time.Duration) *Start {
	return s.rewritten(func(r *rewriter, old int) {
		c := s.Compiles[old]
		switch {
		case c.IsLibrary():
			c.Time = took(c)
			r.add(old, c)
		case c.Of >= 0 && r.used[c.Of] != "" && r.used[c.Of] != c.Function && r.own[key{c.Of, c.Function}] == 0:
			l := s.Compiles[c.Of]
			l.Time, l.Phase, l.Function = took(l), c.Phase, ""
			r.own[key{c.Of, c.Function}] = r.put(l) + 1
			fallthrough
		default:
			if c.Of >= 0 && r.used[c.Of] == "" {
				r.used[c.Of] = c.Function
			}
			of := r.at[max(0, c.Of)]
			if c.Of < 0 {
				of = -1
			} else if own := r.own[key{c.Of, c.Function}]; own > 0 {
				of = own - 1
			}
			c.Of = of
			r.add(old, c)
		}
	})
}

// OneOfAll is the same start with all libraries as one, which is made where the first
// was: a library takes what is common to all of them once, and took of each beside it.
func (s *Start) OneOfAll(common time.Duration, took func(library Compile) time.Duration) *Start {
	sum, first := common, -1
	for i, c := range s.Compiles {
		if c.IsLibrary() {
			sum += took(c)
			if first < 0 {
				first = i
			}
		}
	}
	return s.rewritten(func(r *rewriter, old int) {
		c := s.Compiles[old]
		if c.IsLibrary() {
			if c.Time = 0; old == first {
				c.Time = sum
			}
		} else if c.Of >= 0 {
			c.Of = r.at[first]
		}
		r.add(old, c)
	})
}

// key is a kernel of a library.
type key struct {
	of       int
	function string
}

// rewriter makes the compiles of a start anew, in order.
type rewriter struct {
	out    *Start
	at     map[int]int    // of each that was there, which it is now
	used   map[int]string // of each library the first of its kernels
	own    map[key]int    // of each other one its own library, from 1
	before map[int][]int  // new ones by the one whose piece they precede
	putted []int
}

// add adds one that was there.
func (r *rewriter) add(old int, c Compile) {
	r.at[old] = len(r.out.Compiles)
	r.out.Compiles = append(r.out.Compiles, c)
	r.before[old], r.putted = r.putted, nil
}

// put adds one that is made before the next that is added.
func (r *rewriter) put(c Compile) int {
	r.putted = append(r.putted, len(r.out.Compiles))
	r.out.Compiles = append(r.out.Compiles, c)
	return len(r.out.Compiles) - 1
}

// rewritten is the start with compiles made anew; its pieces follow.
func (s *Start) rewritten(each func(*rewriter, int)) *Start {
	out := *s
	out.Compiles, out.Pieces, out.Goals = nil, nil, nil
	r := rewriter{out: &out, at: map[int]int{}, used: map[int]string{}, own: map[key]int{}, before: map[int][]int{}}
	for i := range s.Compiles {
		each(&r, i)
	}
	moved := make([]int, len(s.Pieces)+1)
	for i, p := range s.Pieces {
		moved[i] = len(out.Pieces)
		if p.Compile >= 0 {
			first := s.Compiles[p.Compile].need == i
			if first {
				for _, c := range r.before[p.Compile] {
					out.Compiles[c].need = len(out.Pieces)
					out.Pieces = append(out.Pieces, Piece{Phase: p.Phase, Kind: p.Kind, Compile: c, from: p.from})
				}
			}
			if p.Compile = r.at[p.Compile]; first {
				out.Compiles[p.Compile].need = len(out.Pieces)
			}
		}
		out.Pieces = append(out.Pieces, p)
	}
	moved[len(s.Pieces)] = len(out.Pieces)
	for _, g := range s.Goals {
		g.from, g.after = moved[g.from], moved[g.after]
		out.Goals = append(out.Goals, g)
	}
	out.device = moved[s.device]
	return &out
}

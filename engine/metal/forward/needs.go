package forward

import (
	"fmt"
	"iter"
	"slices"

	"github.com/introgen/introgen/metalshim"
)

// Pipeline is a kernel as it is compiled: a function of a library with the
// values of its constants.
type Pipeline struct {
	Library, Function string
	Constants         []metalshim.Constant
}

// Key tells pipelines apart as the device does: "function 10:bool=1 …".
func (p Pipeline) Key() string {
	key := p.Function
	for _, c := range p.Constants {
		key += " " + c.String()
	}
	return key
}

// Needs knows which pipelines the passes of a model need, without a device. It
// is used by one goroutine at a time.
type Needs struct {
	planner  *Planner
	building []Pipeline
	told     map[kindOfPass]bool // by Next
}

// kindOfPass is what the pipelines of a pass depend on. Those of one token over
// earlier keys depend on these only by what the model says (model.decoding).
type kindOfPass struct {
	tokens, pos int
	decoding    any
}

// NewNeeds is of a model that candle's plan can run.
func NewNeeds(c Config) (*Needs, error) {
	p, err := New(c)
	if err != nil {
		return nil, err
	}
	p.dry = true
	return &Needs{p, needed(p.Build()), map[kindOfPass]bool{}}, nil
}

// needed are the pipelines that steps launch, in the order in which they first do.
func needed(steps iter.Seq[*Step]) []Pipeline {
	var out []Pipeline
	seen := map[string]bool{}
	for s := range steps {
		if s.Op != Run {
			continue
		}
		p := Pipeline{s.Dispatch.Library, s.Dispatch.Function, s.Dispatch.Constants}
		if key := p.Key(); !seen[key] {
			seen[key] = true
			p.Constants = append([]metalshim.Constant(nil), p.Constants...)
			out = append(out, p)
		}
	}
	return out
}

// Build are the pipelines that building the model needs.
func (n *Needs) Build() []Pipeline { return n.building }

// Prefill are those of a pass of so many tokens from position 0 on.
func (n *Needs) Prefill(tokens int) ([]Pipeline, error) {
	if most, whose := n.planner.config.positions(); tokens < 1 || tokens > most {
		return nil, fmt.Errorf("metal: a prompt of %d tokens; 1 to %d are possible: %s", tokens, most, whose)
	}
	return n.pass(tokens, 0)
}

// Decode are those of a pass of one token over so many keys, its own counted.
func (n *Needs) Decode(keys int) ([]Pipeline, error) {
	if most, whose := n.planner.config.positions(); keys < 2 || keys > most {
		return nil, fmt.Errorf("metal: a decode step over %d keys; 2 to %d are possible: %s", keys, most, whose)
	}
	return n.pass(1, keys-1)
}

// Run are those of a whole run, in the order in which they are first needed: of
// building, of a prompt of so many tokens, and of so many decode steps.
func (n *Needs) Run(prompt, steps int) ([]Pipeline, error) {
	passes := n.building
	more, err := n.Prefill(prompt)
	if err != nil {
		return nil, err
	}
	passes = slices.Concat(passes, more)
	for keys := range n.planner.changes(prompt+1, prompt+steps) {
		if more, err = n.Decode(keys); err != nil {
			return nil, err
		}
		passes = slices.Concat(passes, more)
	}
	var out []Pipeline
	seen := map[string]bool{}
	for _, p := range passes {
		if key := p.Key(); !seen[key] {
			seen[key] = true
			out = append(out, p)
		}
	}
	return out, nil
}

// Next are those of the next pass, of so many tokens from a position on; none where
// a pass has been told of that needs the same. It costs nothing then.
func (n *Needs) Next(tokens, pos int) ([]Pipeline, error) {
	kind := kindOfPass{tokens: tokens, pos: pos}
	if tokens == 1 && pos > 0 {
		kind = kindOfPass{tokens: 1, pos: 1, decoding: n.planner.model.decoding(&n.planner.config, pos+1)}
	}
	if n.told[kind] {
		return nil, nil
	}
	list, err := n.pass(tokens, pos)
	n.told[kind] = err == nil
	return list, err
}

func (n *Needs) pass(tokens, pos int) ([]Pipeline, error) {
	n.planner.pretend(pos)
	steps, err := n.planner.Step(make([]uint32, tokens), pos)
	if err != nil {
		return nil, err
	}
	return needed(steps), nil
}

// pretend is as if so many tokens had been passed before: nothing looks into their
// cache.
func (p *Planner) pretend(pos int) {
	for i := range p.layers {
		l := &p.layers[i]
		if l.cached == 0 && pos > 0 {
			l.keys, l.values = p.newBuf(), p.newBuf()
		}
		if pos > 0 {
			l.cached = pos
		}
	}
}

// changes are the numbers of keys from one to another, both counted, at which a pass of
// one token comes to need other pipelines than before, the first among them.
func (p *Planner) changes(from, to int) iter.Seq[int] {
	return func(yield func(int) bool) {
		var before any
		for keys := from; keys <= to; keys++ {
			now := p.model.decoding(&p.config, keys)
			if now != before && !yield(keys) {
				return
			}
			before = now
		}
	}
}

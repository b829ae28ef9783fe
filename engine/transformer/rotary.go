package transformer

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Rotary says how the heads of a layer are turned at a position: pair i by position
// times Frequencies[i] radians, and what comes out is multiplied by Scale (YaRN's and
// LongRoPE's; 1 for others).
type Rotary struct {
	Frequencies []float64 // RopeDim/2
	Scale       float64
}

// Types of scaling, as rope.scaling.type names them.
const (
	unscaled        = "none"
	linearScaling   = "linear"
	yarnScaling     = "yarn"     // arXiv:2309.00071
	longropeScaling = "longrope" // arXiv:2402.13753
)

// rope is what a file says of rotations, beside RopeBase, RopeDim and RopeScale.
type rope struct {
	scaling            string
	original           int     // positions that the model knew before it was scaled
	attnFactor         float64 // what is turned is multiplied by it
	betaFast, betaSlow float64 // YaRN's: turns within original from which, and up to which, a pair counts as fast or slow
	localBase          float32 // base of the layers with a window; 0 where it is RopeBase

	unturned int // of so many layers the last does not turn its heads; 0 where all do

	long, short []float32 // RopeDim/2 divisors of the frequencies in runs beyond original, and in others
}

func (r *rope) yarn() bool { return r.scaling == yarnScaling }

// readRope reads how positions are scaled into p. As llama.cpp has it, scaling is
// linear where no type is given; rope.scale_linear is the factor's old name, which
// counts where the new one is missing; and a factor of 0 or none is 1.
func (g *getters) readRope(arch *Architecture, p *hyper) {
	kind, given, err := g.f.String(g.key("rope.scaling.type"))
	if err != nil {
		g.fail(err)
	}
	if !given {
		kind = linearScaling
	}
	if !slices.Contains(arch.scalings, kind) {
		g.fail(fmt.Errorf("metadata %s is %q; supported are %s", g.key("rope.scaling.type"), kind, quoted(arch.scalings)))
	}
	if kind == yarnScaling && !(p.RopeBase > 1) { // the pairs that it changes are told apart by its logarithm
		g.fail(fmt.Errorf("metadata %s is %v; with YaRN it must be more than 1", g.key("rope.freq_base"), p.RopeBase))
	}
	p.RopeScale = 1
	for _, key := range []string{g.key("rope.scaling.factor"), g.key("rope.scale_linear")} {
		x, ok, err := g.f.Float32(key)
		switch {
		case err != nil:
			g.fail(err)
		case !ok:
			continue
		case !(x >= 0) || math.IsInf(float64(x), 0):
			g.fail(fmt.Errorf("metadata %s is %v; it must be a positive number, or 0 for none", key, x))
		case x > 0 && kind != unscaled:
			p.RopeScale = x
		}
		break
	}
	p.rope = rope{
		scaling:    kind,
		original:   g.count("rope.scaling.original_context_length", p.Context),
		attnFactor: float64(g.real("rope.scaling.attn_factor", 1)),
		betaFast:   float64(g.real("rope.scaling.yarn_beta_fast", 32)),
		betaSlow:   float64(g.real("rope.scaling.yarn_beta_slow", 1)),
	}
}

// quoted lists names as a sentence does.
func quoted(names []string) string {
	q := make([]string, len(names))
	for i, n := range names {
		q[i] = strconv.Quote(n)
	}
	last := len(q) - 1
	if last == 0 {
		return q[0]
	}
	return strings.Join(q[:last], ", ") + " and " + q[last]
}

// Rotary returns how layer's heads are turned in a run that reaches so many
// positions. The frequency of pair i is base^(-2i/RopeDim), divided by its factor
// where the model has factors (rope_freqs.weight, or of LongRoPE), and by the scale.
// It is what src/llama-context.cpp of llama.cpp sets up and ggml's rope_yarn computes.
func (m *Model) Rotary(layer, positions int) Rotary {
	if n := m.rope.unturned; n > 0 && layer%n == n-1 {
		return Rotary{make([]float64, m.RopeDim/2), 1}
	}
	base, scale := float64(m.RopeBase), float64(m.RopeScale)
	if m.rope.localBase != 0 && m.Blocks[layer].Window > 0 {
		base, scale = float64(m.rope.localBase), 1
	}
	factors := m.RopeFactors
	if m.rope.long != nil {
		factors = m.rope.short
		if positions > m.rope.original {
			factors = m.rope.long
		}
	}
	r := Rotary{Frequencies: make([]float64, m.RopeDim/2), Scale: m.rope.attnFactor}
	for i := range r.Frequencies {
		r.Frequencies[i] = math.Pow(base, -2*float64(i)/float64(m.RopeDim))
		if factors != nil {
			r.Frequencies[i] /= float64(factors[i])
		}
	}
	if m.rope.yarn() {
		r.Scale *= yarnScale(scale, 1)
		m.rope.mix(r.Frequencies, base, scale)
		return r
	}
	for i := range r.Frequencies {
		r.Frequencies[i] /= scale
	}
	return r
}

// yarnScale is what YaRN multiplies queries and keys by (mscale) where positions are
// divided by scale; share is how much of it counts.
func yarnScale(scale, share float64) float64 {
	if scale <= 1 {
		return 1
	}
	return 0.1*share*math.Log(scale) + 1
}

// mix divides the frequencies by scale as YaRN does: those of pairs that turn more
// than betaFast times within the original context stay, those that turn less than
// betaSlow times are divided, and in between it goes over by the pair's number.
func (r *rope) mix(frequencies []float64, base, scale float64) {
	dims := float64(2 * len(frequencies))
	pair := func(turns float64) float64 {
		return dims * math.Log(float64(r.original)/(turns*2*math.Pi)) / (2 * math.Log(base))
	}
	from := max(0, math.Floor(pair(r.betaFast)))
	to := min(dims-1, math.Ceil(pair(r.betaSlow)))
	for i, f := range frequencies {
		slow := min(1, max(0, (float64(i)-from)/max(0.001, to-from)))
		frequencies[i] = f/scale*slow + f*(1-slow)
	}
}

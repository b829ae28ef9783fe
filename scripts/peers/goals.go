package main

import (
	"fmt"
	"strings"

	"github.com/introgen/introgen/scripts/peers/peer"
)

// goal is one of the speeds that the project sets itself. value is in the
// goal's own direction; bound is what its median must reach, or stay below.
type goal struct {
	what  string
	value peer.Spread
	bound float64
	most  bool // bound is the most allowed, not the least
	unit  string
}

// goals are the project's own, as far as what they need was measured.
func (m *Measurement) goals() []goal {
	q8, q8one := Setting{"Q8_0", 2}, Setting{"Q8_0", 1}
	q4, q4one := Setting{"Q4_1", 2}, Setting{"Q4_1", 1}
	faster := func(set Setting, variant, family, what string, f Figure, bound float64) goal {
		return goal{fmt.Sprintf("%s, %s: %s, against %s", set, variant, what, family),
			m.speedup(set, variant, family, f), bound, false, "×"}
	}
	list := []goal{
		faster(q8, variantDefault, "llama.cpp", "decode", Decode, 1.05),
		faster(q8, variantDefault, "llama.cpp", "prefill", Prefill, 1),
		faster(q8, variantDefault, "llama.cpp", "open → first token", FirstToken, 5),
		{fmt.Sprintf("%s, %s: read gguf", q8, variantDefault), m.spread(q8, variantDefault, Read), 1.5, true, " ms"},
		faster(q8, variantPack, "llama.cpp", "decode", Decode, 1.2),
		faster(q8, variantPack, "llama.cpp", "prefill", Prefill, 1.3),
		{fmt.Sprintf("%s, %s: decode, share of the memory's best speed", q8, variantPack), m.share(q8, variantPack), 0.85, false, "%"},
		faster(q8, variantDefault, "candle native", "decode", Decode, 2.2),
		faster(q8, variantDefault, "candle native", "prefill", Prefill, 5),
		faster(q8, variantDefault, "candle native", "open → first token", FirstToken, 10),
	}
	for _, set := range []Setting{q8one, q4, q4one} {
		list = append(list,
			faster(set, variantDefault, "llama.cpp", "decode", Decode, 0.9),
			faster(set, variantDefault, "llama.cpp", "prefill", Prefill, 0.9))
	}
	var bySize []float64
	for _, mib := range valuesOf(m.Samples, q8, variantDefault, Peak) {
		bySize = append(bySize, mib*(1<<20)/float64(m.Files[q8.Model]))
	}
	return append(list, goal{
		fmt.Sprintf("%s, %s: peak resident memory by the file's size", q8, variantDefault), peer.SpreadOf(bySize), 1.3, true, "×",
	}, goal{
		fmt.Sprintf("Q8_0, %s beside a busy neighbour: time of 2 threads by that of 1", variantDefault),
		m.slowdown(variantDefault, q8, q8one), 1.5, true, "×"})
}

// slowdown is how many times as long a round takes with more threads than with
// one, both beside a busy neighbour, block by block.
func (m *Measurement) slowdown(engine string, more, one Setting) peer.Spread {
	return peer.SpreadOf(peer.Ratios(valuesOf(m.Loaded, more, engine, Total), valuesOf(m.Loaded, one, engine, Total)))
}

func (m *Measurement) writeGoals(b *strings.Builder) {
	var rows [][]string
	for _, g := range m.goals() {
		if g.value.N == 0 {
			rows = append(rows, []string{g.what, g.want(), peer.None, "not measured"})
			continue
		}
		value := g.value.Cell(2, g.unit)
		if g.unit == "%" {
			value = g.value.Percent()
		}
		verdict := "reached"
		switch {
		case g.most && g.value.Mid > g.bound, !g.most && g.value.Mid < g.bound:
			verdict = "**missed**"
		case g.most && g.value.Max > g.bound, !g.most && g.value.Min < g.bound:
			verdict = "reached, not in every block"
		}
		rows = append(rows, []string{g.what, g.want(), value, verdict})
	}
	peer.Table(b, []string{"goal", "bound", "measured", "verdict"}, rows)
}

func (g goal) want() string {
	sign := "≥"
	if g.most {
		sign = "≤"
	}
	if g.unit == "%" {
		return fmt.Sprintf("%s %.0f %%", sign, 100*g.bound)
	}
	return fmt.Sprintf("%s %g%s", sign, g.bound, g.unit)
}

package main

import (
	"fmt"
	"math"
	"strings"

	"github.com/introgen/introgen/scripts/peers/peer"
)

// worst is the cell whose median is the farthest from what a goal wants.
type worst struct {
	value peer.Spread
	where string
}

// least keeps the smaller one, most the larger one; cells that were not measured are
// left out.
func (w *worst) least(s peer.Spread, where string) {
	if s.N > 0 && (w.value.N == 0 || s.Mid < w.value.Mid) {
		*w = worst{s, where}
	}
}

func (w *worst) most(s peer.Spread, where string) {
	if s.N > 0 && (w.value.N == 0 || s.Mid > w.value.Mid) {
		*w = worst{s, where}
	}
}

// goalPrompt is the length of the prompt that a goal is about, and goalModel the shape.
const (
	goalPrompt = 512
	goalModel  = "Llama-3.2-1B"
)

// writeGoals says of each of the project's goals of growth where it is missed most.
func (m *Measurement) writeGoals(b *strings.Builder) error {
	var decode, prefill, peak, beside, first worst
	for _, model := range m.Models {
		for _, n := range m.Contexts {
			where := fmt.Sprintf("%s, %d", model, n)
			decode.least(m.faster(model, n, Sample.decode), where)
			if n == goalPrompt {
				prefill.least(m.faster(model, n, Sample.prefill), where)
			}
			peak.most(m.byFile(model, n, nameCPU), where)
			beside.most(m.besideCache(model, n), where)
		}
		if model.Shape == goalModel {
			first.least(m.faster(model, shortPrompt, firstToken), model.String())
		}
	}
	var rows [][]string
	row := func(what, bound, value, where string, measured, reached bool) {
		verdict := "reached"
		switch {
		case !measured:
			value, where, verdict = peer.None, peer.None, "not measured"
		case !reached:
			verdict = "**missed**"
		}
		rows = append(rows, []string{what, bound, value, where, verdict})
	}
	ratio := func(what, bound string, w worst, reached bool) {
		row(what, bound, w.value.Times(), w.where, w.value.N > 0, reached)
	}
	ratio("decode against llama.cpp, at every size and context", "≥ 1.1×", decode, decode.value.Mid >= 1.1)
	ratio(fmt.Sprintf("prefill of %d tokens against llama.cpp, at every size", goalPrompt), "≥ 1×", prefill, prefill.value.Mid >= 1)
	for _, typ := range m.types() {
		if typ == "" {
			continue
		}
		p, _, _, err := m.plane(typ, nameCPU)
		if err != nil {
			return err
		}
		where := ""
		for i, r := range p.Residuals {
			if math.Abs(r) == p.Worst {
				where = m.pointOf(typ, i)
			}
		}
		row("ms a token of "+typ+": farthest from linear in bytes", "≤ 10 %", fmt.Sprintf("%.1f %%", 100*p.Worst), where, p.N >= leastPoints, p.Worst <= 0.1)
	}
	ratio("peak memory by the file's size", "≤ 1.2×", peak, peak.value.Mid <= 1.2)
	ratio("the same without the keys and values of the positions, which are no part of the file", "≤ 1.2×", beside, beside.value.Mid <= 1.2)
	ratio("open → first token of "+goalModel+", against llama.cpp", "≥ 5×", first, first.value.Mid >= 5)
	b.WriteString("Each where it is missed most, or reached least: the median of its blocks and, in parentheses, the smallest and the largest one.\n\n")
	peer.Table(b, []string{"goal", "bound", "measured", "at", "verdict"}, rows)
	return nil
}

// pointOf is the cell of point i of the fit of a type.
func (m *Measurement) pointOf(typ string, i int) string {
	for _, model := range m.Models {
		for _, n := range m.Contexts {
			if model.Type != typ || peer.SpreadOf(m.values(model, n, nameCPU, Sample.decode)).N == 0 {
				continue
			}
			if i == 0 {
				return fmt.Sprintf("%s, %d", model, n)
			}
			i--
		}
	}
	return ""
}

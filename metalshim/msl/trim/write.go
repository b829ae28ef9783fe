package trim

import (
	"strings"

	"github.com/introgen/introgen/metalshim/msl"
)

// result writes what is needed. Every line stays where it was: what is taken out
// leaves its line breaks, and directives that stood in it.
func (t *trimmer) result(text string) *Result {
	r := &Result{}
	var b strings.Builder
	b.Grow(len(text))
	at, line := 0, 1
	seen := map[string]bool{}
	for i := range t.groups {
		g, of := &t.groups[i], &t.o.Groups[i]
		b.WriteString(text[at:of.From])
		line += strings.Count(text[at:of.From], "\n")
		at = of.From
		stay := Stay{Line: line, Why: g.stays}
		for k, p := range of.Parts {
			switch {
			case p.Kernel == "" || seen[p.Kernel]:
			case !g.needed[k]:
				r.Gone++
			default:
				r.Kernels = append(r.Kernels, p.Kernel)
				if !t.keep[p.Kernel] {
					stay.Kernels = append(stay.Kernels, p.Kernel)
					if stay.Why == "" && p.Kept != "" {
						stay.Why = p.Kept
					} else if stay.Why == "" {
						stay.Why = "what is left mentions it"
					}
				}
			}
			seen[p.Kernel] = true
		}
		if stay.Why != "" {
			r.Stays = append(r.Stays, stay)
		}
		if g.count == len(g.needed) {
			continue
		}
		for k := range of.Parts {
			if g.needed[k] {
				b.WriteString(of.Parts[k].Text)
				b.WriteByte(' ')
			}
		}
		b.WriteString(" ")
		t.gap(&b, text, of)
		at = of.To
		line += strings.Count(text[of.From:of.To], "\n")
	}
	b.WriteString(text[at:])
	r.Text = b.String()
	return r
}

// gap writes what a group leaves that is taken out: its line breaks and directives.
func (t *trimmer) gap(b *strings.Builder, text string, of *msl.Group) {
	at := of.From
	for _, d := range msl.Within(t.o.Directives, of.From, of.To) {
		b.WriteString(strings.Repeat("\n", strings.Count(text[at:d.From], "\n")))
		at = d.To
		if d.Loop() {
			b.WriteString(strings.Repeat("\n", strings.Count(text[d.From:d.To], "\n")))
		} else {
			b.WriteString(text[d.From:d.To])
		}
	}
	b.WriteString(strings.Repeat("\n", strings.Count(text[at:of.To], "\n")))
}

package plot

import (
	"fmt"
	"strings"
)

// ground are the colours that belong to no kind.
var ground = []struct {
	name string
	colour
}{
	{"bg", colour{"#ffffff", "#14181f"}},
	{"text", colour{"#1d232b", "#e8ebf0"}},
	{"muted", colour{"#545c68", "#aab2bf"}},
	{"axis", colour{"#7d8591", "#7c8696"}},
	{"grid", colour{"#e1e5ea", "#2b323d"}},
}

// rules are of classes that a figure uses. Only variables have colours.
const rules = `.plot{font:12px system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",sans-serif;font-variant-numeric:tabular-nums;color:var(--plot-text);max-width:100%;height:auto}
.plot text{fill:var(--plot-text);unicode-bidi:isolate}
.plot .plot-head{font-size:15px;font-weight:600}
.plot .plot-strong{font-weight:600}
.plot .plot-muted,.plot .plot-tick,.plot .plot-note{fill:var(--plot-muted)}
.plot .plot-tick{font-size:11px}
.plot .plot-halo{stroke:var(--plot-bg);stroke-width:4px;stroke-linejoin:round;paint-order:stroke}
.plot-back{fill:var(--plot-bg)}
.plot-grid{stroke:var(--plot-grid);fill:none}
.plot-axis{stroke:var(--plot-axis);fill:none}
.plot-lead{stroke:var(--plot-axis);fill:none;stroke-width:.75}
.plot-roof{stroke:var(--plot-text);fill:none;stroke-width:1.75}
.plot-fit{stroke:var(--plot-text);fill:none;stroke-width:1.5;stroke-dasharray:5 4}
.plot-rule{stroke:var(--plot-text);fill:none;stroke-dasharray:2 3}
.plot-bar:not([fill]),.plot-fill,.plot-sign{fill:var(--k)}
.plot-open,.plot-bar.plot-open{fill:var(--plot-bg);stroke:var(--k);stroke-width:1.75}
.plot-gap{fill:var(--plot-bg)}
.plot-whisker{stroke:var(--k);fill:none;stroke-width:2}
.plot-dots{stroke:var(--k);fill:none;stroke-linecap:round}
.plot-square{stroke-linecap:square}
.plot-hit{fill:transparent;stroke:none}
.plot-mark:focus{outline:none}
.plot-mark:focus-visible{outline:2px solid var(--plot-text);outline-offset:2px}
@media (hover:hover){.plot-mark:hover .plot-bar,.plot-mark:hover .plot-sign{stroke:var(--plot-text);stroke-width:1.5}}
@media (forced-colors:active){.plot{forced-color-adjust:none}}
`

// Style is the style sheet of all figures, for light and dark: as the reader's
// system has it, unless the root element says data-theme="light" or "dark"; on
// paper light.
func Style() string {
	light := variables(func(c colour) string { return c.light })
	dark := variables(func(c colour) string { return c.dark })
	var b strings.Builder
	fmt.Fprintf(&b, ":root{%s}\n", light)
	fmt.Fprintf(&b, "@media (prefers-color-scheme:dark){:root:not([data-theme=light]){%s}}\n", dark)
	fmt.Fprintf(&b, ":root[data-theme=dark]{%s}\n", dark)
	fmt.Fprintf(&b, "@media print{:root:root{%s}}\n", light)
	b.WriteString(rules)
	for _, k := range kinds {
		fmt.Fprintf(&b, ".%s{--k:var(--plot-%s)}\n", k.kind.Class(), k.kind.word())
	}
	return b.String()
}

func variables(of func(colour) string) string {
	var b strings.Builder
	for _, g := range ground {
		fmt.Fprintf(&b, "--plot-%s:%s;", g.name, of(g.colour))
	}
	for _, k := range kinds {
		fmt.Fprintf(&b, "--plot-%s:%s;", k.kind.word(), of(k.colour))
	}
	return b.String()
}

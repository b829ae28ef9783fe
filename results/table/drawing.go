package table

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/introgen/introgen/results/sanitize"
)

// drawing is lines that stand as they are, in Unicode or in ASCII.
type drawing struct {
	title string
	lines func(unicode bool) []string
}

// Draw appends a drawing in text, whose lines are at most Width wide and harmless.
// In Markdown they stand in a block of code; CSV has none, since a drawing is of
// what tables have.
func (d *Document) Draw(title string, lines func(unicode bool) []string) {
	d.blocks = append(d.blocks, block{drawing: &drawing{title, lines}})
}

func (x *drawing) write(b *bytes.Buffer, s Style, ascii bool) {
	lines := x.lines(!ascii && s != ASCII)
	if s == CSV || len(lines) == 0 {
		return
	}
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	title := sanitize.Line(x.title)
	if s != Markdown {
		b.WriteString(Wrap(title, Width))
		b.WriteString(strings.Join(lines, "\n") + "\n")
		return
	}
	fence := "```"
	for _, l := range lines {
		for strings.Contains(l, fence) {
			fence += "`" // GitHub Flavored Markdown, 4.5: shorter runs end no block
		}
	}
	fmt.Fprintf(b, "**%s**\n\n%s\n%s\n%s\n", escaped(title), fence, strings.Join(lines, "\n"), fence)
}
